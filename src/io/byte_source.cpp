#include "io/byte_source.hpp"

#include <utility>

#include "io/text_piece.hpp"

namespace tracelens::io {

std::string_view ByteSource::peek(std::size_t count) {
  if (const auto text = memory()) return text->substr(0, count);
  peeked_.erase(0, std::exchange(peeked_taken_, 0));
  if (const std::size_t had = peeked_.size(); had < count) {
    peeked_.resize(count);
    peeked_.resize(had + produce(std::span{peeked_}.subspan(had)));
  }
  return std::string_view{peeked_}.substr(0, count);
}

std::size_t ByteSource::read(std::span<char> into) {
  const std::size_t copied = peeked_.copy(into.data(), into.size(), peeked_taken_);
  peeked_taken_ += copied;
  if (copied == into.size()) return copied;
  return copied + produce(into.subspan(copied));
}

std::shared_ptr<TextPiece> ByteSource::next_piece() {
  return peeked_taken_ < peeked_.size() ? nullptr : produce_piece();
}

Packing sniff_packing(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Packing::kGzip;
  // A frame, or one of the sixteen skippable frames that may come before it.
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Packing::kZstd;
  if (head.size() >= 4 && (head[0] & 0xf0) == 0x50 && head.substr(1, 3) == "\x2a\x4d\x18")
    return Packing::kZstd;
  // A first member, or the directory of an archive without members.
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return Packing::kZip;
  return Packing::kNone;
}

}  // namespace tracelens::io
