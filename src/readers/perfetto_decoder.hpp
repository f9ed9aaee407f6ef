// perfetto_decoder.hpp: packets in file order become slices, tracks and rows of a trace.
//   PacketDecoder decoder{builder};
//   while (const auto packet = packets.next()) decoder.decode(packet->bytes, packet->byte);
//   export_events(decoder, builder);                       // perfetto_events.hpp
// Every slice is one row of the builder from the moment its begin is read: name, category, begin
// and arguments. Length, thread and place in the order are filled in by export_events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "readers/kineto_columns.hpp"
#include "readers/kineto_event.hpp"
#include "readers/perfetto_args.hpp"
#include "readers/perfetto_clocks.hpp"
#include "readers/perfetto_counters.hpp"
#include "readers/perfetto_sequence.hpp"
#include "readers/perfetto_slices.hpp"
#include "readers/perfetto_tracks.hpp"
#include "trace/builder.hpp"

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
  // After the last packet: all rows are in the builder, and the warnings complete.
  void finish();

  // --- what has been read, for export_events ---
  [[nodiscard]] SliceStack& slices() { return slices_; }
  [[nodiscard]] const TrackTable& tracks() const { return tracks_; }
  [[nodiscard]] Texts& texts() { return texts_; }
  // Appends one event that is no slice; it is in the builder after flush().
  EventId append(const kineto::GivenEvent& event);
  void flush();
  // What is kept of JSON arguments, as JSON again; empty when nothing is.
  [[nodiscard]] std::string kept_args(std::string_view args);
  [[nodiscard]] const std::string& end_args(std::uint32_t id) const { return end_args_[id]; }

  [[nodiscard]] const Counters& counters() const { return counters_; }

  // An older flow event, which stands by itself: "s", "t" or "f" at a time on a thread.
  struct LegacyFlow {
    char phase = 's';
    std::uint64_t id = 0;
    Slice at;  // name, category, time, track and thread
  };
  [[nodiscard]] const std::vector<LegacyFlow>& legacy_flows() const { return legacy_flows_; }

 private:
  struct Event;  // a track event with its names looked up
  void decode(std::string_view packet, std::uint64_t byte, bool is_inner);
  void unpack(const proto::TracePacket& packet, std::uint64_t byte, bool is_inner);
  Sequence& update_sequence(const proto::TracePacket& packet, std::uint64_t byte);
  void intern(const proto::TracePacket& packet, Sequence& sequence);
  void describe(const proto::TracePacket& packet, Sequence& sequence);
  void add_event(const proto::TracePacket& packet, Sequence& sequence, std::int64_t ts_ns,
                 std::uint64_t byte);
  void add_legacy_event(Event& event, std::uint64_t byte);
  void begin_slice(const Event& event, std::int64_t dur_ns, std::uint64_t byte);
  void end_slice(const Event& event);
  // The name of a track as far as it is known, escaped as in JSON; empty: none.
  [[nodiscard]] std::string_view escaped_name(std::uint32_t track);
  [[nodiscard]] std::uint32_t category_of(const proto::TrackEvent& event, const Sequence& sequence);
  [[nodiscard]] std::uint32_t name_of(const proto::TrackEvent& event, const Sequence& sequence,
                                      std::uint64_t byte);
  [[nodiscard]] std::uint32_t track_of(const proto::TrackEvent& event, const Sequence& sequence);
  void warn(std::string_view what, std::uint64_t byte) { builder_.warnings().add(what, byte); }

  TraceBuilder& builder_;
  kineto::EventParser parser_;
  kineto::BlockMerger merger_{parser_, builder_};
  kineto::ParsedBlock block_;  // rows that are not in the builder yet
  Texts texts_{parser_};
  ArgsWriter args_{texts_};
  Clocks clocks_;
  TrackTable tracks_;
  SliceStack slices_;
  std::unordered_map<std::uint32_t, Sequence> sequences_;
  std::vector<std::string> end_args_;
  std::vector<std::uint32_t> track_names_;  // by track, in Texts; kNone: not known so far
  Counters counters_;
  std::vector<LegacyFlow> legacy_flows_;
  std::unique_ptr<proto::TracePacket> packet_, inner_packet_;  // kept: their memory is used again
  std::string scratch_;
};

}  // namespace tracelens::perfetto
