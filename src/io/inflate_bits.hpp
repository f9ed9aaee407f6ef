// inflate_bits.hpp: the next bits of deflate data.
//   Bits bits{0, 0, packed.data(), packed.data() + packed.size()};
//   if (bits.has(3)) is_last = bits.take(1) != 0;
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace tracelens::io::inflating {

static_assert(std::endian::native == std::endian::little, "bits come in words of the memory");

inline std::uint64_t word_at(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

struct Bits {
  // The next bits, the first of them lowest; above `count` anything that follows.
  std::uint64_t value;
  unsigned count;
  const char *next, *end;

  void drop(unsigned bits) {
    value >>= bits;
    count -= bits;
  }
  // At least 56 bits; eight bytes must be there.
  void fill_fast() {
    value |= word_at(next) << count;
    next += (63 - count) >> 3;
    count |= 56;
  }
  // As many as there are.
  void fill() {
    if (end - next >= 8) return fill_fast();
    for (; count < 56 && next < end; count += 8)
      value |= std::uint64_t{static_cast<std::uint8_t>(*next++)} << count;
  }
  bool has(unsigned bits) {
    if (count < bits) fill();
    return count >= bits;
  }
  unsigned take(unsigned bits) {  // that are there
    const auto taken = static_cast<unsigned>(value & ((std::uint64_t{1} << bits) - 1));
    drop(bits);
    return taken;
  }
  // Whole bytes go back.
  void return_bytes() {
    next -= count / 8;
    count %= 8;
    value &= (std::uint64_t{1} << count) - 1;
  }
  // The rest of a byte is of no use.
  void skip_to_byte() {
    return_bytes();
    value = count = 0;
  }
};

}  // namespace tracelens::io::inflating
