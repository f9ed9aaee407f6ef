// packing_samples.hpp: packed data for tests, made by the libraries' own packers.
//   const std::string packed = gzip("text") + gzip("more");
//   const std::string archive = zip({{"trace.json", "[]"}});
#pragma once

#include <isa-l/igzip_lib.h>
#include <zip.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/crc.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens::io {

// Text that looks like a trace and packs about as well; the same for the same `bytes`.
inline std::string sample_text(std::size_t bytes) {
  std::mt19937 random{static_cast<unsigned>(bytes)};
  std::string text = "{\"traceEvents\":[";
  while (text.size() < bytes)
    text += "{\"ph\":\"X\",\"name\":\"aten::mm\",\"ts\":" + std::to_string(random()) +
            ",\"dur\":" + std::to_string(random() % 1000) + "},\n";
  text.resize(bytes);
  return text;
}

inline std::string gzip(std::string_view text) {
  std::string packed(text.size() + 1024, '\0');
  isal_zstream stream{};
  isal_deflate_stateless_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<std::uint32_t>(text.size());
  stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data());
  stream.avail_out = static_cast<std::uint32_t>(packed.size());
  stream.end_of_stream = 1;
  if (isal_deflate_stateless(&stream) != COMP_OK) throw std::runtime_error{"gzip sample"};
  packed.resize(stream.total_out);
  return packed;
}

// How zlib packs: `memory` decides on the size of blocks, `flush_every` so many bytes a stored one is between them.
struct Packer {
  int level = 6, strategy = Z_DEFAULT_STRATEGY, memory = 8, flush_every = 0;
};

inline std::string deflated(std::string_view text, const Packer& how) {
  z_stream z{};
  if (deflateInit2(&z, how.level, Z_DEFLATED, -15, how.memory, how.strategy) != Z_OK)
    throw std::runtime_error{"deflate sample"};
  std::string packed(deflateBound(&z, text.size()) + 100 + text.size() / 10, '\0');
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  const std::size_t piece =
      how.flush_every == 0 ? text.size() : static_cast<std::size_t>(how.flush_every);
  for (std::size_t at = 0; at < text.size(); at += piece) {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data() + at));
    z.avail_in = static_cast<uInt>(std::min(piece, text.size() - at));
    if (deflate(&z, how.flush_every == 0 ? Z_NO_FLUSH : Z_FULL_FLUSH) != Z_OK)
      throw std::runtime_error{"deflate sample"};
  }
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) throw std::runtime_error{"deflate sample"};
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// What a member ends with.
inline std::string gzip_sums(std::string_view text) {
  return little_endian(crc_with(0, text), 4) + little_endian(text.size(), 4);
}

// A member that is not compressed, behind a header with every optional field.
inline std::string gzip_with_full_header(std::string_view text) {
  constexpr int kCrc = 2, kExtra = 4, kName = 8, kComment = 16;
  std::string member = "\x1f\x8b\x08";
  member += static_cast<char>(kCrc | kExtra | kName | kComment);
  member += little_endian(0, 6) + little_endian(5, 2) + "extra";
  member += std::string{"trace.json"} + '\0' + "a comment" + '\0';
  member += little_endian(crc_with(0, member) & 0xffff, 2);
  member += '\x01' + little_endian(text.size(), 2) + little_endian(~text.size() & 0xffff, 2);
  member += text;
  return member + gzip_sums(text);
}

// As bgzip packs: members of 64 KB that tell how long they are.
inline std::string bgzip(std::string_view text) {
  constexpr std::size_t kMost = 0xff00;
  std::string packed;
  for (std::size_t at = 0; at < text.size(); at += kMost) {
    std::string member = gzip(text.substr(at, kMost));
    constexpr char kExtra = 4;
    member[3] = kExtra;
    const std::string size =
        little_endian(member.size() + 7, 2);  // with these eight bytes, less one
    packed += member.insert(10, little_endian(6, 2) + "BC" + little_endian(2, 2) + size);
  }
  return packed;
}

// A member with such data.
inline std::string gzip(std::string_view text, const Packer& how) {
  return std::string{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10} + deflated(text, how) + gzip_sums(text);
}

inline std::string zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx* packer = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, 1);
  packed.resize(ZSTD_compress2(packer, packed.data(), packed.size(), text.data(), text.size()));
  ZSTD_freeCCtx(packer);
  return packed;
}

inline std::string zstd_skippable(std::string_view text) {
  return "\x53\x2a\x4d\x18" + little_endian(text.size(), 4) + std::string{text};
}

using ZipMembers = std::vector<std::pair<std::string, std::string>>;  // name, text

inline std::string zip(const ZipMembers& members, zip_int32_t method = ZIP_CM_DEFLATE) {
  TemporaryFolder folder;
  zip_t* archive = zip_open(folder.path("x.zip").c_str(), ZIP_CREATE, nullptr);
  if (archive == nullptr) throw std::runtime_error{"zip sample"};
  for (const auto& [name, text] : members) {
    if (name.ends_with('/')) {
      zip_dir_add(archive, name.c_str(), 0);
      continue;
    }
    zip_source_t* source = zip_source_buffer(archive, text.data(), text.size(), 0);
    const zip_int64_t index = zip_file_add(archive, name.c_str(), source, 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), method, 0);
  }
  if (zip_close(archive) != 0) throw std::runtime_error{"zip sample"};
  return folder.read("x.zip");
}

}  // namespace tracelens::io
