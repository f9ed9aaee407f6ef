#include "io/gzip_writer.hpp"

#include <gtest/gtest.h>

#include <tracelens/error.hpp>
#include <tracelens/files.hpp>

#include "io/packing_samples.hpp"
#include "io/stream.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens::io {
namespace {

TEST(GzipWriter, WhatGoesInComesOut) {
  const TemporaryFolder folder;
  for (const std::size_t size : {0u, 1u, 70'000u, 3'000'000u}) {
    const std::string text = sample_text(size);
    OutputFile file{folder.path("x.gz")};
    GzipWriter out{file};
    for (std::size_t at = 0; at < text.size(); at += 100'000)
      out.write(std::string_view{text}.substr(at, 100'000));
    out.finish();
    file.commit();
    EXPECT_EQ(Stream::open(folder.path("x.gz")).packing(), "gzip");
    EXPECT_EQ(read_text_file(folder.path("x.gz")), text) << size;
  }
}

TEST(Stream, APathMayGoOnInsideAnArchive) {
  const TemporaryFolder folder;
  const std::string archive =
      folder.write("run.zip", zip({{"a.json", "[1]"}, {"deep/b.json.gz", gzip("[2]")}}));
  EXPECT_EQ(read_text_file(archive + "/a.json"), "[1]");
  EXPECT_EQ(read_text_file(archive + "/deep/b.json.gz"), "[2]");
  EXPECT_EQ(Stream::open(archive + "/deep/b.json.gz").packing(), "zip+gzip");
  EXPECT_THROW(Stream::open(archive + "/c.json"), Error);
  EXPECT_THROW(Stream::open(folder.path("none.zip/a.json")), Error);
}

}  // namespace
}  // namespace tracelens::io
