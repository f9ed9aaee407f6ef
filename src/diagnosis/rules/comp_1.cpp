// COMP-1: compiled code in pieces: between two of them Python runs, guards are checked, and nothing is
// fused.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace {

constexpr Number kNumbers[] = {
    {"least_regions", 2, "different compiled regions per step"},
    {"least_pct", 1, "% of the window that mending saves"},
    {"eager_factor", 0.3, "what is left between two regions where other ops launch work"},
};

constexpr std::string_view kRegion = "Torch-Compiled Region: ",
                           kBackward = "CompiledFunctionBackward";

std::string_view function_of(std::string_view region) {
  const std::string_view which = region.substr(kRegion.size());
  return which.substr(0, which.find('/'));
}

struct Region {
  EventId op;
  std::int64_t start_ns = 0, end_ns = 0, launch_ns = 0;  // launch: the first in it
};

// The outermost regions of each thread by time.
using Regions = std::map<TrackId, std::vector<Region>>;

Regions regions_of(const DiagnosisContext& c) {
  Regions found;
  for (const EventId op : c.trace.recorded_events()) {
    if (c.trace.category(op) != Category::kCpuOp || !c.in_window(c.trace.ts_ns()[op.row])) continue;
    const std::string_view name = c.trace.name(op);
    if (!name.starts_with(kRegion) && name != kBackward) continue;
    found[c.trace.tracks()[op.row]].push_back(
        {.op = op, .start_ns = c.trace.ts_ns()[op.row], .end_ns = c.trace.end_ns(op)});
  }
  for (auto& [track, regions] : found) {
    std::ranges::stable_sort(regions, {}, &Region::start_ns);
    std::vector<Region> outer;
    for (Region& region : regions) {
      if (!outer.empty() && region.start_ns < outer.back().end_ns) continue;
      const NodeId node = c.tree().node(region.op);
      const auto launched = node.valid() ? c.tree().gpu_events(node) : std::span<const EventId>{};
      region.launch_ns =
          launched.empty() ? region.end_ns : c.trace.ts_ns()[c.tree().launch_of(launched[0]).row];
      outer.push_back(region);
    }
    regions = std::move(outer);
  }
  return found;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const Regions found = regions_of(c);
  std::set<std::string_view> functions;
  std::size_t count = 0;
  for (const auto& [track, regions] : found)
    for (const Region& region : regions)
      if (const std::string_view name = c.trace.name(region.op); name.starts_with(kRegion)) {
        functions.insert(function_of(name));
        ++count;
      }
  const double per_step = static_cast<double>(count) / static_cast<double>(c.steps());
  if (static_cast<double>(functions.size()) < n["least_regions"] || per_step < n["least_regions"])
    return std::nullopt;

  Draft draft;
  std::map<std::string, FindingPlace> places;
  std::int64_t between = 0;
  for (const auto& [track, regions] : found) {
    for (std::size_t i = 1; i < regions.size(); ++i) {
      const Region &before = regions[i - 1], &region = regions[i];
      if (c.step_at(before.start_ns) != c.step_at(region.start_ns)) continue;
      const bool is_eager = c.launches_between(before.end_ns, region.start_ns) > 0;
      draft.edit.scale_host(track, before.end_ns, region.launch_ns,
                            is_eager ? n["eager_factor"] : 0);
      between += region.launch_ns - before.end_ns;
      FindingPlace& place = places[std::string{c.trace.name(region.op)}];
      place.time_ns += region.launch_ns - before.end_ns;
      if (++place.count > 1) continue;
      place.kind = "op";
      place.name = std::string{c.trace.name(region.op)};
      place.python = c.python_line(region.op);
      place.module = c.module_of(region.op);
    }
  }
  if (c.share(c.saving_ns(draft.edit)) < n["least_pct"]) return std::nullopt;
  for (auto& [name, place] : places) draft.where.push_back(std::move(place));
  draft.verdict = fmt::format(
      "The compiled code runs in {} pieces a step, of {} functions; between them the host spends {} "
      "a step until the next launch.",
      draft.prove("unified_perf_summary", "compiled regions per step", per_step, ""),
      draft.prove("unified_perf_summary", "compiled functions",
                  static_cast<double>(functions.size()), ""),
      draft.prove("step_phases", "time between compiled regions", in_ms(c.per_step(between)),
                  "ms"));
  draft.formula = fmt::format(
      "from the end of a region to the first launch of the next -> 0; x {} where ops launch between",
      n["eager_factor"]);
  draft.tries = {
      "TORCH_LOGS=graph_breaks names each break and its line",
      "take print(), .item(), data-dependent if and unsupported calls out of the compiled "
      "part; torch.compile(fullgraph=True) fails where a break is left",
      "compile the whole model, not its parts"};
  draft.verify = {.table = "unified_perf_summary",
                  .column = "compiled regions per step",
                  .now = per_step,
                  .expected = "1"};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace

extern const Rule kComp1;
constinit const Rule kComp1 = {
    .id = "COMP-1", .title = "Graph breaks", .numbers = kNumbers, .find = find};

}  // namespace tracelens
