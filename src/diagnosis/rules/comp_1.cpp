// COMP-1: compiled code in pieces: between two of them Python runs, guards are checked, and nothing is
// fused.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace comp_1 {

constexpr Number kNumbers[] = {
    {"least_regions", 2, "different compiled regions per step"},
    {"least_pct", 1, "% of the window that mending saves"},
    {"factor", 0, "what is left of the time from the launch before a region to its first one"},
};

constexpr std::string_view kRegion = "Torch-Compiled Region: ",
                           kBackward = "CompiledFunctionBackward";

std::string_view function_of(std::string_view region) {
  const std::string_view which = region.substr(kRegion.size());
  return which.substr(0, which.find('/'));
}

// Compiled regions of each thread, also those inside of others: what follows a break is called from
// there. By time.
using Regions = std::map<TrackId, std::vector<EventId>>;

Regions regions_of(const DiagnosisContext& c) {
  Regions found;
  for (const EventId op : c.trace.recorded_events()) {
    if (c.trace.category(op) != Category::kCpuOp || !c.in_window(c.trace.ts_ns()[op.row])) continue;
    const std::string_view name = c.trace.name(op);
    if (name.starts_with(kRegion) || name == kBackward)
      found[c.trace.tracks()[op.row]].push_back(op);
  }
  for (auto& [track, regions] : found)
    std::ranges::stable_sort(regions, {}, [&](EventId op) { return c.trace.ts_ns()[op.row]; });
  return found;
}

// Launch calls of each thread, by time.
std::map<TrackId, std::vector<Interval>> launches_of(const DiagnosisContext& c) {
  std::map<TrackId, std::vector<Interval>> found;
  for (const EventId event : c.gpu_events())
    if (const EventId call = c.tree().launch_of(event); call.valid())
      found[c.trace.tracks()[call.row]].push_back(
          {c.trace.ts_ns()[call.row], c.trace.end_ns(call)});
  for (auto& [track, calls] : found) std::ranges::sort(calls, {}, &Interval::start);
  return found;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const Regions found = regions_of(c);
  std::set<std::string_view> functions;
  std::size_t count = 0;
  for (const auto& [track, regions] : found)
    for (const EventId region : regions)
      if (const std::string_view name = c.trace.name(region); name.starts_with(kRegion)) {
        functions.insert(function_of(name));
        ++count;
      }
  const double per_step = static_cast<double>(count) / static_cast<double>(c.steps());
  if (static_cast<double>(functions.size()) < n["least_regions"] || per_step < n["least_regions"])
    return std::nullopt;

  Draft draft;
  std::map<std::string, FindingPlace> places;
  std::int64_t between = 0;
  const auto launches = launches_of(c);
  for (const auto& [track, regions] : found) {
    const auto calls = launches.find(track);
    if (calls == launches.end()) continue;
    std::int64_t until = c.time().start;  // where the stretch before ends
    for (std::size_t i = 1; i < regions.size(); ++i) {
      const std::int64_t start = c.trace.ts_ns()[regions[i].row];
      if (c.step_at(c.trace.ts_ns()[regions[i - 1].row]) != c.step_at(start)) continue;
      // From the launch before to the one after, nothing but wrappers, guards and Python runs.
      const auto next = std::ranges::lower_bound(calls->second, start, {}, &Interval::start);
      if (next == calls->second.begin() || next == calls->second.end()) continue;
      const Interval time{std::max(until, std::prev(next)->end), next->start};
      if (time.end <= time.start || c.step_at(time.start) != c.step_at(time.end)) continue;
      until = time.end;
      draft.edit.scale_host(track, time.start, time.end, n["factor"]);
      between += time.end - time.start;
      FindingPlace& place = places[std::string{c.trace.name(regions[i])}];
      place.time_ns += time.end - time.start;
      if (++place.count > 1) continue;
      place.kind = "op";
      place.name = std::string{c.trace.name(regions[i])};
      place.python = c.python_line(regions[i]);
      place.module = c.module_of(regions[i]);
    }
  }
  if (c.share(c.saving_ns(draft.edit)) < n["least_pct"]) return std::nullopt;
  for (auto& [name, place] : places) draft.where.push_back(std::move(place));
  draft.verdict = draft.tell(
      "The compiled code runs in {} a step, of {}; between them the host spends {} "
      "a step until the next launch.",
      counted(derived("unified_perf_summary", "compiled regions per step", per_step, ""), "piece",
              "pieces"),
      counted(derived("unified_perf_summary", "compiled functions",
                      static_cast<double>(functions.size()), ""),
              "function", "functions"),
      derived("step_phases", "time between compiled regions", in_ms(c.per_step(between)), "ms"));
  draft.formula =
      fmt::format("from the launch before a further region to its first one x {}", n["factor"]);
  draft.tries = {
      "TORCH_LOGS=graph_breaks names each break and its line",
      "take print(), .item(), data-dependent if and unsupported calls out of the compiled "
      "part; torch.compile(fullgraph=True) fails where a break is left",
      "compile the whole model, not its parts"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "compiled regions per step",
                  .now = per_step,
                  .expected = "1",
                  .is_derived = true};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace comp_1

extern const Rule kComp1;
constinit const Rule kComp1 = {
    .id = "COMP-1", .title = "Graph breaks", .numbers = comp_1::kNumbers, .find = comp_1::find};

}  // namespace tracelens
