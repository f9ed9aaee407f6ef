#include "readers/perfetto/packets.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "io/check.hpp"

namespace tracelens::perfetto {
namespace {

constexpr std::size_t kLongestVarint = 10;
constexpr std::size_t kLongestHead = 2 * kLongestVarint;

enum WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

HeadState read_varint(std::string_view bytes, std::uint64_t& at, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 7 * kLongestVarint; shift += 7) {
    if (at >= bytes.size()) return HeadState::kCut;
    const auto byte = static_cast<std::uint8_t>(bytes[at++]);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return HeadState::kRead;
  }
  return HeadState::kDamaged;
}

}  // namespace

HeadState read_field_head(std::string_view bytes, FieldHead& head) {
  std::uint64_t at = 0, key = 0, length = 0;
  if (const HeadState state = read_varint(bytes, at, key); state != HeadState::kRead) return state;
  if (key >> 3 == 0 || key >> 32 != 0) return HeadState::kDamaged;
  head = {.number = key >> 3};
  switch (key & 7) {
    case kVarint:
      if (const auto state = read_varint(bytes, at, length); state != HeadState::kRead)
        return state;
      break;
    case kFixed64:
      head.body_bytes = 8;
      break;
    case kFixed32:
      head.body_bytes = 4;
      break;
    case kBytes:
      if (const auto state = read_varint(bytes, at, length); state != HeadState::kRead)
        return state;
      head.body_bytes = length;
      head.has_length = true;
      break;
    default:
      return HeadState::kDamaged;
  }
  head.head_bytes = at;
  return HeadState::kRead;
}

PacketStream::PacketStream(io::Stream& in, std::size_t block_bytes)
    : in_{in}, block_bytes_{std::max<std::size_t>(block_bytes, kLongestHead)} {}

bool PacketStream::fill(std::size_t count) {
  while (buffered() < count && !is_at_end_) {
    if (begin_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + begin_, buffered());
      end_ = buffered();
      begin_ = 0;
    }
    // By doubling: the length of a packet is only a claim until its bytes are there.
    if (end_ == buffer_.size()) buffer_.resize(std::max(block_bytes_, 2 * buffer_.size()));
    const std::size_t got = in_.read(std::span{buffer_}.subspan(end_));
    is_at_end_ = got < buffer_.size() - end_;
    end_ += got;
  }
  return buffered() >= count;
}

void PacketStream::take(std::size_t count) {
  TL_CHECK(count <= buffered());
  begin_ += count;
  next_byte_ += count;
}

bool PacketStream::skip(std::uint64_t count) {
  while (count > 0) {
    if (buffered() == 0 && !fill(1)) return false;
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(count, buffered()));
    take(step);
    count -= step;
  }
  return true;
}

std::optional<Packet> PacketStream::next() {
  while (!damage_) {
    fill(kLongestHead);  // fewer bytes may do, at the end of the file
    if (buffered() == 0) return std::nullopt;
    const std::uint64_t record_byte = next_byte_;
    FieldHead head;
    if (const HeadState state = read_field_head(view(), head); state != HeadState::kRead) {
      damage_ = {state == HeadState::kCut ? "file ends inside a packet"
                                          : "bytes that are no packet; nothing after them was read",
                 record_byte};
      skip(std::numeric_limits<std::uint64_t>::max());  // so that bytes_read() is the whole file
      break;
    }
    take(head.head_bytes);
    const bool is_too_long = head.body_bytes > kLongestPacket;
    if (head.is_packet() && !is_too_long) {
      const auto size = static_cast<std::size_t>(head.body_bytes);
      if (fill(size)) {
        const Packet packet{view().substr(0, size), record_byte};
        take(size);
        return packet;
      }
      damage_ = {"file ends inside a packet", record_byte};
    } else if (!skip(head.body_bytes)) {
      damage_ = {"file ends inside a packet", record_byte};
    } else if (head.is_packet()) {
      if (skipped_++ == 0) first_skipped_byte_ = record_byte;
    }
  }
  return std::nullopt;
}

}  // namespace tracelens::perfetto
