// summary: the run on one page, and where to go on.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/gpu.hpp>
#include <tracelens/info.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/tool.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::size_t kSectionRows = 5;

std::string_view verdict_name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"ok", "warn", "fail"};
  return kNames[static_cast<std::size_t>(verdict)];
}

// Rows of `trace` in info, which are properties and values.
std::string property(const std::vector<Table>& info, std::string_view name) {
  for (const Table& table : info) {
    if (table.name() != "trace") continue;
    const auto names = table.column("property").texts();
    const auto at = std::ranges::find(names, name);
    if (at != names.end())
      return table.column("value").texts()[static_cast<std::size_t>(at - names.begin())];
  }
  return {};
}

std::size_t step_count(const std::vector<Table>& info) {
  const auto steps = std::ranges::find(info, "steps", &Table::name);
  return steps == info.end() ? 0 : steps->rows();
}

// What is missing, and how to record it: our own sentences.
std::vector<std::string> missing_of(const TraceCheck& check) {
  std::vector<std::string> missing;
  const Table& found = check.findings;
  for (std::size_t row = 0; row < found.rows(); ++row) {
    const auto text = [&](std::size_t column) {
      return value_of(found.cell(row, column)).as_text();
    };
    if (text(0) == "ok") continue;
    std::string sentence = fmt::format("{}: {}", text(1), text(2));
    if (found.columns().size() > 3 && !text(3).empty()) sentence += fmt::format(" ({})", text(3));
    missing.push_back(quoted_note(sentence));
  }
  return missing;
}

Section section_of(const Table& table, const char* name, const std::string& title) {
  const Excerpt excerpt = excerpt_of(table);
  Grid grid = grid_of(table, excerpt.columns, kSectionRows);
  constexpr std::size_t kColumns = 6;
  if (grid.columns.size() > kColumns) {
    grid.columns.resize(kColumns);
    for (std::vector<Value>& row : grid.rows) row.resize(kColumns);
  }
  return {name, title, fmt::format("call table {}", table.name()), std::move(grid)};
}

Grid causes_of(const Overview& overview) {
  Grid grid;
  grid.columns = {{.name = "id"},
                  {.name = "title"},
                  {.name = "saving_per_step_ms", .unit = "ms"},
                  {.name = "percent", .unit = "%"},
                  {.name = "try_first"}};
  for (const Overview::Cause& cause : overview.causes)
    grid.rows.push_back({cause.id, clean_sentence(cause.title),
                         static_cast<double>(cause.saving_ns) / 1e6, cause.percent,
                         clean_sentence(cause.remedy)});
  return grid;
}

std::vector<std::string> next_tools(const TraceDesk& desk,
                                    const std::optional<Overview>& overview) {
  std::vector<std::string> tools{"diagnose: what slows it down, what to try"};
  if (desk.made("ops_unique_args") != nullptr) tools.emplace_back("roofline: how good the ops are");
  tools.emplace_back("table kernel_summary: which kernels cost most");
  if (overview && overview->bound == "communication")
    tools.emplace_back("collectives: who waits for whom, with the traces of all ranks");
  tools.emplace_back("tables: everything else there is");
  return tools;
}

Answer summary_of(TraceDesk& desk, const CallControl& control) {
  const Trace& trace = desk.trace();
  const Report& report = desk.report();
  control.check();
  const std::vector<Table> info = trace_info(trace, desk.tree());
  const TraceCheck& check = desk.check();
  const std::vector<std::string> missing = missing_of(check);
  const std::string gpu = clean_text(device_name(trace));
  const std::string framework = property(info, "framework");
  const std::size_t steps = step_count(info);

  Answer answer;
  answer.lead =
      fmt::format("{} trace{}, GPU {}, {} step{}, span {}, {} events.\n", trace.source().format,
                  framework.empty() ? "" : fmt::format(" of {}", framework),
                  gpu.empty() ? "not named" : in_quotes(gpu), steps, steps == 1 ? "" : "s",
                  property(info, "span"), trace.size());
  const std::string verdict = report.overview ? clean_sentence(report.overview->verdict) : "";
  if (!verdict.empty()) answer.lead += verdict + "\n";
  answer.lead += fmt::format("Recording: {}{}\n\n", verdict_name(check.verdict),
                             missing.empty() ? ", nothing is missing." : ".");
  if (const auto first = desk.first_table()) {
    answer.title = first->name();
    answer.grid = grid_of(*first, excerpt_of(*first).columns);
    answer.total = first->rows();
  }
  answer.more = {{"gpu", gpu},
                 {"roofline_gpu", clean_text(report.gpu)},
                 {"format", trace.source().format},
                 {"framework", framework},
                 {"steps", count_value(steps)},
                 {"span", property(info, "span")},
                 {"events", count_value(trace.size())},
                 {"bound", report.overview ? report.overview->bound : std::string{}},
                 {"verdict", verdict},
                 {"check", object({{"verdict", text_value(verdict_name(check.verdict))},
                                   {"missing", array(missing)}})},
                 {"next_tools", array(next_tools(desk, report.overview))}};
  if (report.overview && !report.overview->causes.empty())
    answer.sections.push_back({"findings",
                               "First findings (a glance at a few steps; diagnose has all)",
                               "call diagnose", causes_of(*report.overview)});
  if (const auto table = desk.made("ops_summary_by_category"))
    answer.sections.push_back(section_of(*table, "categories", "Largest categories"));
  if (const auto table = desk.made("ops_summary"))
    answer.sections.push_back(section_of(*table, "ops", "Largest ops"));
  for (const std::string& sentence : missing) answer.tail += fmt::format("- {}\n", sentence);
  answer.tail += "\nNext:\n";
  for (const std::string& tool : next_tools(desk, report.overview))
    answer.tail += fmt::format("- {}\n", tool);
  return answer;
}

Value run_summary(Call& call) {
  const TraceStore::Lease desk = call.open_trace();
  return call.paged_result([&] { return summary_of(*desk, call.control()); }, &*desk);
}

Members summary_output() {
  return {{"gpu", type_schema("string")},
          {"steps", type_schema("integer")},
          {"verdict", type_schema("string")},
          {"check", type_schema("object")},
          {"findings", grid_schema()},
          {"categories", grid_schema()},
          {"ops", grid_schema()}};
}

}  // namespace

const Tool kSummaryTool{
    .name = "summary",
    .title = "Summary of a trace",
    .description =
        "Start here. GPU, steps, how GPU time splits into computing, communication, copies "
        "and idle, what was not recorded, largest ops, first findings, which tool next.",
    .arguments = {{}, trace_arguments()},
    .more_output = summary_output,
    .run = run_summary};

}  // namespace tracelens::mcp
