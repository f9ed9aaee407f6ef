#include "analysis/compare/gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/compare/key_cell.hpp"
#include "analysis/compare/times.hpp"
#include "table/markup.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kGrammar =
    "expected WHAT > AMOUNT [min TIME], for example 'total_time > 5%', 'op:aten::mm > 0.2ms', "
    "'category:GEMM > 3% min 1ms', 'kernel:* > 10%' or 'sheet:hlo_ops/dot.3 > 5%'";

// Where the things of one kind have their times; the first sheet that all reports have is taken.
struct Things {
  std::string_view prefix;
  std::vector<std::string> sheets;
};
const std::vector<Things>& kinds_of_things() {
  static const std::vector<Things> kKinds = {
      {"op:", {"ops_summary", "hlo_ops", "kernel_launchers_summary", "xla_summary"}},
      {"category:",
       {"ops_summary_by_category", "hlo_ops_by_kind", "kernel_launchers_summary_by_category",
        "kernel_summary_by_category", "category_summary"}},
      {"kernel:", {"kernel_summary"}},
  };
  return kKinds;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

struct Amount {
  double value = 0;  // percent or ms
  bool is_percent = false;
};

std::optional<Amount> parse_amount(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  if (unit == "%") return Amount{value, true};
  if (unit == "ms") return Amount{value, false};
  if (unit == "us" || unit == "µs") return Amount{value / 1e3, false};
  if (unit == "s") return Amount{value * 1e3, false};
  return std::nullopt;
}

bool tells_times(const ComparedReport& report, std::string_view sheet) {
  const Table* const table = report.find(sheet);
  const auto measure = table == nullptr ? std::nullopt : sheet_measure(*table);
  return measure && (table->rows() == 0 || is_number(table->column(measure->metric)));
}

// The first sheet in which every report tells times: a report without them would pass any limit.
const std::string& common_sheet(const Gate& gate, std::span<const ComparedReport> reports) {
  const auto tell = [&gate](const ComparedReport& report) {
    return std::ranges::find_if(
        gate.sheets, [&](const std::string& sheet) { return tells_times(report, sheet); });
  };
  for (const std::string& sheet : gate.sheets)
    if (std::ranges::all_of(
            reports, [&](const ComparedReport& report) { return tells_times(report, sheet); }))
      return sheet;
  const std::string what = fmt::format("gate '{}'", gate.text);
  const auto wanted = tell(reports.front());
  if (wanted == gate.sheets.end())
    throw Error{what, fmt::format("{} has no sheet {} that tells times", reports.front().path,
                                  fmt::join(gate.sheets, " or "))};
  const ComparedReport& lacking = *std::ranges::find_if(
      reports, [&](const ComparedReport& report) { return !tells_times(report, *wanted); });
  throw Error{what, lacking.find(*wanted) == nullptr
                        ? fmt::format("{} has no sheet {}, as {} has", lacking.path, *wanted,
                                      reports.front().path)
                        : fmt::format("the sheet {} of {} lacks the times that {} has there",
                                      *wanted, lacking.path, reports.front().path)};
}

// Time of each thing the gate is about, in ms.
std::map<std::string, double> times_of(const Gate& gate, const ComparedReport& report,
                                       std::string_view sheet) {
  std::map<std::string, double> times = sheet_times(report, sheet);
  std::erase_if(times,
                [&gate](const auto& entry) { return !matches_pattern(gate.name, entry.first); });
  return times;
}

}  // namespace

// Linear: after a * the shortest match of what follows is always good enough.
bool matches_pattern(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = pattern.npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

Gate parse_gate(std::string_view text, std::string_view expected) {
  Gate gate{.text = std::string{text}};
  const auto fail = [&](std::string_view what) {
    return Error{fmt::format("gate '{}'", text),
                 fmt::format("{}; {}", what, expected.empty() ? kGrammar : expected)};
  };
  const auto sign = text.rfind('>');  // names of kernels hold it too
  if (sign == text.npos) throw fail("it has no >");
  std::string_view what = trimmed(text.substr(0, sign)), limit = trimmed(text.substr(sign + 1));
  if (const auto min = limit.find("min"); min != limit.npos) {
    const auto least = parse_amount(trimmed(limit.substr(min + 3)));
    if (!least || least->is_percent) throw fail("after min stands no time");
    gate.min_ms = least->value;
    limit = trimmed(limit.substr(0, min));
  }
  const auto amount = parse_amount(limit);
  if (!amount) throw fail(fmt::format("'{}' is no amount", limit));
  gate.limit = amount->value;
  gate.is_percent = amount->is_percent;

  gate.sheets = {"gpu_timeline"};
  if (what.starts_with("sheet:")) {
    const auto slash = what.find('/');
    if (slash == what.npos) throw fail("after sheet: stands no SHEET/NAME");
    gate.sheets = {std::string{what.substr(6, slash - 6)}};
    what.remove_prefix(slash + 1);
  }
  for (const Things& things : kinds_of_things())
    if (what.starts_with(things.prefix)) {
      gate.sheets = things.sheets;
      what.remove_prefix(things.prefix.size());
      break;
    }
  if (what.empty()) throw fail("it does not say what it is about");
  gate.name = std::string{what};
  return gate;
}

GateOutcome check_gate(const Gate& gate, std::span<const ComparedReport> reports) {
  const std::string& sheet = common_sheet(gate, reports);
  const std::map<std::string, double> base = times_of(gate, reports.front(), sheet);
  GateOutcome result{.gate = gate.text};
  bool found = !base.empty();
  double closest = -std::numeric_limits<double>::infinity();
  for (const ComparedReport& report : reports.subspan(1)) {
    std::map<std::string, double> now = times_of(gate, report, sheet);
    found |= !now.empty();
    for (const auto& [name, ms] : base) now.try_emplace(name, 0.0);
    for (const auto& [name, ms] : now) {
      const auto before = base.find(name);
      const double base_ms = before == base.end() ? 0 : before->second;
      if (std::max(base_ms, ms) < gate.min_ms) continue;
      const double percent = base_ms > 0 ? 100 * (ms - base_ms) / base_ms
                             : ms > 0    ? std::numeric_limits<double>::infinity()
                                         : 0;
      const double over = gate.is_percent ? percent : ms - base_ms;
      std::string sentence =
          fmt::format("{}: {} took {:.6g} ms in {} and {:.6g} ms in {}: {:+.6g} ms, {}", sheet,
                      name, base_ms, reports.front().tag, ms, report.tag, ms - base_ms,
                      std::isfinite(percent) ? fmt::format("{:+.4g}%", percent) : "new");
      if (over > gate.limit)
        result.evidence.push_back(std::move(sentence));
      else if (over > closest)
        closest = over, result.summary = std::move(sentence);
    }
  }
  if (!found)
    throw Error{fmt::format("gate '{}'", gate.text),
                fmt::format("no report has '{}' in {}", gate.name, sheet)};
  result.passed = result.evidence.empty();
  if (result.passed && result.summary.empty()) result.summary = "nothing took that long";
  return result;
}

std::string junit_xml(std::span<const GateOutcome> results) {
  const auto failures = std::ranges::count(results, false, &GateOutcome::passed);
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"tracelens\" tests=\"{}\" failures=\"{}\" errors=\"0\">\n",
      results.size(), failures);
  for (const GateOutcome& result : results) {
    xml += fmt::format("  <testcase classname=\"tracelens.gates\" name=\"{}\"",
                       as_markup(result.gate));
    if (result.passed) {
      xml += fmt::format(">\n    <system-out>{}</system-out>\n  </testcase>\n",
                         as_markup(result.summary));
      continue;
    }
    xml += fmt::format(">\n    <failure message=\"{}\">", as_markup(result.evidence.front()));
    for (const std::string& sentence : result.evidence) xml += as_markup(sentence) + "\n";
    xml += "</failure>\n  </testcase>\n";
  }
  return xml + "</testsuite>\n";
}

std::string gates_json(std::span<const GateOutcome> results) {
  std::string json = "{\"gates\": [";
  for (const GateOutcome& result : results) {
    json += &result == &results.front() ? "\n  {\"gate\": " : ",\n  {\"gate\": ";
    append_json_text(json, result.gate);
    json += fmt::format(", \"passed\": {}, \"evidence\": [", result.passed);
    for (const std::string& sentence : result.evidence) {
      if (&sentence != &result.evidence.front()) json += ", ";
      append_json_text(json, sentence);
    }
    json += "], \"summary\": ";
    append_json_text(json, result.summary);
    json += "}";
  }
  const bool passed = std::ranges::all_of(results, &GateOutcome::passed);
  return json + fmt::format("\n], \"passed\": {}}}\n", passed);
}

}  // namespace tracelens
