// inflate_parts.hpp: tokens of deflate data in parts whose text several threads write at the same time.
//   const TokenParts divided = divide(tokens, 1 << 20);
//   divided.window_after.apply(window, next_window);        // whoever goes on behind them
//   divided.parts[3].window_before.apply(window, own);      // whoever writes one of them
// Text refers back to at most 32 KB before it, its window. Which bytes are in the window of a part can be told without
// knowing any text: so only the windows of what was divided as one are made one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/inflate_tokens.hpp"

namespace tracelens::io::inflating {

// Where the bytes of a window come from: from the part itself, or from the window before it.
class WindowMap {
 public:
  WindowMap() = default;  // of nothing
  // Of each byte: the byte itself, or from kFirstPlace on its place in the window before.
  explicit WindowMap(std::span<const std::uint16_t, kWindow> origins);
  void apply(const Window& before, Window& after) const;

  static constexpr std::uint16_t kFirstPlace = 256;

 private:
  // Bytes that stand side by side mostly do so where they come from.
  struct Run {
    std::uint16_t bytes;
    std::uint16_t place;  // in the window before; kWindow: the next of the known bytes
  };
  std::vector<Run> runs_;
  std::vector<char> known_;
};

struct TokenPart {
  TokenPlace place;
  std::size_t text_bytes = 0;
  WindowMap window_before;
};
struct TokenParts {
  std::vector<TokenPart> parts;
  WindowMap window_after;
};

// Each has at least so many bytes of text, but the last one. They refer to the tokens; windows come from the one before
// all of them.
[[nodiscard]] TokenParts divide(const BlockTokens& tokens, std::size_t part_bytes);

}  // namespace tracelens::io::inflating
