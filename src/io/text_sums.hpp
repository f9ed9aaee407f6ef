// text_sums.hpp: the checksum and size of a text that comes in parts, some of which other threads write.
//   sums.add(text);
//   sums.add(piece);
//   if (sums.crc() != expected) ...
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "io/text_piece.hpp"

namespace tracelens::io {

class TextSums {
 public:
  void reset() { *this = TextSums{}; }
  // Each follows what was added before.
  void add(std::span<const char> text);
  void add(std::shared_ptr<TextPiece> piece);

  // Without waiting, and without writing what others have not written yet.
  [[nodiscard]] bool is_known();
  [[nodiscard]] std::uint32_t crc();
  [[nodiscard]] std::uint32_t text_bytes() const { return text_bytes_; }  // the lowest bits

 private:
  struct Part {
    std::shared_ptr<TextPiece> piece;  // null: the sum is there
    std::uint32_t crc = 0;
    std::size_t bytes = 0;
  };
  void join_first();

  std::uint32_t crc_ = 0, text_bytes_ = 0;
  std::deque<Part> parts_;  // behind those that crc_ is of
};

}  // namespace tracelens::io
