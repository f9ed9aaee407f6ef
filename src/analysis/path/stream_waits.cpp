#include "analysis/path/stream_waits.hpp"

#include <algorithm>
#include <string_view>

#include "facts/gpu_work.hpp"

namespace tracelens {

StreamWaits::StreamWaits(const Trace& trace) : trace_{trace} {
  const auto is_there = [&](EventId event) {
    return trace.phase(event) == Phase::kComplete && trace.ts_ns()[event.row] != kAbsent;
  };
  std::vector<EventId> syncs;
  for (const EventId event : trace.recorded_events())
    if (trace.category(event) == Category::kOtherCategory &&
        trace.category_text(event) == "cuda_sync" && is_there(event))
      syncs.push_back(event);
  if (syncs.empty()) return;
  for (const EventId event : trace.recorded_events())
    if (is_runtime(trace.category(event)) && is_there(event) &&
        trace.correlations()[event.row] != kAbsent)
      calls_.try_emplace(trace.correlations()[event.row], event.row);
  for (const EventId event : trace.recorded_events()) {
    if (!is_gpu(trace.category(event)) || !is_there(event)) continue;
    const auto call = calls_.find(trace.correlations()[event.row]);
    if (call == calls_.end()) continue;
    const Launched launched{trace.ts_ns()[call->second], event.row};
    launched_[lane(event)].push_back(launched);
    launched_by_[{lane(event), trace.tracks()[call->second]}].push_back(launched);
  }
  for (auto& [key, list] : launched_) std::ranges::stable_sort(list, {}, &Launched::time);
  for (auto& [key, list] : launched_by_) std::ranges::stable_sort(list, {}, &Launched::time);
  for (const EventId sync : syncs)
    if (trace.name(sync) == "Stream Wait Event") add_wait(sync);
}

StreamWaits::Lane StreamWaits::lane(EventId event) const {
  return {trace_.devices().at(event).value_or(-1), trace_.streams().at(event).value_or(-1)};
}

EventId StreamWaits::source(EventId gpu) const {
  const auto found = sources_.find(gpu.row);
  return found == sources_.end() ? EventId{} : EventId{found->second};
}

EventId StreamWaits::source_of_wait(EventId sync) const {
  const Value details = trace_.details(sync);
  const Value *record = details.find("wait_on_cuda_event_record_corr_id"),
              *stream = details.find("wait_on_stream");
  if (record == nullptr || stream == nullptr || !record->is_int() || !stream->is_int()) return {};
  const auto call = calls_.find(record->as_int());
  if (call == calls_.end() || trace_.name({call->second}) != "cudaEventRecord") return {};
  const auto work = launched_.find({trace_.devices().at(sync).value_or(-1), stream->as_int()});
  if (work == launched_.end()) return {};
  const auto after =
      std::ranges::upper_bound(work->second, trace_.ts_ns()[call->second], {}, &Launched::time);
  return after == work->second.begin() ? EventId{} : EventId{(after - 1)->gpu};
}

// What the thread of the call launches next onto the stream that waits.
void StreamWaits::add_wait(EventId sync) {
  const EventId source = source_of_wait(sync);
  const auto call = calls_.find(trace_.correlations()[sync.row]);
  if (!source.valid() || call == calls_.end()) return;
  const auto own = launched_by_.find({lane(sync), trace_.tracks()[call->second]});
  if (own == launched_by_.end()) return;
  const auto next =
      std::ranges::lower_bound(own->second, trace_.ts_ns()[call->second], {}, &Launched::time);
  if (next != own->second.end()) sources_[next->gpu] = source.row;
}

}  // namespace tracelens
