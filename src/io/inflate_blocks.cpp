#include "io/inflate_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

namespace tracelens::io::inflating {
namespace {

Begun read_code_lengths(Bits& bits, Tables& own) {
  constexpr unsigned kBits = 7;
  constexpr std::array<std::uint8_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};
  static constexpr auto kSymbols = [] {
    std::array<Entry, 19> symbols{};
    for (std::size_t i = 0; i < symbols.size(); ++i) symbols[i] = static_cast<Entry>(i) << 16;
    return symbols;
  }();
  if (!bits.has(14)) return Begun::kInput;
  const std::size_t literals = bits.take(5) + 257, distances = bits.take(5) + 1;
  const std::size_t given = bits.take(4) + 4;
  if (literals > 286 || distances > 30) return Begun::kDamage;
  std::array<std::uint8_t, 19> of_lengths{};
  for (std::size_t i = 0; i < given; ++i) {
    if (!bits.has(3)) return Begun::kInput;
    of_lengths[kOrder[i]] = static_cast<std::uint8_t>(bits.take(3));
  }
  std::array<Entry, 1U << kBits> table;
  const auto used = std::ranges::count_if(of_lengths, [](unsigned length) { return length > 0; });
  if (used < 2 || !make_table(of_lengths, kSymbols, kBits, table)) return Begun::kDamage;

  std::array<std::uint8_t, kLiteralCodes + kDistanceCodes> lengths{};
  for (std::size_t i = 0; i < literals + distances;) {
    bits.fill();
    const Entry entry = table[bits.value & ((1U << kBits) - 1)];
    const std::uint32_t symbol = value_of(entry);
    const unsigned extra = symbol < 16 ? 0 : symbol == 16 ? 2 : symbol == 17 ? 3 : 7;
    if (bits.count < taken_by(entry) + extra) return Begun::kInput;
    bits.drop(taken_by(entry));
    if (symbol < 16) {
      lengths[i++] = static_cast<std::uint8_t>(symbol);
      continue;
    }
    if (symbol == 16 && i == 0) return Begun::kDamage;
    const std::size_t times = bits.take(extra) + (symbol == 18 ? 11 : 3);
    if (i + times > literals + distances) return Begun::kDamage;
    std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), times,
                symbol == 16 ? lengths[i - 1] : std::uint8_t{0});
    i += times;
  }
  if (lengths[kEndOfBlock] == 0) return Begun::kDamage;
  const std::span<const std::uint8_t> all{lengths};
  const bool is_sound = make_tables(all.first(literals), all.subspan(literals, distances), own);
  return is_sound ? Begun::kYes : Begun::kDamage;
}

}  // namespace

Begun begin_block(Bits& bits, Tables& own, Block& block) {
  if (!bits.has(3)) return Begun::kInput;
  block.is_last = bits.take(1) != 0;
  switch (bits.take(2)) {
    case 0:
      bits.skip_to_byte();
      if (!bits.has(32)) return Begun::kInput;
      block.tables = nullptr;
      block.stored_bytes = bits.take(16);
      if ((bits.take(16) ^ block.stored_bytes) != 0xffff) return Begun::kDamage;
      bits.return_bytes();
      return Begun::kYes;
    case 1:
      block.tables = &fixed_tables();
      return Begun::kYes;
    case 2:
      block.tables = &own;
      return read_code_lengths(bits, own);
    default:
      return Begun::kDamage;
  }
}

}  // namespace tracelens::io::inflating
