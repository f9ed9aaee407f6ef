#include "io/gzip_pieces.hpp"

#include <isa-l/igzip_lib.h>

#include <array>
#include <limits>

#include "io/check.hpp"
#include "io/crc.hpp"

namespace tracelens::io {

struct GzipPacker::State {
  isal_zstream stream{};
  std::unique_ptr<std::uint8_t[]> workspace;  // of the level that packs smaller
  std::array<std::uint8_t, std::size_t{64} << 10> packed{};
};

GzipPacker::GzipPacker() : GzipPacker{Packing::kFast} {}
GzipPacker::GzipPacker(Packing packing) : state_{std::make_unique<State>()} {
  if (packing == Packing::kSmall)
    state_->workspace = std::make_unique_for_overwrite<std::uint8_t[]>(ISAL_DEF_LVL1_DEFAULT);
}
GzipPacker::GzipPacker(GzipPacker&&) noexcept = default;
GzipPacker::~GzipPacker() = default;

GzipPiece GzipPacker::pack(std::string_view text) {
  TL_CHECK(text.size() <= std::numeric_limits<std::uint32_t>::max() / 2);
  GzipPiece piece;
  // The library does not write through these pointers.
  auto* const bytes = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  piece.crc = crc_with(0, text);
  piece.text_bytes = text.size();
  isal_zstream& stream = state_->stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_DEFLATE;
  stream.level = state_->workspace ? 1 : 0;
  stream.level_buf = state_->workspace.get();
  stream.level_buf_size = state_->workspace ? ISAL_DEF_LVL1_DEFAULT : 0;
  stream.flush = FULL_FLUSH;  // ends at a byte, and the next piece may stand by itself
  stream.next_in = bytes;
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  do {
    stream.next_out = state_->packed.data();
    stream.avail_out = static_cast<std::uint32_t>(state_->packed.size());
    const int status = isal_deflate(&stream);
    TL_CHECK(status == COMP_OK);
    piece.packed.append(reinterpret_cast<const char*>(state_->packed.data()),
                        state_->packed.size() - stream.avail_out);
  } while (stream.avail_out == 0 || stream.avail_in > 0);
  return piece;
}

std::string_view GzipPieces::header() {
  return {"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};  // deflate, no name, no time, any system
}

std::string_view GzipPieces::add(const GzipPiece& piece) {
  crc_ = joined_crc(crc_, piece.crc, piece.text_bytes);
  text_bytes_ += piece.text_bytes;
  return piece.packed;
}

std::string GzipPieces::trailer() const {
  std::string bytes{kLastPiece};
  for (const std::uint32_t word : {crc_, static_cast<std::uint32_t>(text_bytes_)})
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes += static_cast<char>((word >> shift) & 0xff);
  return bytes;
}

}  // namespace tracelens::io
