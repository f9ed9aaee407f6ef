#include "io/inflate_tokens.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "io/inflate_loop.hpp"

namespace tracelens::io::inflating {
namespace {

Bits bits_from(std::span<const char> packed, std::uint64_t bit) {
  Bits bits{0, 0, packed.data() + bit / 8, packed.data() + packed.size()};
  bits.fill();
  bits.drop(static_cast<unsigned>(bit % 8));
  return bits;
}

std::uint64_t position(const Bits& bits, std::span<const char> packed) {
  return 8 * static_cast<std::uint64_t>(bits.next - packed.data()) - bits.count;
}

// 57 bits at least; eight bytes must be there.
std::uint64_t word_from(std::span<const char> packed, std::uint64_t bit) {
  return word_at(packed.data() + bit / 8) >> bit % 8;
}

// What four lengths of codes use up of all 2^7 bits that may follow.
constexpr auto kUsedByFour = [] {
  std::array<std::uint8_t, 1U << 12> used{};
  for (unsigned lengths = 0; lengths < used.size(); ++lengths) {
    unsigned sum = 0;
    for (unsigned at = 0; at < 12; at += 3)
      if (const unsigned length = lengths >> at & 7U; length > 0) sum += 128U >> length;
    used[lengths] = static_cast<std::uint8_t>(std::min(sum, 255U));
  }
  return used;
}();

// Whether these may be the first bits of a block: its codes for the lengths of codes use up all there is.
bool may_begin_block(std::span<const char> packed, std::uint64_t bit) {
  const std::uint64_t header = word_from(packed, bit);
  if ((header >> 3 & 31U) > 29 || (header >> 8 & 31U) > 29) return false;
  const auto given = static_cast<unsigned>(header >> 13 & 15U) + 4;
  const std::uint64_t lengths = word_from(packed, bit + 17) & ((std::uint64_t{1} << 3 * given) - 1);
  unsigned used = 0;
  for (unsigned at = 0; at < 57; at += 12) used += kUsedByFour[lengths >> at & 4095U];
  return used == 128;
}

}  // namespace

struct BlockTokens::Sink {
  Token *token, *last_token;
  char *literal_end, *last_literal;
  const char* run;  // the literals since the last match

  [[nodiscard]] bool has_room() const { return token <= last_token && literal_end <= last_literal; }
  void literal(char c) { *literal_end++ = c; }
  [[nodiscard]] static bool takes(std::uint32_t /*back*/) { return true; }
  void match(std::uint32_t length, std::uint32_t back) {
    auto literals = static_cast<std::uint32_t>(literal_end - run);
    while (literals > Token::kMostLiterals) {
      *token++ = Token::only_literals();
      literals -= Token::only_literals().literals();
    }
    *token++ = Token{literals, length, back};
    run = literal_end;
  }
};

BlockTokens::BlockTokens(std::size_t packed_bytes)
    : most_tokens_{packed_bytes / 2},
      most_literals_{packed_bytes},
      tables_{std::make_unique_for_overwrite<Tables>()},
      tokens_{std::make_unique_for_overwrite<Token[]>(most_tokens_)},
      literals_{std::make_unique_for_overwrite<char[]>(most_literals_ + kBeyond)} {}

void BlockTokens::read(std::span<const char> packed, std::uint64_t first, std::uint64_t until) {
  Bits bits = bits_from(packed, first);
  // A run of all the literals there is room for has so many tokens.
  const std::size_t most_of_run = most_literals_ / Token::kMostLiterals + 1;
  Sink sink{.token = tokens_.get(),
            .last_token = tokens_.get() + most_tokens_ - most_of_run - 1,
            .literal_end = literals_.get(),
            .last_literal = literals_.get() + most_literals_ - 4,
            .run = literals_.get()};
  const auto keep = [&] {
    token_count_ = static_cast<std::size_t>(sink.token - tokens_.get());
    literal_count_ = static_cast<std::size_t>(sink.literal_end - literals_.get());
    end_ = position(bits, packed);
  };
  for (keep(); end_ < until; keep()) {
    Block block;
    if (begin_block(bits, *tables_, block) != Begun::kYes) return;
    if (block.is_last) return;
    if (block.tables == nullptr) {  // empty ones stand wherever a packer has put all it had
      if (std::min(bits.end - bits.next, sink.last_literal - sink.literal_end) <
          std::ptrdiff_t{block.stored_bytes})
        return;
      sink.literal_end = std::copy_n(bits.next, block.stored_bytes, sink.literal_end);
      bits.next += block.stored_bytes;
      continue;
    }
    decode_codes_fast(bits, *block.tables, sink);
    // That was all, or something is in the way.
    bits.fill();
    if (bits.count < kLongestCode) return;
    const std::span<const Entry> literals = block.tables->literals;
    Entry entry = literals[bits.value & ((1U << kLiteralBits) - 1)];
    if (is_second(entry)) {
      bits.drop(kLiteralBits);
      entry = literals[second_place(entry, bits.value)];
    }
    if (!is_end(entry)) return;
    bits.drop(taken_by(entry));
  }
}

std::optional<std::uint64_t> find_block(std::span<const char> packed, std::uint64_t from,
                                        std::uint64_t until) {
  // Random bytes have a thousand places in 256 KB that are worth a trial, packed text a hundred before its first
  // block. There is text that has a hundred times as many, and the unpacker waits.
  int trials_left = 4'000;
  Tables tables;
  constexpr unsigned kStep = 55;  // of 57 bits, where three can be seen
  constexpr std::uint64_t kBits =
      kStep + 17 + 64;  // that are looked at, from the first of a step on
  const std::uint64_t all = 8 * std::uint64_t{packed.size()};
  until = std::min(until, all - std::min(all, kBits));
  for (std::uint64_t step = from; step < until; step += kStep) {
    const std::uint64_t word = word_from(packed, step);
    // Not the last block, and with codes of its own: 0, 0, 1.
    std::uint64_t places = ~word & ~(word >> 1) & word >> 2 & ((std::uint64_t{1} << kStep) - 1);
    for (; places != 0; places &= places - 1) {
      const std::uint64_t bit = step + static_cast<unsigned>(std::countr_zero(places));
      if (bit >= until) return std::nullopt;
      if (!may_begin_block(packed, bit)) continue;
      if (trials_left-- == 0) return std::nullopt;
      Bits bits = bits_from(packed, bit);
      Block block;
      if (begin_block(bits, tables, block) == Begun::kYes) return bit;
    }
  }
  return std::nullopt;
}

}  // namespace tracelens::io::inflating
