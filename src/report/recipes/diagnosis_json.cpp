// A diagnosis as JSON, schema version 1: all keys are always there, null where they do not apply;
// times in ms. docs/guide/diagnose.md describes it.
#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>
#include <tracelens/version.hpp>

#include "diagnosis/kit/figures.hpp"
#include "report/page/findings_json.hpp"
#include "report/recipes/diagnosis_documents.hpp"
#include "table/json_writer.hpp"

namespace tracelens {
namespace {

constexpr int kSchema = 1;

}  // namespace

std::string diagnosis_json(const Diagnosis& diagnosis) {
  JsonWriter json;
  json.open('{');
  json.key("tracelens");
  json.open('{');
  json.member("version", kVersion);
  json.key("schema"), json.integer(kSchema);
  json.close('}');
  json.key("trace");
  json.open('{');
  json.texts("files", diagnosis.files);
  json.member("format", diagnosis.format);
  json.key("gpu"), json.text_or_null(diagnosis.gpu);
  json.key("devices"), json.integer(diagnosis.devices);
  json.key("ranks"), json.integer(diagnosis.ranks);
  json.close('}');
  json.key("window");
  json.open('{');
  json.key("start_ms"), json.number(in_ms(diagnosis.start_ns));
  json.key("length_ms"), json.number(in_ms(diagnosis.length_ns));
  json.key("length_corrected_ms"), json.number(in_ms(diagnosis.corrected_ns));
  json.texts("steps", diagnosis.steps);
  json.texts("dropped_steps", diagnosis.dropped_steps);
  json.close('}');
  json.key("summary");
  json.open('{');
  json.member("verdict", diagnosis.verdict);
  json.key("gpu_busy_ms"), json.number(in_ms(diagnosis.gpu_busy_ns));
  json.key("gpu_idle_ms"), json.number(in_ms(diagnosis.gpu_idle_ns));
  json.key("path");
  json.open('{');
  for (const auto& [name, ns] : diagnosis.path) json.key(name), json.number(in_ms(ns));
  json.close('}');
  json.key("saving_all_ms"), json.number(in_ms(diagnosis.saving_all_ns));
  json.close('}');
  json.key("quality");
  json.open('[');
  for (const QualityNote& note : diagnosis.quality) {
    json.open('{');
    json.member("id", note.id);
    json.member("text", note.text);
    json.close('}');
  }
  json.close(']');
  json.key("findings"), write_findings(json, diagnosis.findings, diagnosis.steps.size());
  json.texts("tables", diagnosis.tables);
  json.close('}');
  return json.take() + "\n";
}

}  // namespace tracelens
