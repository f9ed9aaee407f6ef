#include "io/text_sums.hpp"

#include <utility>

#include "io/crc.hpp"

namespace tracelens::io {

void TextSums::add(std::span<const char> text) {
  text_bytes_ += static_cast<std::uint32_t>(text.size());
  if (is_known()) {
    crc_ = crc_with(crc_, text);
    return;
  }
  if (parts_.back().piece != nullptr) parts_.emplace_back();
  Part& part = parts_.back();
  part.crc = crc_with(part.crc, text);
  part.bytes += text.size();
}

void TextSums::add(std::shared_ptr<TextPiece> piece) {
  text_bytes_ += static_cast<std::uint32_t>(piece->size());
  const std::size_t bytes = piece->size();
  (void)is_known();  // lets go of those that are written
  parts_.push_back({.piece = std::move(piece), .crc = 0, .bytes = bytes});
}

bool TextSums::is_known() {
  while (!parts_.empty() && (parts_.front().piece == nullptr || parts_.front().piece->has_crc()))
    join_first();
  return parts_.empty();
}

std::uint32_t TextSums::crc() {
  while (!parts_.empty()) join_first();
  return crc_;
}

void TextSums::join_first() {
  const Part& part = parts_.front();
  const std::uint32_t crc = part.piece == nullptr ? part.crc : part.piece->crc();
  crc_ = joined_crc(crc_, crc, part.bytes);
  parts_.pop_front();
}

}  // namespace tracelens::io
