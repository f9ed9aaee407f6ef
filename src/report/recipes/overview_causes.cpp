// The findings of the first screen.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnosis/engine/glance.hpp"
#include "report/recipes/overview.hpp"
#include "report/recipes/overview_parts.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMostCauses = 3;
constexpr double kWorthMending = 5;  // percent: the costliest saves at least this much

// "by 3 of 12 steps"; empty: by all of the trace.
std::string part_of(const Glance& seen) {
  if (!seen.is_part()) return {};
  if (seen.steps > 0) return fmt::format("by {} of {} steps", seen.steps, seen.all_steps);
  return fmt::format("by {} of {}", time_text(seen.ns), time_text(seen.all_ns));
}

std::string title_of(const Glance& seen) {
  const std::string part = part_of(seen);
  return part.empty() ? "mend first" : "mend first, " + part;
}

// The verdict of a part is not that of the trace.
std::string verdict_of(const Glance& seen) {
  const std::string part = part_of(seen);
  std::string text = seen.diagnosis.verdict;
  if (part.empty()) return text;
  if (text.ends_with('.')) text.pop_back();
  return fmt::format("{} ({}).", text, part);
}

}  // namespace

Causes find_causes(const TableContext& context) {
  const ReportOptions& options = context.options;
  constexpr int kThreads = 4;  // where there are many: else the tables keep them busy
  Glance seen = glance(context.facts, {.threads = context.has_many_threads() ? kThreads : 1,
                                       .gpu = {.name = options.gpu, .file = options.gpu_file},
                                       .skip = {"UNM-1"},  // not known to be slow
                                       .models = options.models});
  Causes all{.findings = std::move(seen.diagnosis.findings),
             .steps = seen.diagnosis.steps.size(),
             .notes = std::move(seen.diagnosis.quality)};
  Overview& found = all.overview;
  const auto steps =
      static_cast<std::int64_t>(std::max<std::size_t>(1, seen.diagnosis.steps.size()));
  const std::vector<Finding>& findings = all.findings;
  if (findings.empty() || findings.front().saving_percent < kWorthMending) {
    found.nothing_found = verdict_of(seen);
    return all;
  }
  found.causes_title = title_of(seen);
  found.causes_per_step = !seen.diagnosis.steps.empty();
  for (const Finding& finding : findings) {
    if (finding.saving_ns == 0 || found.causes.size() == kMostCauses) break;
    found.causes.push_back({.id = finding.id,
                            .title = finding.title,
                            .saving_ns = finding.saving_ns / steps,
                            .percent = finding.saving_percent,
                            .remedy = finding.tries.empty() ? "" : finding.tries.front()});
  }
  return all;
}

}  // namespace tracelens
