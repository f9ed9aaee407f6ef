// gzip_pieces.hpp: a gzip file put together from pieces that any number of threads packed.
//   GzipPacker packer;                                  // one per thread
//   const GzipPiece piece = packer.pack(text);          // all at once
//   GzipPieces all;  file.write(all.header());
//   file.write(all.add(piece));                         // in order
//   file.write(all.trailer());
// The result is one gzip stream, for unpackers that stop after the first. A piece knows nothing of
// those before it, so pieces should have some 10 KB or more. ISA-L at its fastest level unless told
// otherwise: packing is most of the work of whoever only copies text. Members of zip archives are
// made from such pieces too, see zip_writer.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tracelens::io {

struct GzipPiece {
  std::string packed;
  std::uint32_t crc = 0;
  std::uint64_t text_bytes = 0;
};

enum class Packing : bool { kFast, kSmall };  // small: by a fifth, for half as much time again

class GzipPacker {
 public:
  GzipPacker();
  explicit GzipPacker(Packing packing);
  GzipPacker(GzipPacker&&) noexcept;
  ~GzipPacker();
  [[nodiscard]] GzipPiece pack(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Ends a row of pieces: a last block, with nothing in it.
inline constexpr std::string_view kLastPiece{"\x03\0", 2};

class GzipPieces {
 public:
  [[nodiscard]] static std::string_view header();
  [[nodiscard]] std::string_view add(const GzipPiece& piece);  // what to write: the packed text
  [[nodiscard]] std::string trailer() const;

 private:
  std::uint32_t crc_ = 0;
  std::uint64_t text_bytes_ = 0;
};

}  // namespace tracelens::io
