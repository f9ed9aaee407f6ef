// gzip_pieces.hpp: a gzip file put together from pieces that any number of threads packed.
//   GzipPacker packer;                                  // one per thread
//   const GzipPiece piece = packer.pack(text);          // all at once
//   GzipPieces all;  file.write(all.header());
//   file.write(all.add(piece));                         // in order
//   file.write(all.trailer());
// The result is one gzip stream, for unpackers that stop after the first. A piece knows nothing of
// those before it, so pieces should have some 10 KB or more.
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

class GzipPacker {
 public:
  GzipPacker();
  GzipPacker(GzipPacker&&) noexcept;
  ~GzipPacker();
  [[nodiscard]] GzipPiece pack(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

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
