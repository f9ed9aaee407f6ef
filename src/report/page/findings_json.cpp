#include "report/page/findings_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "diagnosis/kit/figures.hpp"
#include "sqlite/names.hpp"

namespace tracelens {
namespace {

// Made by `collectives` of all ranks; a single trace has none of them.
bool is_of_ranks(std::string_view table) {
  return table.starts_with("nccl_") || table == "straggler_summary";
}

// In brackets where it has to be: quotes would have to be protected from the shell.
std::string sql_name(std::string_view name) {
  const bool is_plain = std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  return is_plain ? std::string{name} : fmt::format("[{}]", name);
}

std::string query_of(const Verification& verify) {
  std::string sql = fmt::format("SELECT {} FROM {}", sql_name(verify.column), verify.table);
  std::string_view joined = " WHERE ";
  for (const auto& [column, value] : verify.key) {
    sql += fmt::format("{}{} = {}", joined, sql_name(column), db::quoted_text(value));
    joined = " AND ";
  }
  return sql;
}

void write_where(JsonWriter& json, const Finding& finding) {
  json.key("where");
  json.open('[');
  for (const FindingPlace& place : finding.where) {
    json.open('{');
    json.member("kind", place.kind);
    json.member("name", place.name);
    json.key("python"), json.text_or_null(place.python);
    json.key("module"), json.text_or_null(place.module);
    json.key("shape"), json.text_or_null(place.shape);
    json.key("time_ms"), json.number(in_ms(place.time_ns));
    json.key("count"), json.integer(place.count);
    json.close('}');
  }
  json.close(']');
}

void write_key(JsonWriter& json, const decltype(Evidence::key)& key) {
  json.key("key");
  json.open('{');
  for (const auto& [column, value] : key) json.member(column, value);
  json.close('}');
}

void write_evidence(JsonWriter& json, const Finding& finding) {
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

void write_finding(JsonWriter& json, const Finding& finding, std::size_t steps) {
  json.line();
  json.open('{');
  json.member("id", finding.id);
  json.member("title", finding.title);
  json.member("severity", severity_name(finding.severity));
  json.member("verdict", finding.verdict);
  json.key("saving_ms"), json.number(in_ms(finding.saving_ns));
  json.key("saving_per_step_ms");
  if (steps > 0)
    json.number(in_ms(finding.saving_ns / static_cast<std::int64_t>(steps)));
  else
    json.text_or_null({});
  json.key("saving_pct"), json.number(finding.saving_percent);
  json.key("saving_alone_ms");
  json.open('{');
  json.key("low"), json.number(in_ms(finding.alone.low_ns));
  json.key("mid"), json.number(in_ms(finding.alone.mid_ns));
  json.key("high"), json.number(in_ms(finding.alone.high_ns));
  json.close('}');
  json.key("gpu_saving_ms"), json.number(in_ms(finding.gpu_saving_ns));
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
  json.member("command", verify_command(finding));
  json.close('}');
  json.close('}');
}

}  // namespace

std::string verify_command(const Finding& finding) {
  const Verification& verify = finding.verify;
  if (finding.id.starts_with("CMP-"))
    return fmt::format("tracelens diagnose NEW --against OTHER --only {}", finding.id);
  if (verify.column.empty() || verify.is_derived)
    return fmt::format("tracelens diagnose NEW --only {}", finding.id);
  if (is_of_ranks(verify.table))  // a column of NAME.csv
    return "tracelens collectives NEW -o out/";
  return fmt::format("tracelens query NEW \"{}\"", query_of(verify));
}

void write_findings(JsonWriter& json, std::span<const Finding> findings, std::size_t steps) {
  json.open('[');
  for (const Finding& finding : findings) write_finding(json, finding, steps);
  json.close(']');
}

}  // namespace tracelens
