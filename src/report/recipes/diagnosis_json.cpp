// A diagnosis as JSON, schema version 1: all keys are always there, null where they do not apply;
// times in ms. docs/guide/diagnose.md describes it.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>
#include <tracelens/json.hpp>
#include <tracelens/version.hpp>

#include "diagnosis/kit/figures.hpp"
#include "report/recipes/diagnosis_documents.hpp"
#include "report/recipes/diagnosis_words.hpp"

namespace tracelens {
namespace {

constexpr int kSchema = 1;

class Writer {
 public:
  void open(char bracket) {
    separate();
    out_ += bracket;
    is_first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    is_first_ = false;
  }
  void key(std::string_view name) {
    separate();
    append_json_text(out_, name);
    out_ += ": ";
    is_first_ = true;  // the value follows without a comma
  }
  void text(std::string_view value) {
    separate();
    append_json_text(out_, value);
  }
  void text_or_null(std::string_view value) {
    if (value.empty())
      raw("null");
    else
      text(value);
  }
  void number(double value) {
    raw(std::isfinite(value) ? fmt::format("{}", value) : std::string{"null"});
  }
  void integer(std::int64_t value) { raw(fmt::format("{}", value)); }
  void truth(bool value) { raw(value ? "true" : "false"); }
  void ms(std::string_view name, std::int64_t ns) {
    key(name);
    number(in_ms(ns));
  }
  void member(std::string_view name, std::string_view value) {
    key(name);
    text(value);
  }
  template <class Texts>
  void texts(std::string_view name, const Texts& values) {
    key(name);
    open('[');
    for (const std::string& value : values) text(value);
    close(']');
  }
  void line() { out_ += "\n  "; }
  std::string take() { return std::move(out_) + "\n"; }

 private:
  void raw(std::string_view value) {
    separate();
    out_ += value;
  }
  void separate() {
    if (!is_first_) out_ += ", ";
    is_first_ = false;
  }
  std::string out_;
  bool is_first_ = true;
};

void write_where(Writer& json, const Finding& finding) {
  json.key("where");
  json.open('[');
  for (const FindingPlace& place : finding.where) {
    json.open('{');
    json.member("kind", place.kind);
    json.member("name", place.name);
    json.key("python"), json.text_or_null(place.python);
    json.key("module"), json.text_or_null(place.module);
    json.key("shape"), json.text_or_null(place.shape);
    json.ms("time_ms", place.time_ns);
    json.key("count"), json.integer(place.count);
    json.close('}');
  }
  json.close(']');
}

void write_key(Writer& json, const decltype(Evidence::key)& key) {
  json.key("key");
  json.open('{');
  for (const auto& [column, value] : key) json.member(column, value);
  json.close('}');
}

void write_evidence(Writer& json, const Finding& finding) {
  json.key("evidence");
  json.open('[');
  for (const Evidence& row : finding.evidence) {
    json.open('{');
    json.key("table"), json.text_or_null(row.table);
    write_key(json, row.key);
    json.member("column", row.column);
    json.key("value"), json.number(row.value);
    json.member("unit", row.unit);
    json.key("derived"), json.truth(row.is_derived);
    json.close('}');
  }
  json.close(']');
}

void write_finding(Writer& json, const Diagnosis& diagnosis, const Finding& finding) {
  json.line();
  json.open('{');
  json.member("id", finding.id);
  json.member("title", finding.title);
  json.member("severity", severity_name(finding.severity));
  json.member("verdict", finding.verdict);
  json.ms("saving_ms", finding.saving_ns);
  json.key("saving_per_step_ms");
  if (const auto ns = per_step_ns(diagnosis, finding.saving_ns))
    json.number(in_ms(*ns));
  else
    json.text_or_null({});
  json.key("saving_pct"), json.number(finding.saving_percent);
  json.key("saving_alone_ms");
  json.open('{');
  json.ms("low", finding.alone.low_ns);
  json.ms("mid", finding.alone.mid_ns);
  json.ms("high", finding.alone.high_ns);
  json.close('}');
  json.ms("gpu_saving_ms", finding.gpu_saving_ns);
  json.key("impact_score");
  if (finding.impact) {
    json.open('{');
    json.key("low"), json.number(finding.impact->low);
    json.key("mid"), json.number(finding.impact->mid);
    json.key("high"), json.number(finding.impact->high);
    json.close('}');
  } else {
    json.text_or_null({});
  }
  json.member("confidence", confidence_name(finding.confidence));
  json.key("one_off"), json.truth(finding.is_one_off);
  json.key("locked_by"), json.text_or_null(finding.locked_by);
  json.member("formula", finding.formula);
  write_where(json, finding);
  write_evidence(json, finding);
  json.texts("try", finding.tries);
  json.key("verify");
  json.open('{');
  json.member("table", finding.verify.table);
  write_key(json, finding.verify.key);
  json.member("column", finding.verify.column);
  json.key("now"), json.number(finding.verify.now);
  json.member("expected", finding.verify.expected);
  json.key("derived"), json.truth(finding.verify.is_derived);
  json.member("command", kVerifyCommand);
  json.close('}');
  json.close('}');
}

}  // namespace

std::string diagnosis_json(const Diagnosis& diagnosis) {
  Writer json;
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
  json.ms("start_ms", diagnosis.start_ns);
  json.ms("length_ms", diagnosis.length_ns);
  json.ms("length_corrected_ms", diagnosis.corrected_ns);
  json.texts("steps", diagnosis.steps);
  json.texts("dropped_steps", diagnosis.dropped_steps);
  json.close('}');
  json.key("summary");
  json.open('{');
  json.member("verdict", diagnosis.verdict);
  json.ms("gpu_busy_ms", diagnosis.gpu_busy_ns);
  json.ms("gpu_idle_ms", diagnosis.gpu_idle_ns);
  json.key("path");
  json.open('{');
  for (const auto& [name, ns] : diagnosis.path) json.ms(name, ns);
  json.close('}');
  json.ms("saving_all_ms", diagnosis.saving_all_ns);
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
  json.key("findings");
  json.open('[');
  for (const Finding& finding : diagnosis.findings) write_finding(json, diagnosis, finding);
  json.close(']');
  json.texts("tables", diagnosis.tables);
  json.close('}');
  return json.take();
}

}  // namespace tracelens
