// The events of PacketDecoder: packets are in decoder.cpp.
#include <fmt/format.h>

#include "perfetto.pb.h"
#include "readers/kit/time_limits.hpp"
#include "readers/perfetto/decoder.hpp"

namespace tracelens::perfetto {

std::uint32_t PacketDecoder::category_of(const proto::TrackEvent& event, const Sequence& sequence) {
  const int count = event.category_iids_size() + event.categories_size();
  if (count == 0) return kNone;
  const auto text_of = [&](std::uint64_t iid) {
    const std::uint32_t known = sequence.categories.find(iid);
    return known != kNone ? known : texts_.intern(fmt::format("unknown({})", iid));
  };
  if (count == 1 && event.category_iids_size() == 1) return text_of(event.category_iids(0));
  scratch_.clear();
  for (const std::uint64_t iid : event.category_iids()) {
    if (!scratch_.empty()) scratch_ += ',';
    scratch_ += texts_.text(text_of(iid));
  }
  for (const std::string& category : event.categories()) {
    if (!scratch_.empty()) scratch_ += ',';
    append_escaped(scratch_, category);
  }
  return parser_.intern(scratch_);
}

std::uint32_t PacketDecoder::name_of(const proto::TrackEvent& event, const Sequence& sequence,
                                     std::uint64_t byte) {
  if (event.has_name()) return texts_.intern(event.name());
  const std::uint64_t iid =
      event.has_name_iid() ? event.name_iid() : event.legacy_event().name_iid();
  if (iid == 0) return kNone;
  const std::uint32_t name = sequence.names.find(iid);
  if (name == kNone) warn("event whose name is not in the trace", byte);
  return name;
}

std::int32_t PacketDecoder::pid_of(const proto::TrackEvent& event, const Sequence& sequence) const {
  if (event.legacy_event().has_pid_override()) return event.legacy_event().pid_override();
  return sequence.thread_track != kNone ? tracks_.thread(sequence.thread_track).pid : 0;
}

std::uint32_t PacketDecoder::track_of(const proto::TrackEvent& event, const Sequence& sequence) {
  if (event.has_legacy_event() && event.legacy_event().has_tid_override()) {
    return tracks_.thread_track({pid_of(event, sequence), event.legacy_event().tid_override()});
  }
  if (event.has_track_uuid()) return tracks_.index(event.track_uuid());
  return default_track(sequence);
}

std::uint32_t PacketDecoder::default_track(const Sequence& sequence) {
  if (sequence.default_track) return tracks_.index(*sequence.default_track);
  return sequence.thread_track != kNone ? sequence.thread_track : tracks_.index(0);
}

void PacketDecoder::add_event(const proto::TracePacket& packet, Sequence& sequence,
                              std::int64_t ts_ns, std::uint64_t byte) {
  const proto::TrackEvent& data = packet.track_event();
  Event event{.data = &data,
              .sequence = sequence,
              .ts_ns = ts_ns,
              .track = track_of(data, sequence),
              .name = name_of(data, sequence, byte),
              .category = category_of(data, sequence)};
  switch (data.type()) {
    case proto::TrackEvent::TYPE_SLICE_BEGIN:
      return begin_slice(event, Mark::kOpen, byte);
    case proto::TrackEvent::TYPE_SLICE_END:
      return end_slice(event);
    case proto::TrackEvent::TYPE_INSTANT:
      return begin_slice(event, 0, byte);
    case proto::TrackEvent::TYPE_COUNTER:
      return counters_.add(event.track, tracks_.counter(event.track), data);
    case proto::TrackEvent::TYPE_UNSPECIFIED:
      if (data.has_legacy_event()) add_legacy_event(event, byte);
      break;
  }
}

void PacketDecoder::add_legacy_event(Event& event, std::uint64_t byte) {
  const auto& legacy = event.data->legacy_event();
  const std::uint64_t id = legacy.has_local_id()    ? legacy.local_id()
                           : legacy.has_global_id() ? legacy.global_id()
                                                    : legacy.unscoped_id();
  const auto use_async_track = [&] {
    const std::string_view scope = legacy.has_id_scope()     ? std::string_view{legacy.id_scope()}
                                   : event.category != kNone ? texts_.text(event.category)
                                                             : std::string_view{};
    event.track = tracks_.async_track(pid_of(*event.data, event.sequence), scope, id);
  };
  switch (static_cast<char>(legacy.phase())) {
    case 'B':
      return begin_slice(event, Mark::kOpen, byte);
    case 'E':
      return end_slice(event);
    case 'X':
      if (legacy.duration_us() < 0 || legacy.duration_us() > kLongestNs / 1000)
        return warn("complete event without a usable duration", byte);
      return begin_slice(event, legacy.duration_us() * 1000, byte);
    case 'i':
    case 'I':
    case 'R':
      return begin_slice(event, 0, byte);
    case 'b':
    case 'S':
      use_async_track();
      return begin_slice(event, Mark::kOpen, byte);
    case 'e':
    case 'F':
      use_async_track();
      return end_slice(event);
    case 'n':
      use_async_track();
      return begin_slice(event, 0, byte);
    case 'C':
      return counters_.add_legacy(
          event.name != kNone ? texts_.text(event.name) : std::string_view{}, *event.data,
          event.sequence, texts_);
    case 's':
    case 't':
    case 'f':
      legacy_flows_.push_back({.phase = static_cast<char>(legacy.phase()),
                               .id = id,
                               .ts_ns = event.ts_ns,
                               .track = event.track,
                               .thread = event.sequence.thread_track,
                               .name = event.name,
                               .category = event.category});
      return;
    default:
      return warn("legacy event of a kind that is not read (object snapshots, memory dumps, ...)",
                  byte);
  }
}

std::uint32_t PacketDecoder::escaped_name_id(std::uint32_t track) {
  if (track >= track_names_.size()) track_names_.resize(tracks_.size(), kNone);
  std::uint32_t& name = track_names_[track];
  if (name == kNone && !tracks_.name(track).empty()) name = texts_.intern(tracks_.name(track));
  return name;
}

std::string_view PacketDecoder::escaped_name(std::uint32_t track) {
  const std::uint32_t name = escaped_name_id(track);
  return name == kNone ? std::string_view{} : texts_.text(name);
}

void PacketDecoder::begin_slice(const Event& event, std::int64_t dur_ns, std::uint64_t byte) {
  const std::string_view track_name = escaped_name(event.track);
  const std::string_view args =
      args_.write(event.data->debug_annotations(), event.sequence, track_name);
  // Most producers give every slice a category; those that do not get a trace all the same.
  block_.clear();
  parser_.append(
      {.phase = 'b',
       .name = event.name != kNone ? event.name : texts_.intern({}),
       .category = event.category != kNone ? texts_.text(event.category) : std::string_view{},
       .track = {},
       .ts_ns = event.ts_ns,
       .flow_id = kAbsent,
       .args = args,
       .numbers = args_.numbers()},
      byte, block_);
  for (const auto& [problem, at] : block_.problems)
    warn(kineto::kProblemTexts[static_cast<std::size_t>(problem)], at);

  const Mark mark = add_begin(event, dur_ns, !track_name.empty(), MarkRow::first_of(block_));
  const proto::TrackEvent& data = *event.data;
  for (const std::uint64_t flow : data.flow_ids()) flows_.add(flow, false, mark);
  for (const std::uint64_t flow : data.flow_ids_old()) flows_.add(flow, false, mark);
  for (const std::uint64_t flow : data.terminating_flow_ids()) flows_.add(flow, true, mark);
  for (const std::uint64_t flow : data.terminating_flow_ids_old()) flows_.add(flow, true, mark);
}

Mark PacketDecoder::add_begin(const Event& event, std::int64_t dur_ns, bool has_track_name,
                              const MarkRow& row) {
  Mark mark{.ts_ns = event.ts_ns,
            .track = event.track,
            .name = event.name,
            .category = event.category,
            .thread = event.sequence.thread_track,
            .dur_ns = dur_ns,
            .has_track_name = has_track_name,
            .row = row};
  add_mark(mark);
  return mark;
}

void PacketDecoder::end_slice(const Event& event) {
  Mark mark{.ts_ns = event.ts_ns,
            .track = event.track,
            .is_end = true,
            .name = event.name,
            .category = event.category};
  if (event.data != nullptr && event.data->debug_annotations_size() > 0) {
    block_.clear();
    end_parser_.append({.phase = 'b',
                        .name = end_parser_.intern(std::string_view{}),
                        .category = {},
                        .track = {},
                        .ts_ns = 0,
                        .flow_id = kAbsent,
                        .args = args_.write(event.data->debug_annotations(), event.sequence, {})},
                       0, block_);
    if (!block_.details.empty()) mark.end_args = block_.details.front().text;
  }
  add_mark(mark);
}

void PacketDecoder::add_mark(Mark& mark) {
  mark.order = mark_count_++;
  if (!mark.is_end) mark.row.count_in(argument_counts_);
  marks(tracks_.place(mark.track)).add(mark);
}

}  // namespace tracelens::perfetto
