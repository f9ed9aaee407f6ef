// COMM-6: the same collective twice in a row, with nothing computed between that could have changed
// what is sent. Gathers and scatters of one layer after the other look the same and do not count.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/comm_places.hpp"

namespace tracelens {
namespace comm_6 {

constexpr Number kNumbers[] = {
    {"least_per_step", 1, "repeats per step"},
};

bool may_repeat(CollectiveKind kind) {
  using enum CollectiveKind;
  return kind == kAllReduce || kind == kBroadcast || kind == kReduce || kind == kBarrier;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const std::vector<WindowCollective>& kernels = c.communication().kernels;
  if (kernels.size() < 2) return std::nullopt;
  std::vector<std::uint32_t> communicating;
  for (const WindowCollective& one : kernels) communicating.push_back(one.event.row);
  std::ranges::sort(communicating);
  std::vector<std::int64_t> computed;  // when other work was launched
  const auto launched = [&](EventId event) {
    const EventId call = c.tree().launch_of(event);
    return c.trace.ts_ns()[call.valid() ? call.row : event.row];
  };
  for (const EventId event : c.gpu_events())
    if (!std::ranges::binary_search(communicating, event.row)) computed.push_back(launched(event));
  std::ranges::sort(computed);
  Draft draft;
  CommPlaces places;
  std::int64_t repeats = 0, ns = 0;
  for (std::size_t i = 1; i < kernels.size(); ++i) {
    const WindowCollective &before = kernels[i - 1], &one = kernels[i];
    if (one.rank != before.rank || one.message != before.message || !may_repeat(one.kind) ||
        !one.bytes)
      continue;
    const auto between = std::ranges::lower_bound(computed, launched(before.event));
    if (between != computed.end() && *between < launched(one.event)) continue;
    draft.edit.set_gpu(one.event, 0);
    places.add(one, one.dur_ns);
    ++repeats;
    ns += one.dur_ns;
  }
  ns = c.per_device(ns);
  const double per_step = static_cast<double>(repeats) /
                          static_cast<double>(c.gpu_times().devices) /
                          static_cast<double>(c.steps());
  if (repeats == 0 || per_step < n["least_per_step"]) return std::nullopt;
  draft.where = places.take();
  draft.verdict = draft.tell(
      "{} before it, and nothing was launched between: {} in "
      "all.",
      counted(derived("coll_analysis", "repeats per step", per_step, ""),
              "collective a step is like the one", "collectives a step are like the one"),
      derived("coll_analysis", "dur_sum of repeats", in_ms(ns), "ms"));
  draft.formula = "repeats -> 0";
  draft.tries = {"send once, or both tensors together, if these are not two tensors by design"};
  draft.verify = {.table = "coll_analysis",
                  .column = "operation_count",
                  .now = static_cast<double>(repeats),
                  .expected = "0 repeats",
                  .is_derived = true};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace comm_6

extern const Rule kComm6;
constinit const Rule kComm6 = {.id = "COMM-6",
                               .title = "Repeated identical collectives",
                               .numbers = comm_6::kNumbers,
                               .find = comm_6::find};

}  // namespace tracelens
