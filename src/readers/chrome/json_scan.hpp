// json_scan.hpp: finding the bounds of JSON tokens, fast and forgiving.
//   const char* end = skip_value(p, text_end);   // after the value at p, or nullptr
// Why by hand: simdjson refuses what profilers write (NaN, raw control characters, broken UTF-8, a
// file cut in the middle) for the whole document, and indexing every character of the text first
// costs as much as everything this reader does. Here text that nobody asks for is only looked at 16
// bytes at a time. simdjson remains the judge in the tests.
//
// Contract of every function: `end` points at a readable '\0', and 16 more bytes after it may be
// read (the block has kPadding bytes behind its text). They return nullptr when the text ends, or
// stops being JSON, before the token does. The strict ones take a control character where JSON has
// none for such a stop: in a string any, elsewhere those that are no white space.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__aarch64__)
#include <arm_neon.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tracelens::json {

inline constexpr std::size_t kPadding = 32;

// Control characters that are no white space: JSON never has them.
inline constexpr auto kStrayControls = [] {
  std::array<std::uint8_t, 32> stray{};
  stray.fill(0xff);
  for (const char space : {'\t', '\n', '\r'}) stray[static_cast<std::size_t>(space)] = 0;
  return stray;
}();
[[nodiscard]] constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < ' '; }
[[nodiscard]] constexpr bool is_stray_control(char c) {
  return is_control(c) && kStrayControls[static_cast<unsigned char>(c)] != 0;
}

[[nodiscard]] constexpr bool is_letter(char c) {
  return static_cast<unsigned char>((c | 0x20) - 'a') < 26;
}

// With this bit turned over, the quote is the space and the control characters stay below it: one
// comparison finds both.
inline constexpr char kQuoteBit = '"' ^ ' ';

// Positions of interest among 16 bytes, as a bit set; kBitsPerByte bits stand for one byte. Those of
// not_plain() need a second look in a string: quotes, backslashes, controls, what is no ASCII; those
// of structure() in a list or object: quotes, backslashes, brackets (and '|', which does no harm).
// unlike() compares 16 bytes with others, and looks at the one before: different digits at the same
// place, of numbers of the same length, are alike, but not where one has a 0 in front; backslashes
// never are. So of two texts that are alike both are JSON, or none, and their tokens stand at the
// same places.
#if defined(__aarch64__)
inline constexpr int kBitsPerByte = 4;
inline uint8x16_t load16(const char* p) {
  return vld1q_u8(reinterpret_cast<const std::uint8_t*>(p));
}
inline std::uint64_t to_bits(uint8x16_t matches) {
  const uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(matches), 4);
  return vget_lane_u64(vreinterpret_u64_u8(nibbles), 0) & 0x8888888888888888U;
}
// 0xff for stray control characters, 0 for all other bytes.
inline uint8x16_t stray(uint8x16_t bytes) {
  return vqtbl2q_u8(vld1q_u8_x2(kStrayControls.data()), bytes);
}
template <bool kStrict>
uint8x16_t quotes(uint8x16_t bytes) {
  return kStrict ? vcleq_u8(veorq_u8(bytes, vdupq_n_u8(kQuoteBit)), vdupq_n_u8(' '))
                 : vceqq_u8(bytes, vdupq_n_u8('"'));
}
template <bool kStrict>
std::uint64_t quotes_or_backslashes(const char* p) {
  const uint8x16_t bytes = load16(p);
  return to_bits(vorrq_u8(quotes<kStrict>(bytes), vceqq_u8(bytes, vdupq_n_u8('\\'))));
}
template <bool kStrict>
std::uint64_t structure(const char* p) {
  const uint8x16_t bytes = load16(p);
  const uint8x16_t folded = vorrq_u8(bytes, vdupq_n_u8(0x20));  // '[' -> '{' and so on
  const uint8x16_t brackets = vcleq_u8(vsubq_u8(folded, vdupq_n_u8('{')), vdupq_n_u8(2));
  return to_bits(vorrq_u8(brackets, quotes<kStrict>(bytes)));
}
inline std::uint64_t above_space(const char* p) {
  return to_bits(vcgtq_u8(load16(p), vdupq_n_u8(' ')));
}
inline std::uint64_t stray_controls(const char* p) { return to_bits(stray(load16(p))); }
inline std::uint64_t not_plain(const char* p) {
  const uint8x16_t bytes = load16(p);
  const uint8x16_t quoted =
      vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('"')), vceqq_u8(bytes, vdupq_n_u8('\\')));
  // Less the space, what is below it and what is above ASCII are both beyond 0x5f.
  return to_bits(vorrq_u8(quoted, vcgtq_u8(vsubq_u8(bytes, vdupq_n_u8(' ')), vdupq_n_u8(0x5f))));
}
inline std::uint64_t unlike(const char* a, const char* b) {
  const auto below = [](uint8x16_t bytes, std::uint8_t limit) {
    return vcltq_u8(bytes, vdupq_n_u8(limit));
  };
  const auto minus = [](uint8x16_t bytes, char c) { return vsubq_u8(bytes, vdupq_n_u8(c)); };
  const uint8x16_t x = load16(a), y = load16(b);
  const uint8x16_t digits = below(vmaxq_u8(minus(x, '0'), minus(y, '0')), 10);
  const uint8x16_t not_zero = below(vmaxq_u8(minus(x, '1'), minus(y, '1')), 9);
  const uint8x16_t inside = vandq_u8(digits, below(minus(load16(a - 1), '0'), 10));
  const uint8x16_t alike = vorrq_u8(vceqq_u8(x, y), vorrq_u8(not_zero, inside));
  return to_bits(vornq_u8(vceqq_u8(x, vdupq_n_u8('\\')), alike));
}
#elif defined(__SSE2__)
inline constexpr int kBitsPerByte = 1;
inline __m128i load16(const char* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
inline std::uint64_t to_bits(__m128i matches) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(matches));
}
inline __m128i at_most(__m128i bytes, char limit) {  // unsigned
  return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(limit)), bytes);
}
// 0xff for stray control characters, 0 for all other bytes.
inline __m128i stray(__m128i bytes) {
  const __m128i folded = _mm_andnot_si128(_mm_set1_epi8(0x04), bytes);  // '\r' -> '\t'
  const __m128i spaces = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')),
                                      _mm_cmpeq_epi8(folded, _mm_set1_epi8('\t')));
  return _mm_andnot_si128(spaces, at_most(bytes, 0x1f));
}
template <bool kStrict>
__m128i quotes(__m128i bytes) {
  return kStrict ? at_most(_mm_xor_si128(bytes, _mm_set1_epi8(kQuoteBit)), ' ')
                 : _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
}
template <bool kStrict>
std::uint64_t quotes_or_backslashes(const char* p) {
  const __m128i bytes = load16(p);
  return to_bits(_mm_or_si128(quotes<kStrict>(bytes), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
}
template <bool kStrict>
std::uint64_t structure(const char* p) {
  const __m128i bytes = load16(p);
  const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));  // '[' -> '{' and so on
  const __m128i brackets = at_most(_mm_sub_epi8(folded, _mm_set1_epi8('{')), 2);
  return to_bits(_mm_or_si128(brackets, quotes<kStrict>(bytes)));
}
inline std::uint64_t above_space(const char* p) {
  // Unsigned compare by max: bytes > ' ' exactly where max(bytes, '!') is the byte itself.
  const __m128i bytes = load16(p);
  return to_bits(_mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8('!')), bytes));
}
inline std::uint64_t stray_controls(const char* p) { return to_bits(stray(load16(p))); }
inline std::uint64_t not_plain(const char* p) {
  const __m128i bytes = load16(p);
  const __m128i quoted = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                      _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
  // Signed, what is above ASCII is below the space, too.
  return to_bits(_mm_or_si128(quoted, _mm_cmplt_epi8(bytes, _mm_set1_epi8(' '))));
}
inline std::uint64_t unlike(const char* a, const char* b) {
  const auto minus = [](__m128i bytes, char c) { return _mm_sub_epi8(bytes, _mm_set1_epi8(c)); };
  const __m128i x = load16(a), y = load16(b);
  const __m128i digits = at_most(_mm_max_epu8(minus(x, '0'), minus(y, '0')), 9);
  const __m128i not_zero = at_most(_mm_max_epu8(minus(x, '1'), minus(y, '1')), 8);
  const __m128i inside = _mm_and_si128(digits, at_most(minus(load16(a - 1), '0'), 9));
  const __m128i alike = _mm_or_si128(_mm_cmpeq_epi8(x, y), _mm_or_si128(not_zero, inside));
  const __m128i backslashes = _mm_cmpeq_epi8(x, _mm_set1_epi8('\\'));
  return to_bits(_mm_andnot_si128(_mm_andnot_si128(backslashes, alike), _mm_set1_epi8(-1)));
}
#else
inline constexpr int kBitsPerByte = 1;
template <class Test>
std::uint64_t bits_where(const char* p, Test test) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= static_cast<std::uint64_t>(test(p[i])) << i;
  return bits;
}
template <bool kStrict>
std::uint64_t quotes_or_backslashes(const char* p) {
  return bits_where(p, [](char c) { return c == '"' || c == '\\' || (kStrict && is_control(c)); });
}
template <bool kStrict>
std::uint64_t structure(const char* p) {
  return bits_where(p, [](char c) {
    const int folded = static_cast<unsigned char>(c) | 0x20;  // '[' -> '{' and so on
    return c == '"' || (folded >= '{' && folded <= '}') || (kStrict && is_control(c));
  });
}
inline std::uint64_t above_space(const char* p) {
  return bits_where(p, [](char c) { return static_cast<unsigned char>(c) > ' '; });
}
inline std::uint64_t stray_controls(const char* p) { return bits_where(p, is_stray_control); }
inline std::uint64_t not_plain(const char* p) {
  return bits_where(p, [](char c) {
    return c == '"' || c == '\\' || static_cast<unsigned char>(c) - 0x20U > 0x5fU;
  });
}
inline std::uint64_t unlike(const char* a, const char* b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::uint64_t bits = 0;
  for (int i = 0; i < 16; ++i) {
    const bool may_be_zero = is_digit(a[i - 1]) || (a[i] != '0' && b[i] != '0');
    const bool is_alike = a[i] == b[i] || (is_digit(a[i]) && is_digit(b[i]) && may_be_zero);
    bits |= static_cast<std::uint64_t>(!is_alike || a[i] == '\\') << i;
  }
  return bits;
}
#endif

// Whether `text` is the literal; the length is part of the type, so that this is a few loads.
template <std::size_t N>
[[nodiscard]] bool is(std::string_view text, const char (&literal)[N]) {
  return text.size() == N - 1 && std::memcmp(text.data(), literal, N - 1) == 0;
}

inline std::ptrdiff_t first_byte(std::uint64_t bits) {
  return std::countr_zero(bits) / kBitsPerByte;
}

// The same for texts whose first 16 bytes are alike.
inline std::uint64_t alike_hash(const char* p) {
  const auto load = [](const char* from) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, from, sizeof bytes);
    const std::uint64_t digits = bytes >> 4 & bytes >> 5 & ~(bytes >> 6) & 0x0101010101010101U;
    return bytes & ~(digits * 0x0f);  // which are then all '0'
  };
  return (load(p) ^ load(p + 8) * 0x9E3779B97F4A7C15U) * 0xD6E8FEB86659FD93U;
}

// Whether a control character that is no white space stands in [p, end).
inline bool has_stray_controls(const char* p, const char* end) {
  for (; p < end; p += 16)
    if (const std::uint64_t bits = stray_controls(p)) return p + first_byte(bits) < end;
  return false;
}

// The first byte at or after `p` that is not white space, which here is any byte up to the space;
// at most `end`. The strict one stops at a stray control character.
template <bool kStrict>
[[gnu::noinline]] const char* skip_long_space(const char* p, const char* end) {
  for (; p < end; p += 16) {
    const std::uint64_t bits = above_space(p);
    if (const std::uint64_t found = kStrict ? bits | stray_controls(p) : bits)
      return std::min(p + first_byte(found), end);
  }
  return end;
}
template <bool kStrict = false>
inline const char* skip_space(const char* p, const char* end) {
  if (static_cast<unsigned char>(*p) > ' ') return p;  // one-line traces: usually nothing to skip
  if (static_cast<unsigned char>(p[1]) > ' ' && (kStrict ? *p == ' ' : p < end)) return p + 1;
  if constexpr (kStrict) {
    if (*p == '\n') [[likely]] {  // with its indentation; behind the text stands a '\0'
      const char* next = p + 1;
      while (next[0] == ' ' && next[1] == ' ') next += 2;
      if (static_cast<unsigned char>(*next) > ' ') [[likely]]
        return next;
    }
  } else if (const std::uint64_t bits = above_space(p)) [[likely]] {
    const char* const next = p + first_byte(bits);
    if (next < end) return next;
  }
  return skip_long_space<kStrict>(p, end);
}

// `p` is just past an opening quote; returns the closing quote.
template <bool kStrict = false>
inline const char* find_quote(const char* p, const char* end) {
  while (p < end) {
    const std::uint64_t bits = quotes_or_backslashes<kStrict>(p);
    if (bits == 0) {
      p += 16;
      continue;
    }
    p += first_byte(bits);
    if (!kStrict && p >= end) return nullptr;  // the strict one stops at the '\0' there
    if (*p == '"') return p;
    if (kStrict && (is_control(*p) || is_control(p[1]))) return nullptr;
    p += 2;  // a backslash takes the next byte with it, whatever it is
  }
  return nullptr;
}

// The same for the name of a member. Those of events have two to four letters: comparisons find
// their ends, because the processor guesses these rightly and goes on, where it would have to wait
// for what a search finds.
template <bool kStrict = false>
inline const char* find_name_end(const char* p, const char* end) {
  if (is_letter(p[0]) && is_letter(p[1])) {
    if (p[2] == '"') return p + 2;
    if (p[3] == '"' && is_letter(p[2])) return p + 3;
    if (p[4] == '"' && is_letter(p[2]) && is_letter(p[3])) return p + 4;
  }
  return find_quote<kStrict>(p, end);
}

// `p` is at '{' or '['; returns the byte after the bracket that closes it. Brackets are counted,
// not matched by kind: a mismatch is for the decoder to notice. Goes on by 16 bytes, in strings and
// between them, so that the processor need not wait for the end of a string to know where to look.
template <bool kStrict = false>
inline const char* skip_container(const char* p, const char* end) {
  std::int64_t depth = 0;
  bool in_string = false;
  while (p < end) {
    const char* next = p + 16;
    for (std::uint64_t bits = structure<kStrict>(p); bits != 0; bits &= bits - 1) {
      const char* const at = p + first_byte(bits);
      if (!kStrict && at >= end) return nullptr;  // the strict one stops at the '\0' there
      if (*at == '"') {
        in_string = !in_string;
      } else if (kStrict && (in_string ? is_control(*at) : is_stray_control(*at))) {
        return nullptr;
      } else if (in_string && *at == '\\') {
        if (kStrict && is_control(at[1])) return nullptr;
        next = at + 2;  // a backslash takes the next byte with it, whatever it is
        break;
      } else if (!in_string && (*at == '{' || *at == '[')) {
        ++depth;
      } else if (!in_string && (*at == '}' || *at == ']')) {
        if (--depth == 0) return at + 1;
      }
    }
    p = next;
  }
  return nullptr;
}

// `p` is at a number or a word; returns the byte after it. The text may go on with more of the same
// scalar when the result is `end`.
inline constexpr auto kEndsScalar = [] {
  std::array<bool, 256> ends{};
  for (std::size_t c = 0; c <= ' '; ++c) ends[c] = true;
  for (const char c : {',', ':', '"', '{', '}', '[', ']'})
    ends[static_cast<unsigned char>(c)] = true;
  return ends;
}();
inline const char* skip_scalar(const char* p) {
  while (!kEndsScalar[static_cast<unsigned char>(*p)]) ++p;
  return p;
}

template <bool kStrict = false>
inline const char* skip_value(const char* p, const char* end) {
  if (p >= end) return nullptr;
  if (*p == '"') {
    const char* const close = find_quote<kStrict>(p + 1, end);
    return close == nullptr ? nullptr : close + 1;
  }
  if (*p == '{' || *p == '[') return skip_container<kStrict>(p, end);
  const char* const after = skip_scalar(p);
  return after == p ? nullptr : after;
}

}  // namespace tracelens::json
