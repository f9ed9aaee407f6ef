// numbers.hpp: the text of numbers, read exactly and printed so that it reads back the same.
//   parse_us_as_ns("1724.0625")  -> 1724062    microseconds in traces, nanoseconds in TraceLens
//   shortest_double(0.1)         -> "0.1"
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace tracelens::io {

// Decimal microseconds (sign, fraction and exponent allowed) as nanoseconds, without a detour
// through double. What is finer than a nanosecond is rounded half to even. No value when `text`
// is anything but one number (NaN and Infinity included) or the result does not fit.
std::optional<std::int64_t> parse_us_as_ns(std::string_view text);

// A decimal integer, with or without a sign; no value when anything else is in `text`.
std::optional<std::int64_t> parse_int64(std::string_view text);

// A real number, "inf" and "nan" in any case included, whatever the locale; no value when anything else is in
// `text`. What is too large is infinite, what is too small is zero.
std::optional<double> parse_double(std::string_view text);

// As Python's repr() prints a float: the shortest text that reads back as `value`, with ".0" or
// an exponent in it; exponents below -4 and from 16 on are written ("1e-05", "1e+16", "nan").
std::string shortest_double(double value);

// A decimal integer as text; faster than a format.
template <class Integer>
void append_integer(std::string& out, Integer value) {
  char text[std::numeric_limits<Integer>::digits10 + 2];  // and a sign
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  out.append(text, end);
}

namespace detail {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

struct DigitRun {
  std::uint64_t value = 0;
  unsigned length = 0;
};

inline constexpr std::uint64_t kPowerOf10[] = {1,       10,        100,        1'000,      10'000,
                                               100'000, 1'000'000, 10'000'000, 100'000'000};

// The digits at `p`, eight at most. Eight bytes are looked at together: a loop over the digits
// would end after a different number of rounds each time, which no branch predictor foresees.
// Needs a little-endian machine, as x86-64 and arm64 are.
inline DigitRun digit_run(const char* p, const char* end) {
  std::uint64_t bytes = 0;  // zeros are no digits, so they end the run like any other byte
  if (end - p >= 8) [[likely]]
    std::memcpy(&bytes, p, 8);
  else
    std::memcpy(&bytes, p, static_cast<std::size_t>(end - p));

  // A digit has the high nibble 3, and keeps it when 6 is added; ':' to '?' then have 4. Sums may
  // carry out of a byte that is no digit, but only the first such byte matters.
  constexpr std::uint64_t kHigh = 0xf0f0f0f0f0f0f0f0, kThrees = 0x3030303030303030;
  const std::uint64_t others =
      ((bytes & kHigh) ^ kThrees) | (((bytes + 0x0606060606060606) & kHigh) ^ kThrees);
  const unsigned length = others == 0 ? 8 : static_cast<unsigned>(std::countr_zero(others)) / 8;
  if (length == 0) return {};

  // Leading zeros make it eight digits; then neighbours join to pairs, fours, and the eight.
  bytes = (bytes << (64 - 8 * length)) & 0x0f0f0f0f0f0f0f0f;
  bytes = bytes * (1 + (10 << 8)) >> 8 & 0x00ff00ff00ff00ff;
  bytes = bytes * (1 + (100 << 16)) >> 16 & 0x0000ffff0000ffff;
  return {bytes * (1 + (std::uint64_t{10'000} << 32)) >> 32, length};
}

}  // namespace detail

// The usual form of a time in a trace, digits[.d{1,3}], at the start of [p, end): sets `ns` and
// returns the byte after it. nullptr when the number has another form (a sign, an exponent, a
// longer fraction, too large): parse_us_as_ns() decides then. Where this gives a value the two
// agree. In the hottest loop of the readers: every event has two such numbers.
inline const char* parse_us_fast(const char* p, const char* end, std::int64_t& ns) {
  constexpr std::uint64_t kMaxUs = std::numeric_limits<std::int64_t>::max() / 1000 - 1;
  detail::DigitRun run = detail::digit_run(p, end);
  if (run.length == 0) return nullptr;
  std::uint64_t us = run.value;
  for (int full = 1; run.length == 8; ++full) {
    p += 8;  // not run.length: the processor goes on with a constant before it knows the length
    if (p == end || !detail::is_digit(*p)) {
      run.length = 0;
      break;
    }
    run = detail::digit_run(p, end);
    if (full == 2 && run.length > 2) return nullptr;  // might not fit
    us = us * detail::kPowerOf10[run.length] + run.value;
  }
  p += run.length;
  if (us > kMaxUs) return nullptr;

  std::uint64_t thousandths = 0;
  if (p != end && *p == '.') {
    run = detail::digit_run(++p, end);
    if (run.length == 0 || run.length > 3) return nullptr;
    thousandths = run.value * detail::kPowerOf10[3 - run.length];
    p += run.length;
  }
  if (p != end && (*p == 'e' || *p == 'E')) return nullptr;
  ns = static_cast<std::int64_t>(us * 1000 + thousandths);
  return p;
}

}  // namespace tracelens::io
