// inflate_tokens.hpp: what blocks of deflate data tell to write, read by one thread so that another has but to copy.
//   BlockTokens tokens;
//   if (const auto first = find_block(packed, 0, until)) tokens.read(packed, *first, until);
//   for (const Token token : tokens.tokens()) ...           // literals, then a match, each
// Where a block begins can be found without reading those before it; and its codes do not depend on the text before
// it, only what is copied does. A place that merely looks like the beginning of a block is possible, so whoever uses
// tokens must have come to exactly the bit they begin at.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "io/inflate_blocks.hpp"

namespace tracelens::io::inflating {

inline constexpr std::size_t kWindow = 32 << 10;  // how far data may refer back
using Window = std::array<char, kWindow>;  // the text before some place, its oldest byte first

// So many of the literals, then a match, in 32 bits.
class Token {
 public:
  // More literals than this have tokens without a match before them.
  static constexpr std::uint32_t kMostLiterals = 510;

  Token() = default;
  Token(std::uint32_t literals, std::uint32_t length, std::uint32_t back)
      : bits_{literals | (length - kShortest) << 9 | (back - 1) << 17} {}
  static Token only_literals() { return Token{kMostLiterals + 1, kShortest, 1}; }

  [[nodiscard]] bool has_match() const { return (bits_ & 511U) <= kMostLiterals; }
  [[nodiscard]] std::uint32_t literals() const { return bits_ & 511U; }
  [[nodiscard]] std::uint32_t length() const { return (bits_ >> 9 & 255U) + kShortest; }
  [[nodiscard]] std::uint32_t back() const { return (bits_ >> 17) + 1; }

 private:
  static constexpr std::uint32_t kShortest = 3;
  std::uint32_t bits_;
};

// Of the blocks that follow each other from some bit on.
class BlockTokens {
 public:
  // With room for what so many packed bytes of traces have, twice.
  explicit BlockTokens(std::size_t packed_bytes = std::size_t{256} << 10);
  // Reads whole blocks from the bit `first` of `packed` on that begin before the bit `until`. Ends before one that is
  // the last of all, is damaged, ends behind `packed`, or finds no room.
  void read(std::span<const char> packed, std::uint64_t first, std::uint64_t until);

  [[nodiscard]] std::span<const Token> tokens() const { return {tokens_.get(), token_count_}; }
  // Of all tokens, and those behind the last one. kBeyond bytes more may be read.
  [[nodiscard]] std::span<const char> literals() const { return {literals_.get(), literal_count_}; }
  static constexpr std::size_t kBeyond = 16;
  [[nodiscard]] std::uint64_t end() const { return end_; }  // the bit behind the blocks

 private:
  struct Sink;

  std::size_t most_tokens_, most_literals_;
  std::unique_ptr<Tables> tables_;
  std::unique_ptr<Token[]> tokens_;
  std::unique_ptr<char[]> literals_;
  std::size_t token_count_ = 0, literal_count_ = 0;
  std::uint64_t end_ = 0;
};

// How far tokens were followed.
struct TokenPlace {
  explicit TokenPlace(const BlockTokens &all)
      : next{all.tokens().data()},
        end{next + all.tokens().size()},
        literal{all.literals().data()},
        literals_end{literal + all.literals().size()} {}
  // Those of the next token, or behind the last one.
  void begin_next() {
    has_match = next != end && next->has_match();
    literals_left =
        next != end ? next->literals() : static_cast<std::size_t>(literals_end - literal);
    if (next != end) token = *next++;
  }
  [[nodiscard]] bool has_more() const { return next != end || literal != literals_end; }

  const Token *next, *end;
  const char *literal, *literals_end;
  // Of a token that has been begun:
  Token token;
  std::size_t literals_left = 0;
  bool has_match = false;  // still to be copied
};

// The first bit from `from` on, before `until`, where a block with codes of its own that is not the last seems to
// begin. Gives up where too much looks like one at first sight.
[[nodiscard]] std::optional<std::uint64_t> find_block(std::span<const char> packed,
                                                      std::uint64_t from, std::uint64_t until);

}  // namespace tracelens::io::inflating
