// packed_bytes.hpp: numbers in few bytes, for what is kept in memory until it is needed again.
//   PackedWriter out;
//   out.number(7).signed_number(-3);
//   kept += out.bytes();
//   PackedReader in{kept.data()};
//   in.number();                                     // 7
// The bytes never leave the process: a reader trusts them and checks nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracelens {

// One record of at most kMostNumbers numbers.
class PackedWriter {
 public:
  static constexpr std::size_t kMostNumbers = 24, kLongestNumber = 10;
  static constexpr std::size_t kMostBytes = kMostNumbers * kLongestNumber;

  PackedWriter& number(std::uint64_t value) {
    for (; value > 0x7f; value >>= 7) bytes_[size_++] = static_cast<char>(value | 0x80);
    bytes_[size_++] = static_cast<char>(value);
    return *this;
  }
  // Small ones of either sign are short.
  PackedWriter& signed_number(std::int64_t value) {
    return number(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  [[nodiscard]] std::string_view bytes() const { return {bytes_.data(), size_}; }

 private:
  std::array<char, kMostBytes> bytes_;
  std::size_t size_ = 0;
};

class PackedReader {
 public:
  explicit PackedReader(const char* at) : at_{at} {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::uint32_t id() { return static_cast<std::uint32_t>(number()); }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
  }
  [[nodiscard]] const char* at() const { return at_; }

 private:
  const char* at_;
};

// Differences of times and ids that may be anything: they wrap around instead of overflowing.
[[nodiscard]] constexpr std::int64_t wrapping_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
[[nodiscard]] constexpr std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace tracelens
