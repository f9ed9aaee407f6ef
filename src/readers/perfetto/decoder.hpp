// decoder.hpp: packets in file order become begins, ends, flows and tracks.
//   PacketDecoder decoder{builder};
//   while (const auto packet = packets.next()) decoder.decode(packet->bytes, packet->byte);
//   export_events(decoder, builder, threads);              // events.hpp
// The builder only gets warnings here: no row of the trace can be made before all is read.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <unordered_map>
#include <vector>

#include "readers/kineto/event.hpp"
#include "readers/perfetto/args.hpp"
#include "readers/perfetto/clocks.hpp"
#include "readers/perfetto/counters.hpp"
#include "readers/perfetto/event_packets.hpp"
#include "readers/perfetto/flows.hpp"
#include "readers/perfetto/marks.hpp"
#include "readers/perfetto/row_memo.hpp"
#include "readers/perfetto/sequence.hpp"
#include "readers/perfetto/tracks.hpp"

namespace tracelens::perfetto {

namespace proto {
class TracePacket;
class TrackEvent;
}  // namespace proto

class PacketDecoder {
 public:
  explicit PacketDecoder(TraceBuilder& builder);
  ~PacketDecoder();
  PacketDecoder(const PacketDecoder&) = delete;
  PacketDecoder& operator=(const PacketDecoder&) = delete;

  // `byte` is the position of the packet in the file, for messages. Never throws on bad input: what
  // cannot be used is counted in the builder's warnings.
  void decode(std::string_view packet, std::uint64_t byte);
  void decode(const EventPackets& packets, const EventPacket& packet, std::uint64_t byte);
  void decode(const proto::TracePacket& packet, std::uint64_t byte);
  // After the last packet: the warnings are complete.
  void finish();

  // --- what has been read, for export_events ---
  // Marks of tracks in this place, as far as was known when they were read.
  [[nodiscard]] MarkLog& marks(TrackTable::Place place) {
    return marks_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] std::size_t slices() const;  // how many begins were read
  [[nodiscard]] const ArgumentCounts& argument_counts() const { return argument_counts_; }
  [[nodiscard]] FlowLog& flows() { return flows_; }
  [[nodiscard]] const TrackTable& tracks() const { return tracks_; }
  [[nodiscard]] kineto::EventParser& parser() { return parser_; }
  [[nodiscard]] Texts& texts() { return texts_; }
  // What is kept of the arguments that came with an end, as JSON.
  [[nodiscard]] std::string_view end_args(std::uint32_t id) const {
    return end_parser_.json_texts().text({id});
  }
  // The name of a track as far as it is known, escaped as in JSON; empty: none.
  [[nodiscard]] std::string_view escaped_name(std::uint32_t track);
  [[nodiscard]] const Counters& counters() const { return counters_; }

  // An older flow event, which stands by itself: "s", "t" or "f" at a time on a thread.
  struct LegacyFlow {
    char phase = 's';
    std::uint64_t id = 0;
    std::int64_t ts_ns = 0;
    std::uint32_t track = 0, thread = kNone;       // where, and who wrote it
    std::uint32_t name = kNone, category = kNone;  // in Texts
  };
  [[nodiscard]] const std::vector<LegacyFlow>& legacy_flows() const { return legacy_flows_; }

 private:
  // A track event with its names looked up.
  struct Event {
    const proto::TrackEvent* data;  // null: none of its parts is needed any more
    Sequence& sequence;
    std::int64_t ts_ns = 0;
    std::uint32_t track = 0, name = kNone, category = kNone;
  };
  // False, and nothing has happened, when the packet is better left to libprotobuf.
  bool apply(const EventPackets& packets, const EventPacket& packet, std::uint64_t byte);
  void unpack(const proto::TracePacket& packet, std::uint64_t byte);
  void apply(const proto::TracePacket& packet, std::uint64_t byte);
  // No value when it has not been met.
  [[nodiscard]] Sequence* find_sequence(std::uint32_t id);
  // Of an event of a sequence, in this clock (0: the sequence's own).
  [[nodiscard]] std::optional<std::int64_t> time_of(std::uint64_t timestamp, std::uint32_t clock,
                                                    Sequence& sequence, bool is_event,
                                                    std::uint64_t byte);
  Sequence& update_sequence(const proto::TracePacket& packet, std::uint64_t byte);
  void intern(const proto::TracePacket& packet, Sequence& sequence);
  void describe(const proto::TracePacket& packet, Sequence& sequence);
  void add_event(const proto::TracePacket& packet, Sequence& sequence, std::int64_t ts_ns,
                 std::uint64_t byte);
  void add_legacy_event(Event& event, std::uint64_t byte);
  void begin_slice(const Event& event, std::int64_t dur_ns, std::uint64_t byte);
  // Gives the mark.
  Mark add_begin(const Event& event, std::int64_t dur_ns, bool has_track_name, const MarkRow& row);
  void end_slice(const Event& event);
  void add_mark(Mark& mark);
  // The process of an older event.
  [[nodiscard]] std::int32_t pid_of(const proto::TrackEvent& event, const Sequence& sequence) const;
  [[nodiscard]] std::uint32_t category_of(const proto::TrackEvent& event, const Sequence& sequence);
  [[nodiscard]] std::uint32_t name_of(const proto::TrackEvent& event, const Sequence& sequence,
                                      std::uint64_t byte);
  [[nodiscard]] std::uint32_t track_of(const proto::TrackEvent& event, const Sequence& sequence);
  // Of an event that names no track.
  [[nodiscard]] std::uint32_t default_track(const Sequence& sequence);
  [[nodiscard]] std::uint32_t escaped_name_id(std::uint32_t track);  // in Texts; kNone: none
  void warn(std::string_view what, std::uint64_t byte) { builder_.warnings().add(what, byte); }

  TraceBuilder& builder_;
  kineto::EventParser parser_{builder_.strings()};
  kineto::ParsedBlock block_;  // the event at hand
  Texts texts_{parser_};
  ArgsWriter args_{texts_};
  RowMemo rows_{texts_, parser_};
  Clocks clocks_;
  TrackTable tracks_;
  std::array<MarkLog, 3> marks_;  // by place of the track
  std::uint64_t mark_count_ = 0;
  ArgumentCounts argument_counts_;
  FlowLog flows_;
  std::unordered_map<std::uint32_t, Sequence> sequences_;
  Sequence* last_sequence_ = nullptr;  // that find_sequence() gave
  std::uint32_t last_sequence_id_ = 0;
  kineto::EventParser end_parser_;  // of arguments that come with ends: no texts of the trace
  std::vector<std::uint32_t> track_names_;  // by track, in Texts; kNone: not known so far
  Counters counters_;
  std::vector<LegacyFlow> legacy_flows_;
  std::unique_ptr<proto::TracePacket> packet_, inner_packet_;  // kept: their memory is used again
  EventPackets inner_events_;
  std::string scratch_;
};

}  // namespace tracelens::perfetto
