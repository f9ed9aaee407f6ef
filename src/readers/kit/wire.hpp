// wire.hpp: walking over protobuf messages of any size without decoding what is not wanted.
//   Wire plane{bytes};
//   for (WireField field; plane.next(field);)
//     if (field.number == 3) lines.push_back(field.bytes);
//   if (plane.is_damaged()) ...                       // ended inside a field
// Why by hand: libprotobuf decodes a whole message into memory, several times the file, and none
// above 2 GB. Here a file is looked at event by event. libprotobuf is the judge in the fuzzers:
// what is damaged for it is damaged here, too, and groups are, which no trace has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tracelens {

struct WireField {
  std::uint32_t number = 0;
  std::uint64_t integer = 0;  // of a varint, a fixed32 or a fixed64
  std::string_view bytes;     // of a string, bytes or message
  bool is_integer = false;    // a varint
  bool is_double = false;     // a fixed64
  bool has_bytes = false;
  [[nodiscard]] std::int64_t as_signed() const { return static_cast<std::int64_t>(integer); }
};

class Wire {
 public:
  explicit Wire(std::string_view message)
      : at_{message.data()}, end_{message.data() + message.size()} {}

  // False at the end of the message, or where it stops being one.
  bool next(WireField& field) {
    if (at_ == end_ || is_damaged_) return false;
    std::uint64_t tag = 0;
    if (!varint<kLongestTag>(tag) || tag >> 3 == 0 || tag >> 32 != 0) return damaged();
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.is_integer = field.is_double = field.has_bytes = false;
    switch (tag & 7) {
      case 0:
        field.is_integer = true;
        return varint<kLongestVarint>(field.integer) || damaged();
      case 1:
        field.is_double = true;
        return fixed<std::uint64_t>(field);
      case 2: {
        std::uint64_t size = 0;
        if (!varint<kLongestTag>(size)) return damaged();
        if (size > static_cast<std::uint64_t>(end_ - at_)) {  // cut: hand out what is there
          field.bytes = {at_, static_cast<std::size_t>(end_ - at_)};
          cut_ = field.bytes;
          return damaged();
        }
        field.bytes = {at_, static_cast<std::size_t>(size)};
        field.has_bytes = true;
        at_ += size;
        return true;
      }
      case 5:
        return fixed<std::uint32_t>(field);
      default:
        return damaged();  // groups
    }
  }

  [[nodiscard]] bool is_damaged() const { return is_damaged_; }
  // The start of a field that ends behind the message: what a file that was cut off still holds.
  [[nodiscard]] std::string_view cut() const { return cut_; }

 private:
  static constexpr int kLongestVarint = 10;
  static constexpr int kLongestTag = 5;  // or length; longer ones could be shorter
  bool damaged() {
    is_damaged_ = true;
    return false;
  }
  template <int kMostBytes>
  bool varint(std::uint64_t& value) {
    if (at_ == end_) return false;
    value = static_cast<unsigned char>(*at_++);
    if (value < 0x80) [[likely]]
      return true;
    value &= 0x7f;
    for (int shift = 7; shift < 7 * kMostBytes && at_ != end_; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      if (shift == 63 && byte > 1) return false;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  template <class T>
  bool fixed(WireField& field) {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(T)) return damaged();
    T value = 0;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    field.integer = value;
    return true;
  }

  const char* at_;
  const char* end_;
  std::string_view cut_;
  bool is_damaged_ = false;
};

// The usual form of a small message, which the events of a trace are full of: an id below 128 as field
// 1, and one number behind it.
struct SmallMessage {
  std::uint8_t id = 0, tag = 0;  // the tag of the number
  std::uint64_t number = 0;

  // The tag of a varint in field `field`, below 16.
  static constexpr std::uint8_t varint(unsigned field) {
    return static_cast<std::uint8_t>(field << 3);
  }
};

// False when the message looks different: then it is for Wire.
inline bool read_small_message(std::string_view bytes, SmallMessage& message) {
  constexpr std::size_t kHead = 3, kLongestNumber = 9;
  const auto at = [bytes](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  if (bytes.size() <= kHead || bytes.size() > kHead + kLongestNumber ||
      at(0) != SmallMessage::varint(1) || at(1) >= 0x80 || (at(2) & 0x87) != 0)
    return false;
  std::uint64_t number = 0;
  for (std::size_t i = kHead; i < bytes.size(); ++i) {
    const bool is_last = i + 1 == bytes.size();
    if ((at(i) < 0x80) != is_last) return false;
    number |= std::uint64_t{at(i) & 0x7fU} << 7 * (i - kHead);
  }
  message = {at(1), at(2), number};
  return true;
}

}  // namespace tracelens
