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
    const char* const start = at_;
    std::uint64_t tag = 0;
    if (!varint(tag) || tag >> 3 == 0 || tag >> 32 != 0 || at_ - start > kLongestTag)
      return damaged();
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.is_integer = field.is_double = field.has_bytes = false;
    switch (tag & 7) {
      case 0:
        field.is_integer = true;
        return varint(field.integer) || damaged();
      case 1:
        field.is_double = true;
        return fixed<std::uint64_t>(field);
      case 2: {
        const char* const size_start = at_;
        std::uint64_t size = 0;
        if (!varint(size) || at_ - size_start > kLongestTag) return damaged();
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
  static constexpr std::ptrdiff_t kLongestTag = 5;  // and length: longer ones are not minimal
  bool damaged() {
    is_damaged_ = true;
    return false;
  }
  bool varint(std::uint64_t& value) {
    if (at_ == end_) return false;
    value = static_cast<unsigned char>(*at_);
    if (value < 0x80) [[likely]] {
      ++at_;
      return true;
    }
    value = 0;
    for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
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

}  // namespace tracelens
