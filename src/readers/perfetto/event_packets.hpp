// event_packets.hpp: packets that hold one event in the usual form, read from their bytes.
//   EventPackets packets;
//   if (!packets.add(bytes)) ...                     // another kind: libprotobuf has to read it
//   for (const EventPacket& packet : packets.all()) use(packet, packets.args(packet));
// Nearly all packets of a file begin or end a slice, with arguments that are numbers and texts. These
// need no message objects and nothing that other packets have told, so that several threads can
// read them. Whatever is accepted here means the same to libprotobuf. Views are of the bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tracelens::perfetto {

// A debug annotation with a plain value.
struct EventArg {
  enum class Kind : std::uint8_t { kBool, kUint, kInt, kReal, kText, kPointer, kInternedText };
  std::string_view name = {};  // when it is not interned
  std::uint32_t name_iid = 0;  // 0: `name`
  Kind kind = Kind::kBool;
  std::uint64_t number = 0;    // the value, or its bits
  std::string_view text = {};  // of a kText

  [[nodiscard]] std::int64_t as_signed() const { return static_cast<std::int64_t>(number); }
  [[nodiscard]] double as_real() const { return std::bit_cast<double>(number); }
  [[nodiscard]] bool is_integer() const { return kind == Kind::kUint || kind == Kind::kInt; }
};

struct EventFlow {
  std::uint64_t id = 0;
  bool is_last = false;
};

struct EventPacket {
  enum class Type : std::uint8_t { kNone, kBegin, kEnd, kInstant };  // as TrackEvent counts them
  std::string_view bytes = {};                                       // the packet
  std::uint64_t timestamp = 0;
  std::uint32_t clock = 0;  // 0: the default
  std::uint32_t sequence = 0, sequence_flags = 0;
  Type type = Type::kNone;
  bool has_track = false, has_name = false, has_category = false;  // the texts
  std::uint64_t track_uuid = 0;
  std::uint64_t name_iid = 0, category_iid = 0;  // 0: none
  std::string_view name = {}, category = {};
  std::uint32_t first_arg = 0, args = 0, first_flow = 0, flows = 0;
  std::uint64_t shape = 0;  // a hash of the names of its arguments, and of their kinds
};

class EventPackets {
 public:
  // False, and nothing is added, when the packet is of another kind, very long or damaged.
  bool add(std::string_view packet);
  void clear();
  void reserve(std::size_t packets, std::size_t args);

  [[nodiscard]] std::span<const EventPacket> all() const { return packets_; }
  [[nodiscard]] std::span<const EventArg> args(const EventPacket& packet) const {
    return std::span{args_}.subspan(packet.first_arg, packet.args);
  }
  [[nodiscard]] std::span<const EventFlow> flows(const EventPacket& packet) const {
    return std::span{flows_}.subspan(packet.first_flow, packet.flows);
  }

 private:
  bool read_event(std::string_view bytes, EventPacket& packet);

  std::vector<EventPacket> packets_;
  std::vector<EventArg> args_;
  std::vector<EventFlow> flows_;
};

}  // namespace tracelens::perfetto
