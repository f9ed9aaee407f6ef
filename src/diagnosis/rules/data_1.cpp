// DATA-1: the host fetches a batch while the GPU waits for it.
#include <fmt/format.h>

#include <map>
#include <string>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace data_1 {

constexpr Number kNumbers[] = {
    {"least_pct", 5, "% of the window that data loading holds on the critical path"},
    {"low_factor", 0.25, "what is left of loading, for the low estimate"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const std::int64_t on_path = c.on_path_ns(BoundBy::kDataLoading);
  if (c.share(on_path) < n["least_pct"]) return std::nullopt;
  Draft draft;
  draft.low.emplace();
  std::map<std::string, FindingPlace> places;
  std::int64_t loading = 0;
  for (const HostRange& range : c.ranges().data_loading()) {
    if (!c.in_window(range.start_ns)) continue;
    draft.edit.set_host(range.track, range.start_ns, range.end_ns, 0);
    draft.low->scale_host(range.track, range.start_ns, range.end_ns, n["low_factor"]);
    loading += range.end_ns - range.start_ns;
    FindingPlace& place = places[std::string{c.trace.name(range.event)}];
    place.time_ns += range.end_ns - range.start_ns;
    ++place.count;
    place.python = c.python_line(range.event);
  }
  if (loading == 0) return std::nullopt;
  for (auto& [name, place] : places) {
    place.kind = "range";
    place.name = name;
    draft.where.push_back(std::move(place));
  }
  const bool is_single = c.ranges().loads_in_main_process();
  draft.verdict =
      draft.tell("For {} ({}) the run waits until the host has fetched the next batch{}.",
                 proof("critical_path_summary", "time_ms", in_ms(on_path), "ms",
                       {{"bound_by", "data_loading"}}),
                 proof("critical_path_summary", "pct_of_window", c.share(on_path), "%",
                       {{"bound_by", "data_loading"}}),
                 is_single ? ", in the process that trains" : "");
  const std::int64_t per_step = c.per_step(loading);
  draft.evidence.push_back(
      proof("step_phases", "dataloader_ms", in_ms(per_step), "ms", {{"step", "mean"}}));
  draft.formula = "data-loading ranges -> 0";
  draft.tries = {is_single
                     ? "load in worker processes: num_workers > 0 (the loader runs in the main "
                       "process)"
                     : "more workers, or a larger prefetch_factor",
                 "pin_memory=True, and copy the next batch while this one is computed",
                 "cheaper transforms, or on the GPU; data stored ready for use"};
  draft.verify = {.table = "step_phases",
                  .column = "dataloader_ms",
                  .now = in_ms(per_step),
                  .expected = fmt::format("< {}", figure(0.05 * in_ms(per_step), "")),
                  .key = {{"step", "mean"}}};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace data_1

extern const Rule kData1;
constinit const Rule kData1 = {
    .id = "DATA-1", .title = "Waiting for data", .numbers = data_1::kNumbers, .find = data_1::find};

}  // namespace tracelens
