// packets.hpp: a .pftrace file as a stream of packets, never as a whole.
//   PacketStream packets{in, options.block_bytes};
//   while (const auto packet = packets.next()) decode(packet->bytes, packet->byte);
//   if (packets.damage()) ...                    // why the file could not be read to its end
// Memory is one block plus one packet, whatever the size of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "io/stream.hpp"

namespace tracelens::perfetto {

// Producers write packets of some hundred bytes, and at most a few MiB. Longer ones are skipped: a
// decoded packet can take fifty times its bytes.
inline constexpr std::uint64_t kLongestPacket = std::uint64_t{8} << 20;

// The start of one field of a protobuf message, up to its body. The file is a message, too: of
// packets, and of fields that nobody knows.
struct FieldHead {
  std::uint64_t number = 0;
  bool has_length = false;  // a text, or a message
  std::uint64_t head_bytes = 0, body_bytes = 0;
  [[nodiscard]] bool is_packet() const { return number == 1 && has_length; }
};
enum class HeadState : std::uint8_t { kRead, kCut, kDamaged };
[[nodiscard]] HeadState read_field_head(std::string_view bytes, FieldHead& head);

struct Packet {
  std::string_view bytes;  // valid until the next one is asked for
  std::uint64_t byte = 0;  // where it starts in the unpacked file
};

class PacketStream {
 public:
  PacketStream(io::Stream& in, std::size_t block_bytes);

  // No value at the end of the file, or where it cannot be read on.
  std::optional<Packet> next();

  struct Damage {
    std::string_view what;
    std::uint64_t byte = 0;
  };
  [[nodiscard]] const std::optional<Damage>& damage() const { return damage_; }
  [[nodiscard]] std::uint64_t skipped_packets() const { return skipped_; }
  [[nodiscard]] std::uint64_t first_skipped_byte() const { return first_skipped_byte_; }
  // All bytes of the file, once next() has given no value.
  [[nodiscard]] std::uint64_t bytes_read() const { return next_byte_ + buffered(); }

 private:
  [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }
  [[nodiscard]] std::string_view view() const { return {buffer_.data() + begin_, buffered()}; }
  // Reads on until `count` bytes are buffered; false when the file ends first.
  bool fill(std::size_t count);
  void take(std::size_t count);
  bool skip(std::uint64_t count);

  io::Stream& in_;
  std::size_t block_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is buffered
  std::uint64_t next_byte_ = 0;      // position of begin_ in the file
  std::uint64_t skipped_ = 0, first_skipped_byte_ = 0;
  bool is_at_end_ = false;
  std::optional<Damage> damage_;
};

// Calls `visit(packet_bytes)` for each packet in `bytes`, the content of a compressed packet. False
// when the bytes end or go wrong before the last one is whole.
template <class Visit>
bool for_each_packet(std::string_view bytes, Visit&& visit) {
  while (!bytes.empty()) {
    FieldHead head;
    if (read_field_head(bytes, head) != HeadState::kRead) return false;
    bytes.remove_prefix(head.head_bytes);
    if (head.body_bytes > bytes.size()) return false;
    if (head.is_packet() && head.body_bytes <= kLongestPacket)
      visit(bytes.substr(0, head.body_bytes));
    bytes.remove_prefix(head.body_bytes);
  }
  return true;
}

}  // namespace tracelens::perfetto
