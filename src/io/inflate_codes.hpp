// inflate_codes.hpp: what the codes of deflate data stand for, as tables that are looked up with its next bits.
//   if (!make_tables(lengths_of_literals, lengths_of_distances, tables)) return Stop::kDamage;
//   const Entry entry = tables.literals[bits & ((1U << kLiteralBits) - 1)];
//   if ((entry & kLiteral) != 0) *out++ = value_of(entry);
// Codes that are longer than a table is wide are found in a second one, which the entry of their first bits tells.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracelens::io::inflating {

inline constexpr unsigned kLongestCode = 15, kLiteralBits = 11, kDistanceBits = 9;
inline constexpr std::size_t kLiteralCodes = 288, kDistanceCodes = 32, kEndOfBlock = 256;

// What a code stands for, in 32 bits:
//   0..4    bits it takes, with the extra ones that follow it
//   8..11   of these the code's own; of a second table: how many bits tell its places apart
//   12..14  what it is
//   16..30  the literal; the shortest length or distance; where the second table begins
//   31      set: a literal
using Entry = std::uint32_t;
inline constexpr Entry kLiteral = Entry{1} << 31;
inline constexpr Entry kSpecial = Entry{1} << 12;  // neither a literal nor a length or distance:
inline constexpr Entry kSecond = kSpecial | Entry{1} << 13;
inline constexpr Entry kEnd = kSpecial | Entry{1} << 14;
inline constexpr Entry kInvalid = kSpecial;
inline constexpr Entry kMoreBits = 31;  // than there are

constexpr unsigned taken_by(Entry entry) { return entry & 31U; }
constexpr unsigned own_bits(Entry entry) { return entry >> 8 & 15U; }
constexpr std::uint32_t value_of(Entry entry) { return entry >> 16 & 0x7fffU; }
constexpr Entry with_own_bits(Entry entry, unsigned own) { return entry + own + (own << 8); }
constexpr bool is_second(Entry entry) { return (entry & (Entry{7} << 12)) == kSecond; }
constexpr bool is_end(Entry entry) { return (entry & (Entry{7} << 12)) == kEnd; }

// The length or distance that an entry and the bits from its code on tell.
inline std::uint32_t amount_of(Entry entry, std::uint64_t bits) {
  const auto extra = static_cast<std::uint32_t>(bits >> own_bits(entry));
  return value_of(entry) + (extra & ((1U << (taken_by(entry) - own_bits(entry))) - 1));
}

// Where the second table that an entry tells of is to be looked up with the bits that follow.
inline std::size_t second_place(Entry entry, std::uint64_t bits) {
  return value_of(entry) + (bits & ((std::uint64_t{1} << own_bits(entry)) - 1));
}

struct Tables {
  // Each long code may have a second table of its own, of 2^(15 - bits) places at most.
  std::array<Entry, (1U << kLiteralBits) + (kLiteralCodes << (kLongestCode - kLiteralBits))>
      literals;
  std::array<Entry, (1U << kDistanceBits) + (kDistanceCodes << (kLongestCode - kDistanceBits))>
      distances;
};

// Of codes that have these lengths in bits, 0: none. False: there are no such codes.
[[nodiscard]] bool make_tables(std::span<const std::uint8_t> literals,
                               std::span<const std::uint8_t> distances, Tables& tables);
// Of blocks that bring no lengths.
[[nodiscard]] const Tables& fixed_tables();

// Fills a table of 2^bits places, and the second tables it needs, with the entries of these codes. As everyone else
// does, lets pass no code at all, and a single one of one bit; what they leave open is invalid.
[[nodiscard]] bool make_table(std::span<const std::uint8_t> lengths, std::span<const Entry> entries,
                              unsigned bits, std::span<Entry> table);

}  // namespace tracelens::io::inflating
