#include "io/inflate_codes.hpp"

#include <algorithm>

namespace tracelens::io::inflating {
namespace {

// Without their codes' own bits.
constexpr auto kLiteralEntries = [] {
  std::array<Entry, kLiteralCodes> entries{};
  for (std::size_t i = 0; i < entries.size(); ++i)
    entries[i] = i < kEndOfBlock ? kLiteral | static_cast<Entry>(i) << 16 : kInvalid;
  entries[kEndOfBlock] = kEnd;
  Entry length = 3;
  for (std::size_t i = 257; i < 285; ++i) {  // 8 lengths, then 4 for each number of extra bits
    const unsigned extra = i < 265 ? 0 : static_cast<unsigned>(i - 261) / 4;
    entries[i] = length << 16 | extra;
    length += Entry{1} << extra;
  }
  entries[285] = Entry{258} << 16;
  return entries;
}();
constexpr auto kDistanceEntries = [] {
  std::array<Entry, kDistanceCodes> entries{};
  entries.fill(kInvalid);
  Entry distance = 1;
  for (std::size_t i = 0; i < 30; ++i) {
    const unsigned extra = i < 2 ? 0 : static_cast<unsigned>(i - 2) / 2;
    entries[i] = distance << 16 | extra;
    distance += Entry{1} << extra;
  }
  return entries;
}();

// Codes are written from their highest bit on, everything else from its lowest.
unsigned reversed(unsigned code, unsigned length) {
  unsigned turned = 0;
  for (unsigned i = 0; i < length; ++i) turned |= (code >> i & 1U) << (length - 1 - i);
  return turned;
}

}  // namespace

bool make_table(std::span<const std::uint8_t> lengths, std::span<const Entry> entries,
                unsigned bits, std::span<Entry> table) {
  std::array<unsigned, kLongestCode + 1> count{}, next{};
  for (const std::uint8_t length : lengths) ++count[length];
  count[0] = 0;
  unsigned code = 0, longest = 0;
  for (unsigned length = 1; length <= kLongestCode; ++length) {
    code = (code + count[length - 1]) << 1;
    next[length] = code;
    if (count[length] > 0) longest = length;
    if (code + count[length] > 1U << length) return false;
  }
  const bool is_complete = code + count[kLongestCode] == 1U << kLongestCode;
  if (!is_complete && longest > 1) return false;
  if (!is_complete)
    std::ranges::fill(table.first(std::size_t{1} << bits), with_own_bits(kInvalid, 1));

  // The longest code of those that share a place decides on the size of their table.
  const unsigned mask = (1U << bits) - 1;
  std::array<std::uint8_t, 1U << 11> second_bits;
  if (longest > bits) {
    std::fill_n(second_bits.begin(), std::size_t{1} << bits, 0);
    auto at = next;
    for (const std::uint8_t length : lengths)
      if (length > bits) {
        std::uint8_t& own = second_bits[reversed(at[length], length) & mask];
        own = std::max<std::uint8_t>(own, static_cast<std::uint8_t>(length - bits));
        ++at[length];
      }
  }
  std::size_t end = std::size_t{1} << bits;
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    const unsigned length = lengths[symbol];
    if (length == 0) continue;
    const unsigned turned = reversed(next[length]++, length);
    if (length <= bits) {
      const Entry entry = with_own_bits(entries[symbol], length);
      for (std::size_t place = turned; place <= mask; place += std::size_t{1} << length)
        table[place] = entry;
      continue;
    }
    const unsigned place = turned & mask, width = second_bits[place] & 15U;
    // The upper half tells that the second table has been begun.
    if (second_bits[place] < 16) {
      second_bits[place] |= 16;
      table[place] = kSecond | static_cast<Entry>(end) << 16 | width << 8 | bits;
      end += std::size_t{1} << width;
    }
    const Entry entry = with_own_bits(entries[symbol], length - bits);
    const std::size_t first = value_of(table[place]);
    for (std::size_t at = turned >> bits; at < std::size_t{1} << width;
         at += std::size_t{1} << (length - bits))
      table[first + at] = entry;
  }
  return true;
}

bool make_tables(std::span<const std::uint8_t> literals, std::span<const std::uint8_t> distances,
                 Tables& tables) {
  return make_table(literals, kLiteralEntries, kLiteralBits, tables.literals) &&
         make_table(distances, kDistanceEntries, kDistanceBits, tables.distances);
}

const Tables& fixed_tables() {
  static const Tables kTables = [] {
    std::array<std::uint8_t, kLiteralCodes> literals{};
    std::array<std::uint8_t, kDistanceCodes> distances{};
    for (std::size_t i = 0; i < literals.size(); ++i)
      literals[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    distances.fill(5);
    Tables tables;
    (void)make_tables(literals, distances, tables);
    return tables;
  }();
  return kTables;
}

}  // namespace tracelens::io::inflating
