#include "readers/perfetto/decoder.hpp"

#include <optional>

#include "perfetto.pb.h"
#include "readers/kit/time_limits.hpp"
#include "readers/perfetto/packets.hpp"
#include "readers/perfetto/unpack.hpp"

namespace tracelens::perfetto {
namespace {

// A sequence is a thread that writes packets. More are no trace, only a way to fill the memory.
constexpr std::size_t kMostSequences = std::size_t{1} << 16;
constexpr std::uint32_t kStateCleared = 1, kNeedsState = 2;  // TracePacket.sequence_flags

std::optional<std::int64_t> us_to_ns(std::int64_t us) {
  if (us > kLatestNs / 1000 || us < -kLatestNs / 1000) return std::nullopt;
  return us * 1000;
}

}  // namespace

PacketDecoder::PacketDecoder(TraceBuilder& builder)
    : builder_{builder},
      packet_{std::make_unique<proto::TracePacket>()},
      inner_packet_{std::make_unique<proto::TracePacket>()} {}

PacketDecoder::~PacketDecoder() = default;

void PacketDecoder::decode(std::string_view bytes, std::uint64_t byte) {
  if (packet_->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    decode(*packet_, byte);
  else
    warn("packet that cannot be read", byte);
}

void PacketDecoder::decode(const EventPackets& packets, const EventPacket& packet,
                           std::uint64_t byte) {
  if (!apply(packets, packet, byte)) decode(packet.bytes, byte);
}

void PacketDecoder::decode(const proto::TracePacket& packet, std::uint64_t byte) {
  if (packet.has_compressed_packets() || packet.has_zstd_compressed_packets())
    unpack(packet, byte);
  else
    apply(packet, byte);
}

void PacketDecoder::unpack(const proto::TracePacket& packet, std::uint64_t byte) {
  const auto packets = packet.has_compressed_packets()
                           ? inflate_packets(packet.compressed_packets())
                           : unpack_zstd_packets(packet.zstd_compressed_packets());
  if (!packets) return warn("packed packet that is damaged or too large, which is not read", byte);
  const auto decode_inner = [&](std::string_view bytes) {
    inner_events_.clear();
    if (inner_events_.add(bytes) && apply(inner_events_, inner_events_.all().front(), byte)) return;
    proto::TracePacket& inner = *inner_packet_;
    // The service packs once. A packet inside a packed one that is packed again is no trace, only a
    // way to make a small file large.
    if (!inner.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
      warn("packet that cannot be read", byte);
    else if (inner.has_compressed_packets() || inner.has_zstd_compressed_packets())
      warn("packed packet inside a packed packet, which is not read", byte);
    else
      apply(inner, byte);
  };
  if (!for_each_packet(*packets, decode_inner))
    warn("packed packet that ends inside a packet", byte);
}

bool PacketDecoder::apply(const EventPackets& packets, const EventPacket& packet,
                          std::uint64_t byte) {
  Sequence* const sequence = find_sequence(packet.sequence);
  if (sequence == nullptr) return false;
  if ((packet.sequence_flags & kNeedsState) != 0 && !sequence->is_valid) return false;
  const bool is_end = packet.type == EventPacket::Type::kEnd;
  const auto args = packets.args(packet);
  const ArgShape* const shape = is_end ? nullptr : rows_.shape(packet.shape, args, *sequence);
  if (!is_end && shape == nullptr) return false;
  const auto text_of = [&](bool has_text, std::string_view text, const InternedTexts& interned,
                           std::uint64_t iid, std::uint32_t& id) {
    if (has_text)
      id = texts_.intern(text);
    else if (iid != 0)
      id = interned.find(iid);
    return id != kNone || (!has_text && iid == 0);
  };
  Event event{.data = nullptr, .sequence = *sequence};
  if (!text_of(packet.has_name, packet.name, sequence->names, packet.name_iid, event.name) ||
      !text_of(packet.has_category, packet.category, sequence->categories, packet.category_iid,
               event.category))
    return false;

  // Nothing of the above leaves a trace; the rest is as for any packet.
  const auto ts_ns = time_of(packet.timestamp, packet.clock, *sequence, true, byte);
  if (!ts_ns) {
    warn("event without a usable time", byte);
    return true;
  }
  event.ts_ns = *ts_ns;
  event.track = packet.has_track ? tracks_.index(packet.track_uuid) : default_track(*sequence);
  if (is_end) {
    end_slice(event);
    return true;
  }
  const std::uint32_t track_name = escaped_name_id(event.track);
  const MarkRow row =
      rows_.row(*shape, {.args = args,
                         .sequence = *sequence,
                         .name = event.name != kNone ? event.name : texts_.intern({}),
                         .category = event.category,
                         .track_name = track_name,
                         .ts_ns = event.ts_ns});
  const std::int64_t dur_ns = packet.type == EventPacket::Type::kInstant ? 0 : Mark::kOpen;
  const Mark mark = add_begin(event, dur_ns, track_name != kNone, row);
  for (const EventFlow& flow : packets.flows(packet)) flows_.add(flow.id, flow.is_last, mark);
  return true;
}

Sequence* PacketDecoder::find_sequence(std::uint32_t id) {
  if (last_sequence_ != nullptr && last_sequence_id_ == id) return last_sequence_;
  const auto found = sequences_.find(id);
  if (found == sequences_.end()) return nullptr;
  last_sequence_id_ = id;
  return last_sequence_ = &found->second;
}

std::optional<std::int64_t> PacketDecoder::time_of(std::uint64_t timestamp, std::uint32_t clock,
                                                   Sequence& sequence, bool is_event,
                                                   std::uint64_t byte) {
  if (clock == 0) clock = sequence.default_clock != 0 ? sequence.default_clock : kBoottime;
  const auto time = clocks_.trace_ns(timestamp, clock, sequence.clocks);
  if (!time) return std::nullopt;
  if (!time->is_converted && is_event)
    warn("time of a clock that no snapshot explains, taken as it is", byte);
  return time->ns;
}

void PacketDecoder::apply(const proto::TracePacket& packet, std::uint64_t byte) {
  Sequence& sequence = update_sequence(packet, byte);
  if (packet.has_clock_snapshot() &&
      !clocks_.add_snapshot(packet.clock_snapshot(), sequence.clocks))
    warn("clock snapshot without a clock of the machine, which is not used", byte);
  if ((packet.sequence_flags() & kNeedsState) != 0 && !sequence.is_valid)
    return warn("packet that needs lost packets to be understood", byte);

  std::optional<std::int64_t> ts_ns;
  if (packet.has_timestamp()) {
    ts_ns = time_of(packet.timestamp(), packet.timestamp_clock_id(), sequence,
                    packet.has_track_event(), byte);
  } else if (packet.track_event().has_timestamp_delta_us()) {
    if (__builtin_add_overflow(sequence.legacy_time_us, packet.track_event().timestamp_delta_us(),
                               &sequence.legacy_time_us))
      sequence.legacy_time_us = kAbsent;
    ts_ns = us_to_ns(sequence.legacy_time_us);
  } else if (packet.track_event().has_timestamp_absolute_us()) {
    ts_ns = us_to_ns(packet.track_event().timestamp_absolute_us());
  }
  describe(packet, sequence);
  if (!packet.has_track_event()) return;
  if (!ts_ns) return warn("event without a usable time", byte);
  add_event(packet, sequence, *ts_ns, byte);
}

Sequence& PacketDecoder::update_sequence(const proto::TracePacket& packet, std::uint64_t byte) {
  // A packet without a sequence (id 0) has nothing to refer to: its state never becomes valid.
  std::uint32_t id = packet.trusted_packet_sequence_id();
  if (sequences_.size() >= kMostSequences && !sequences_.contains(id)) {
    warn("packet of one sequence too many, taken as one without a sequence", byte);
    id = 0;
  }
  const auto [entry, is_new] = sequences_.try_emplace(id);
  Sequence& sequence = entry->second;
  const bool has_id = id != 0;
  // The mark also stands on the first packet of a sequence, before which there was nothing to lose.
  if (packet.previous_packet_dropped() != 0 && !is_new && !packet.first_packet_on_sequence())
    warn("packets were lost while recording (the trace buffer was full)", byte);
  if ((packet.sequence_flags() & kStateCleared) != 0 || packet.incremental_state_cleared()) {
    sequence.clear();
    sequence.is_valid = has_id;
  } else if (packet.previous_packet_dropped() != 0) {
    sequence.is_valid = false;
  }
  if (packet.has_trace_packet_defaults() && has_id) {
    const auto& defaults = packet.trace_packet_defaults();
    sequence.default_clock = defaults.timestamp_clock_id();
    sequence.default_track.reset();
    if (defaults.track_event_defaults().has_track_uuid())
      sequence.default_track = defaults.track_event_defaults().track_uuid();
  }
  if (packet.has_interned_data() && sequence.is_valid) intern(packet, sequence);
  return sequence;
}

void PacketDecoder::intern(const proto::TracePacket& packet, Sequence& sequence) {
  const auto& data = packet.interned_data();
  for (const auto& entry : data.event_categories())
    sequence.categories.set(entry.iid(), texts_.intern(entry.text()));
  for (const auto& entry : data.event_names())
    sequence.names.set(entry.iid(), texts_.intern(entry.text()));
  for (const auto& entry : data.debug_annotation_names())
    sequence.annotation_names.set(entry.iid(), texts_.intern_key(entry.text()));
  for (const auto& entry : data.debug_annotation_string_values())
    sequence.string_values.set(entry.iid(), texts_.intern(entry.text()));
}

void PacketDecoder::describe(const proto::TracePacket& packet, Sequence& sequence) {
  if (packet.has_track_descriptor()) {
    const proto::TrackDescriptor& descriptor = packet.track_descriptor();
    tracks_.describe(descriptor);
    if (descriptor.thread().has_pid() && descriptor.thread().has_tid() && sequence.is_valid)
      sequence.thread_track =
          tracks_.thread_track({descriptor.thread().pid(), descriptor.thread().tid()});
  }
  if (packet.has_thread_descriptor()) {  // before there were track descriptors
    const auto& thread = packet.thread_descriptor();
    const ThreadKey key{thread.pid(), thread.tid()};
    tracks_.name_thread(key, thread.thread_name());
    sequence.thread_track = tracks_.thread_track(key);
    sequence.legacy_time_us = thread.reference_timestamp_us();
  }
}

std::size_t PacketDecoder::slices() const {
  std::size_t slices = 0;
  for (const MarkLog& log : marks_) slices += log.begins();
  return slices;
}

void PacketDecoder::finish() {
  rows_.clear();
  if (args_.dropped() > 0)
    builder_.warnings().add("argument whose name or text is not in the trace", 0, args_.dropped());
}

}  // namespace tracelens::perfetto
