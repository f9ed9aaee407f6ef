#include "io/gzip_pieces.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <tracelens/files.hpp>
#include <vector>

#include "io/packing_samples.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens::io {
namespace {

std::string packed(std::string_view text, std::size_t piece_bytes) {
  GzipPacker packer;
  GzipPieces pieces;
  std::string bytes{GzipPieces::header()};
  for (std::size_t at = 0; at < text.size(); at += piece_bytes)
    bytes += pieces.add(packer.pack(text.substr(at, piece_bytes)));
  return bytes + pieces.trailer();
}

TEST(GzipPieces, WhatGoesInComesOut) {
  const TemporaryFolder folder;
  for (const std::size_t size : {0u, 1u, 70'000u, 3'000'000u}) {
    const std::string text = sample_text(size);
    const std::string file = folder.write("x.gz", packed(text, 100'000));
    EXPECT_EQ(read_text_file(file), text) << size;
  }
}

// Browsers and others read one stream and take what follows for junk.
TEST(GzipPieces, AreOneStreamWithACheckSumThatHolds) {
  const std::string text = sample_text(50'000), bytes = packed(text, 777);
  std::string unpacked(text.size() + 1, '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(unpacked.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.avail_in, 0u);
  unpacked.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_EQ(unpacked, text);
}

TEST(GzipPieces, TextThatCannotBePackedIsKept) {
  std::string noise(200'000, '\0');
  std::mt19937 random{5};
  for (char& c : noise) c = static_cast<char>(random());
  const TemporaryFolder folder;
  EXPECT_EQ(read_text_file(folder.write("x.gz", packed(noise, 65'536))), noise);
}

}  // namespace
}  // namespace tracelens::io
