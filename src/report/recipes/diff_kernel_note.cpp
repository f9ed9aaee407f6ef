// The performance note of two traces without ops: by kernel and category.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/kit/noise.hpp"
#include "report/recipes/diff_note.hpp"

namespace tracelens {
namespace {

std::string title_of(std::string_view sheet) {
  if (sheet == "kernel_summary") return "Kernels that changed most";
  if (sheet == "hlo_ops") return "HLO ops that changed most";
  if (sheet == "ops_summary") return "Ops that changed most";
  return fmt::format("Kinds of work that changed most (`{}`)", sheet);
}

const TimedRow* largest_regression(const TimedSheet& sheet) {
  double all = 0;
  for (const TimedRow& row : sheet.rows)
    all += std::max(row.ms[0].value_or(0), row.ms[1].value_or(0));
  const auto found = std::ranges::find_if(sheet.rows, [all](const TimedRow& row) {
    return row.difference(1) > 0 && is_notable(row.ms[0].value_or(0), row.ms[1].value_or(0), all);
  });
  return found == sheet.rows.end() ? nullptr : &*found;
}

}  // namespace

std::string kernel_diff_note(const ComparedRuns& runs, std::span<const ComparedReport> reports) {
  const std::vector<TimedSheet> sheets = key_sheets(reports);
  std::string out = "# Performance note: what changed\n\n" + conclusion(reports);
  RunProperty limits{"bottleneck", {}};
  std::string changes;
  const TimedRow* worst = nullptr;
  for (const TimedSheet& sheet : sheets) {
    if (sheet.sheet == "gpu_timeline") {
      for (const std::size_t run : {0U, 1U}) limits.second[run] = bottleneck(sheet, run);
      changes += timeline_section(sheet);
      continue;
    }
    changes += changes_section(title_of(sheet.sheet), sheet);
    worst = largest_regression(sheet);  // the last sheet is the finest
  }
  out += runs_section(runs, {&limits, 1}) + changes;
  out +=
      "\n## How sure this is\n\n"
      "- Compared by name: a trace has no ops, so no call trees could be aligned.\n";
  out += fmt::format(
      "- One number per run cannot tell change from noise: two recordings of one program differ by "
      "{}% anyway. Record several runs and compare those too.\n",
      kRunToRunPercent);
  out += "\n## Next experiment\n\n";
  out += worst == nullptr
             ? std::string{"- Nothing got notably slower; what is left to gain is idle time and "
                           "the host.\n"}
             : fmt::format("- Time {} alone, with the same arguments, on both setups.\n",
                           quoted(worst->name));
  return out;
}

}  // namespace tracelens
