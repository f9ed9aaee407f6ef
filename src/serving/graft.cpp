#include "serving/graft.hpp"

#include <tracelens/graph_stitching.hpp>

#include <utility>

namespace tracelens {

StringId Grafter::take(StringId text) {
  if (!text.valid()) return text;
  if (strings_.empty()) strings_.resize(capture_.trace.string_count());
  StringId& taken = strings_[text.row];
  if (!taken.valid()) taken = builder_.intern(capture_.trace.text(text));
  return taken;
}

TrackId Grafter::take(TrackId track) {
  if (!track.valid()) return track;
  if (tracks_.empty()) tracks_.resize(capture_.trace.track_table().size());
  TrackId& taken = tracks_[track.row];
  if (!taken.valid()) taken = builder_.intern(capture_.trace.track(track));
  return taken;
}

SignatureId Grafter::take(SignatureId signature) {
  if (!signature.valid()) return signature;
  if (signatures_.empty()) signatures_.resize(capture_.trace.signature_table().size());
  SignatureId& taken = signatures_[signature.row];
  if (!taken.valid()) {
    Signature copy = capture_.trace.signature(signature);
    copy.name = take(copy.name);
    taken = builder_.intern(std::move(copy));
  }
  return taken;
}

const Grafter::Rows& Grafter::rows_of(std::uint32_t graph) {
  const auto [entry, added] = ready_.try_emplace(graph);
  Rows& ready = entry->second;
  if (!added) return ready;
  const Trace& trace = capture_.trace;
  const std::vector<EventId>& events = capture_.graphs[graph].events;
  ready.rows.reserve(events.size());
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    const EventId event = events[i];
    // Correlation and external ids are those of another run.
    ready.rows.push_back({.phase = Phase::kComplete,
                          .category = trace.category(event),
                          .name = take(trace.names()[event.row]),
                          .track = take(trace.tracks()[event.row]),
                          .signature = take(trace.signatures()[event.row])});
    if (trace.category(event) == Category::kPythonFunction) continue;  // has no arguments
    if (const auto number = trace.sequence_numbers().at(event))
      ready.sequences.emplace_back(i, *number);
    if (const auto stack = trace.call_stacks().at(event))
      ready.call_stacks.emplace_back(i, take(*stack));
    if (const auto details = trace.detail_texts().at(event))
      ready.details.emplace_back(i, take(*details));
  }
  return ready;
}

void Grafter::graft(const GraphLaunch& launch, std::uint32_t graph, const Pairs& calls) {
  const CapturedGraph& captured = capture_.graphs[graph];
  const Rows& ready = rows_of(graph);
  // The reference gives every copy the time of the launch. No clock measured them: ours take none.
  const std::int64_t dur_ns = edition_ == Edition::kReference ? launch.dur_ns : 0;
  EventId top = launch.call;
  if (edition_ == Edition::kReference) {
    top = builder_.append({.phase = Phase::kComplete,
                           .category = Category::kCudaRuntime,
                           .name = builder_.intern("CaptureRoot"),
                           .track = builder_.intern(Track{}),
                           .signature = {},
                           .ts_ns = launch.ts_ns,
                           .dur_ns = dur_ns});
    builder_.set_parent(top, launch.call);
  }
  const auto first = static_cast<std::uint32_t>(builder_.size());
  for (std::uint32_t i = 0; i < ready.rows.size(); ++i) {
    EventRow row = ready.rows[i];
    row.ts_ns = launch.ts_ns;
    row.dur_ns = dur_ns;
    const EventId copy = builder_.append(row);
    const std::uint32_t caller = captured.callers[i];
    builder_.set_parent(copy, caller == CapturedGraph::kTop ? top : EventId{first + caller});
  }
  for (const auto& [place, number] : ready.sequences)
    builder_.set_sequence({first + place}, number);
  for (const auto& [place, text] : ready.call_stacks)
    builder_.set_call_stack({first + place}, text);
  for (const auto& [place, text] : ready.details) builder_.set_details({first + place}, text);
  for (std::size_t i = 0; i < launch.work.size(); ++i)
    if (calls[i] != kUnpaired)
      builder_.set_parent(launch.work[i], {first + captured.call_places[calls[i]]});
}

}  // namespace tracelens
