// values.hpp: the values of events, as they are written.
// Contract as in json_scan.hpp: `end` points at a readable '\0' with json::kPadding bytes behind it;
// nullptr when the text ends, or stops being JSON, before the value does.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tracelens/trace.hpp>

#include "io/numbers.hpp"
#include "readers/chrome/json_scan.hpp"

namespace tracelens::kineto {

// Control characters where JSON has none are found on the way; parse() then looks closer.
inline constexpr bool kStrict = true;
inline const char* skip_space(const char* p, const char* end) {
  return json::skip_space<kStrict>(p, end);
}
inline const char* find_quote(const char* p, const char* end) {
  return json::find_quote<kStrict>(p, end);
}
inline const char* find_name_end(const char* p, const char* end) {
  return json::find_name_end<kStrict>(p, end);
}
inline const char* skip_value(const char* p, const char* end) {
  return json::skip_value<kStrict>(p, end);
}
inline const char* skip_container(const char* p, const char* end) {
  return json::skip_container<kStrict>(p, end);
}

inline std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// The text of a string value without its quotes, or of any other value as it stands.
inline std::string_view unquoted(const char* begin, const char* end) {
  if (*begin == '"') return between(begin + 1, end - 1);
  return between(begin, end);
}

// An integer however it is written: 7, "7", 7.0, 1.8e19. kAbsent for anything else.
inline std::int64_t to_integer(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t value = 0;
  if (const auto r = std::from_chars(text.data(), end, value); r.ec == std::errc{} && r.ptr == end)
    return value;
  std::uint64_t wide = 0;  // an unsigned id keeps its bits, which is all an identity needs
  if (const auto r = std::from_chars(text.data(), end, wide); r.ec == std::errc{} && r.ptr == end)
    return static_cast<std::int64_t>(wide);
  double real = 0;
  if (const auto r = std::from_chars(text.data(), end, real);
      r.ec == std::errc{} && r.ptr == end && std::abs(real) < 9e18 && real == std::trunc(real))
    return static_cast<std::int64_t>(real);
  return kAbsent;
}

inline bool ends_integer(char c) {
  return c == ',' || c == '}' || static_cast<unsigned char>(c) <= ' ';
}

inline const char* parse_integer(const char* p, const char* end, std::int64_t& value) {
  // Nearly always: up to 15 digits and then a delimiter.
  io::detail::DigitRun run = io::detail::digit_run(p, end);
  const char* q = p + run.length;
  std::uint64_t digits = run.value;
  if (run.length == 8) {
    run = io::detail::digit_run(q, end);
    digits = digits * io::detail::kPowerOf10[run.length] + run.value;
    q += run.length;
  }
  if (q != p && run.length != 8 && ends_integer(*q)) [[likely]] {
    value = static_cast<std::int64_t>(digits);
    return q;
  }
  const char* const after = skip_value(p, end);
  if (after != nullptr) value = to_integer(unquoted(p, after));
  return after;
}

// The number of an agent: 2, "Agent-2" or "GPU-2". Left alone when the text ends in no number.
inline const char* parse_agent(const char* p, const char* end, std::int64_t& value) {
  const char* const after = skip_value(p, end);
  if (after == nullptr) return nullptr;
  std::string_view text = unquoted(p, after);
  if (*p == '"') text.remove_prefix(text.rfind('-') + 1);
  if (const std::int64_t number = to_integer(text); number != kAbsent) value = number;
  return after;
}

// Microseconds to integer nanoseconds; kAbsent when it is no time at all (null, NaN, a word).
inline const char* parse_time(const char* p, const char* end, std::int64_t& ns) {
  if (const char* const after = io::parse_us_fast(p, end, ns)) [[likely]]
    return after;
  const char* const after = skip_value(p, end);
  if (after != nullptr) ns = io::parse_us_as_ns(unquoted(p, after)).value_or(kAbsent);
  return after;
}

inline std::uint64_t load8(const char* p) {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, p, sizeof bytes);
  return bytes;
}

// The times of events in a row begin with the same digits.
struct TimeHead {
  std::uint64_t text = 0x3030303030303030;  // eight of them, as they are written
  std::uint64_t value = 0;
};

// One to five digits, three of a fraction and a delimiter, as most durations are: the digits are
// `value`, and the last `count` of a longer number. nullptr for all else.
inline const char* parse_thousandths(const char* p, std::uint64_t& value, unsigned& count) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = kOnes * 0xf0, kZeros = kOnes * '0';
  const std::uint64_t bytes = load8(p);
  const std::uint64_t no_dot = bytes ^ kOnes * '.';
  const std::uint64_t dots = (no_dot - kOnes) & ~no_dot & kOnes * 0x80;
  const unsigned before = static_cast<unsigned>(std::countr_zero(dots)) / 8;
  if (before - 1 > 4) return nullptr;
  std::uint32_t behind = 0;
  std::memcpy(&behind, p + before + 1, sizeof behind);
  if (!ends_integer(static_cast<char>(behind >> 24))) return nullptr;
  // Eight digits, with zeros in front.
  const unsigned missing = 8 * (5 - before);
  std::uint64_t digits = (bytes & ((std::uint64_t{1} << 8 * before) - 1)) |
                         std::uint64_t{behind & 0xffffff} << 8 * before;
  digits = digits << missing | (kZeros & ((std::uint64_t{1} << missing) - 1));
  if ((((digits & kHigh) ^ kZeros) | (((digits + kOnes * 6) & kHigh) ^ kZeros)) != 0)
    return nullptr;
  digits &= kOnes * 0x0f;
  digits = digits * (1 + (10 << 8)) >> 8 & 0x00ff00ff00ff00ff;
  digits = digits * (1 + (100 << 16)) >> 16 & 0x0000ffff0000ffff;
  value = digits * (1 + (std::uint64_t{10'000} << 32)) >> 32;
  count = before + 3;
  return p + before + 4;
}

// As parse_time, which decides where this is not sure.
inline const char* parse_time(const char* p, const char* end, TimeHead& head, std::int64_t& ns) {
  std::uint64_t value = 0;
  unsigned count = 0;
  if (const std::uint64_t bytes = load8(p); bytes == head.text) {
    if (const char* const after = parse_thousandths(p + 8, value, count)) [[likely]] {
      ns = static_cast<std::int64_t>(head.value * io::detail::kPowerOf10[count] + value);
      return after;
    }
  } else if (const char* const after = parse_thousandths(p, value, count)) {
    ns = static_cast<std::int64_t>(value);
    return after;
  } else if (const auto run = io::detail::digit_run(p, end); run.length == 8) {
    head = {bytes, run.value};
  }
  return parse_time(p, end, ns);
}

// As skip_value; for values that are mostly short integers.
inline const char* skip_number(const char* p, const char* end) {
  const unsigned length = io::detail::digit_run(p, end).length;
  if (length != 0 && ends_integer(p[length])) [[likely]]
    return p + length;
  return skip_value(p, end);
}

// Whether `text` stands at `p`, where it may be cut short: compares in order, and looks no further
// than 16 bytes behind the first difference, which a '\0' is. `text` has none.
inline bool is_same(const char* p, std::string_view text) {
  const auto differ = [&]<class Word>(std::size_t from, Word) {
    Word x = 0, y = 0;
    std::memcpy(&x, p + from, sizeof x);
    std::memcpy(&y, text.data() + from, sizeof y);
    return x ^ y;
  };
  const auto differ8 = [&](std::size_t from) { return differ(from, std::uint64_t{}); };
  const auto differ16 = [&](std::size_t from) { return differ8(from) | differ8(from + 8); };
  const std::size_t size = text.size();
  if (size >= 16) {
    for (std::size_t at = 0; at + 16 < size; at += 16)
      if (differ16(at) != 0) return false;
    return differ16(size - 16) == 0;
  }
  if (size >= 8) return (differ8(0) | differ8(size - 8)) == 0;
  if (size >= 4) return (differ(0, std::uint32_t{}) | differ(size - 4, std::uint32_t{})) == 0;
  for (std::size_t at = 0; at < size; ++at)
    if (p[at] != text[at]) return false;
  return true;
}

// The same for texts of any kind and length.
inline bool begins_with(const char* p, const char* end, std::string_view text) {
  constexpr std::size_t kWorthACall = 64;
  if (static_cast<std::size_t>(end - p) < text.size()) return false;
  return text.size() > kWorthACall ? std::memcmp(p, text.data(), text.size()) == 0
                                   : is_same(p, text);
}

}  // namespace tracelens::kineto
