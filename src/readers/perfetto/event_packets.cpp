#include "readers/perfetto/event_packets.hpp"

#include <limits>

#include "readers/kit/wire.hpp"
#include "trace/string_table.hpp"

namespace tracelens::perfetto {
namespace {

constexpr std::uint32_t kClearsState = 1;  // of TracePacket.sequence_flags
// Far more than an event has. An argument takes up to ten times its bytes, and that room is kept.
constexpr std::size_t kLongestEvent = std::size_t{16} << 10;

// Nearly all arguments: an interned name, and an unsigned number.
bool read_small_arg(std::string_view bytes, EventArg& arg) {
  SmallMessage small;
  if (!read_small_message(bytes, small) || small.id == 0 || small.tag != SmallMessage::varint(3))
    return false;
  arg.name_iid = small.id;
  arg.kind = EventArg::Kind::kUint;
  arg.number = small.number;
  return true;
}

// An annotation that libprotobuf would have to look at: one with two values, nested ones, ...
bool read_arg(std::string_view bytes, EventArg& arg) {
  using Kind = EventArg::Kind;
  int names = 0, values = 0;
  Wire wire{bytes};
  const auto take = [&](Kind kind, bool is_right, const WireField& field) {
    arg.kind = kind;
    arg.number = field.integer;
    ++values;
    return is_right;
  };
  for (WireField field; wire.next(field);) {
    bool is_fine = true;
    switch (field.number) {
      case 1:
        is_fine = field.is_integer && field.integer != 0 &&
                  field.integer <= std::numeric_limits<std::uint32_t>::max();
        arg.name_iid = static_cast<std::uint32_t>(field.integer);
        ++names;
        break;
      case 10:
        is_fine = field.has_bytes;
        arg.name = field.bytes;
        ++names;
        break;
      case 2:
        is_fine = take(Kind::kBool, field.is_integer, field);
        break;
      case 3:
        is_fine = take(Kind::kUint, field.is_integer, field);
        break;
      case 4:
        is_fine = take(Kind::kInt, field.is_integer, field);
        break;
      case 5:
        is_fine = take(Kind::kReal, field.is_double, field);
        break;
      case 6:
        is_fine = take(Kind::kText, field.has_bytes, field);
        arg.number = 0;
        arg.text = field.bytes;
        break;
      case 7:
        is_fine = take(Kind::kPointer, field.is_integer, field);
        break;
      case 17:
        is_fine = take(Kind::kInternedText, field.is_integer, field);
        break;
      case 8:
      case 9:
      case 11:
      case 12:
        return false;
      default:
        break;  // something newer
    }
    if (!is_fine) return false;
  }
  return !wire.is_damaged() && names == 1 && values == 1;
}

std::uint64_t hash_of(const EventArg& arg) {
  const std::uint64_t name = arg.name_iid != 0 ? arg.name_iid : hash_text(arg.name);
  return name << 3 ^ static_cast<std::uint64_t>(arg.kind);
}

}  // namespace

void EventPackets::clear() {
  packets_.clear();
  args_.clear();
  flows_.clear();
}

void EventPackets::reserve(std::size_t packets, std::size_t args) {
  packets_.reserve(packets);
  args_.reserve(args);
}

bool EventPackets::add(std::string_view bytes) {
  if (bytes.size() > kLongestEvent) return false;
  EventPacket packet{.bytes = bytes,
                     .first_arg = static_cast<std::uint32_t>(args_.size()),
                     .first_flow = static_cast<std::uint32_t>(flows_.size())};
  std::string_view event;
  bool has_event = false, has_time = false, is_fine = true;
  Wire wire{bytes};
  for (WireField field; is_fine && wire.next(field);) switch (field.number) {
      case 8:
        is_fine = field.is_integer;
        packet.timestamp = field.integer;
        has_time = true;
        break;
      case 10:
        is_fine = field.is_integer;
        packet.sequence = static_cast<std::uint32_t>(field.integer);
        break;
      case 11:  // a second one would be joined with the first
        is_fine = field.has_bytes && !has_event;
        event = field.bytes;
        has_event = true;
        break;
      case 13:
        is_fine = field.is_integer;
        packet.sequence_flags = static_cast<std::uint32_t>(field.integer);
        break;
      case 58:
        is_fine = field.is_integer;
        packet.clock = static_cast<std::uint32_t>(field.integer);
        break;
      case 6:
      case 12:
      case 41:
      case 42:
      case 44:
      case 50:
      case 59:
      case 60:
      case 133:  // what changes the meaning of other packets, and packets of packets
        is_fine = false;
        break;
      default:
        break;
    }
  is_fine = is_fine && !wire.is_damaged() && has_event && has_time &&
            (packet.sequence_flags & kClearsState) == 0 && read_event(event, packet);
  if (!is_fine) {
    args_.resize(packet.first_arg);
    flows_.resize(packet.first_flow);
    return false;
  }
  packet.args = static_cast<std::uint32_t>(args_.size()) - packet.first_arg;
  packet.flows = static_cast<std::uint32_t>(flows_.size()) - packet.first_flow;
  packets_.push_back(packet);
  return true;
}

bool EventPackets::read_event(std::string_view bytes, EventPacket& packet) {
  int categories = 0;
  Wire wire{bytes};
  for (WireField field; wire.next(field);) {
    bool is_fine = true;
    switch (field.number) {
      case 3:
        is_fine = field.is_integer && field.integer != 0;
        packet.category_iid = field.integer;
        ++categories;
        break;
      case 4:
        is_fine = field.has_bytes && (read_small_arg(field.bytes, args_.emplace_back()) ||
                                      read_arg(field.bytes, args_.back()));
        if (is_fine) packet.shape = mix_hash(packet.shape, hash_of(args_.back()));
        break;
      case 9:
        is_fine = field.is_integer && field.integer >= 1 && field.integer <= 3;
        packet.type = static_cast<EventPacket::Type>(field.integer);
        break;
      case 10:
        is_fine = field.is_integer;
        packet.name_iid = field.integer;
        break;
      case 11:
        is_fine = field.is_integer;
        packet.track_uuid = field.integer;
        packet.has_track = true;
        break;
      case 22:
        is_fine = field.has_bytes;
        packet.category = field.bytes;
        packet.has_category = true;
        ++categories;
        break;
      case 23:
        is_fine = field.has_bytes;
        packet.name = field.bytes;
        packet.has_name = true;
        break;
      case 36:
      case 42:  // flows in the older form
        is_fine = field.is_integer;
        flows_.push_back({field.integer, field.number == 42});
        break;
      case 47:
      case 48:
        is_fine = field.is_double;
        flows_.push_back({field.integer, field.number == 48});
        break;
      case 1:
      case 6:
      case 16:
      case 30:
      case 44:  // older events and counters
        return false;
      default:
        break;
    }
    if (!is_fine) return false;
  }
  const bool is_end = packet.type == EventPacket::Type::kEnd;
  return !wire.is_damaged() && packet.type != EventPacket::Type::kNone && categories <= 1 &&
         (!is_end || args_.size() == packet.first_arg);
}

}  // namespace tracelens::perfetto
