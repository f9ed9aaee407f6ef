#include "io/zip_writer.hpp"

#include <gtest/gtest.h>
#include <zip.h>

#include <memory>
#include <tracelens/error.hpp>
#include <vector>

#include "io/packing_samples.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens::io {
namespace {

// A member as libzip reads it, which checks its checksum and sizes on the way.
std::string member(const std::string& path, const std::string& name) {
  const std::unique_ptr<zip_t, decltype(&zip_discard)> archive{
      zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, nullptr), zip_discard};
  if (!archive) return "no archive";
  zip_stat_t about{};
  if (zip_stat(archive.get(), name.c_str(), 0, &about) != 0) return "no member";
  std::string text(about.size, '\0');
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file{
      zip_fopen(archive.get(), name.c_str(), 0), zip_fclose};
  if (zip_fread(file.get(), text.data(), text.size()) != static_cast<zip_int64_t>(text.size()))
    return zip_file_strerror(file.get());
  return text;
}

TEST(ZipWriter, WhatGoesInComesOut) {
  const TemporaryFolder folder;
  const std::string long_text = sample_text(3'000'000);
  GzipPacker fast, small{Packing::kSmall};
  OutputFile file{folder.path("x.zip")};
  ZipWriter archive{file};
  archive.add("empty", {});
  const std::vector<GzipPiece> pieces = {small.pack(std::string_view{long_text}.substr(0, 999)),
                                         fast.pack({}),
                                         small.pack(std::string_view{long_text}.substr(999))};
  archive.add("folder/long µ", pieces);
  archive.finish();
  file.commit();
  EXPECT_EQ(member(folder.path("x.zip"), "empty"), "");
  EXPECT_EQ(member(folder.path("x.zip"), "folder/long µ"), long_text);
}

TEST(ZipWriter, AnArchiveOfNothingIsOne) {
  const TemporaryFolder folder;
  OutputFile file{folder.path("x.zip")};
  ZipWriter archive{file};
  archive.finish();
  file.commit();
  EXPECT_EQ(member(folder.path("x.zip"), "a"), "no member");
}

TEST(ZipWriter, MembersThatAreTooLargeAreRefused) {
  const TemporaryFolder folder;
  OutputFile file{folder.path("x.zip")};
  ZipWriter archive{file};
  const GzipPiece piece{.packed = "", .crc = 0, .text_bytes = std::uint64_t{1} << 32};
  EXPECT_THROW(archive.add("a", {&piece, 1}), Error);
}

}  // namespace
}  // namespace tracelens::io
