#include "analysis/gpu/launch_calls.hpp"

#include "facts/launchers.hpp"

namespace tracelens {

EventId LaunchCalls::of(EventId gpu_event) {
  const EventId launch = recorded_launch_of(trace_, tree_, gpu_event);
  if (launch.valid() && is_runtime(trace_.category(launch))) return launch;
  const std::int64_t id = trace_.correlations()[gpu_event.row];
  if (id == kAbsent) return {};
  if (!is_indexed_) index();
  const auto found = first_by_id_.find(id);
  return found == first_by_id_.end() ? EventId{} : found->second;
}

void LaunchCalls::index() {
  is_indexed_ = true;
  for (const EventId event : trace_.all_events()) {
    const std::int64_t id = trace_.correlations()[event.row];
    if (id == kAbsent || !is_runtime(trace_.category(event)) ||
        trace_.phase(event) != Phase::kComplete || trace_.ts_ns()[event.row] == kAbsent ||
        trace_.dur_ns()[event.row] == kAbsent)
      continue;
    const auto [entry, is_new] = first_by_id_.try_emplace(id, event);
    if (!is_new && trace_.ts_ns()[event.row] < trace_.ts_ns()[entry->second.row])
      entry->second = event;
  }
}

}  // namespace tracelens
