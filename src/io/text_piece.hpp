// text_piece.hpp: a part of a packed text that is yet to be written, by any thread beside those of other parts.
//   if (const std::shared_ptr<io::TextPiece> piece = in.next_piece()) hand_to_another_thread(piece);
//   piece->write(room.first(piece->size()), before);
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "io/inflate_parts.hpp"

namespace tracelens::io {

class TextPiece {
 public:
  // What several have in common: the text before the first of them, and what keeps their tokens.
  struct Origin {
    inflating::Window before, after;
    std::shared_ptr<const void> owner;
  };
  enum class Follows { kPiece, kOther };
  TextPiece(std::shared_ptr<const Origin> origin, inflating::TokenPart part, Follows follows);

  [[nodiscard]] std::size_t size() const { return part_.text_bytes; }
  // Its last bytes where something else than a piece may follow: 32 KB, or all of it. Else nothing.
  [[nodiscard]] std::string_view end() const;
  // The text before it.
  [[nodiscard]] inflating::Window before() const;
  // All of it, once.
  void write(std::span<char> into, const inflating::Window& before);

  // --- for whoever handed it out ---

  [[nodiscard]] bool has_crc() const { return has_crc_; }
  // Of one that nobody has written the text is made here, for nothing but its checksum.
  [[nodiscard]] std::uint32_t crc();

 private:
  void copy_text(std::span<char> into, const inflating::Window& before) const;
  void set_crc(std::span<const char> text);

  std::shared_ptr<const Origin> origin_;
  inflating::TokenPart part_;
  Follows follows_;
  std::atomic<bool> is_summed_ = false;  // by whoever was first
  std::atomic<bool> has_crc_ = false;
  std::uint32_t crc_ = 0;
};

}  // namespace tracelens::io
