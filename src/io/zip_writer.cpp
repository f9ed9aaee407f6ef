#include "io/zip_writer.hpp"

#include <limits>
#include <tracelens/error.hpp>

#include "io/crc.hpp"

namespace tracelens::io {
namespace {

constexpr std::uint16_t kVersion = 20;             // 2.0: deflate
constexpr std::uint16_t kNamesAreUtf8 = 1U << 11;  // flag
constexpr std::uint16_t kDeflate = 8;
constexpr std::uint16_t kDate = 1U << 5 | 1;  // the first that the format knows: 1 January 1980

void append_16(std::string& out, std::uint64_t value) {
  for (unsigned shift = 0; shift < 16; shift += 8) out += static_cast<char>(value >> shift & 0xff);
}

void append_32(std::string& out, std::uint64_t value) {
  append_16(out, value);
  append_16(out, value >> 16);
}

}  // namespace

void ZipWriter::add(std::string_view name, std::span<const GzipPiece> pieces) {
  std::uint32_t crc = 0;
  std::uint64_t text_bytes = 0, packed_bytes = kLastPiece.size();
  for (const GzipPiece& piece : pieces) {
    crc = joined_crc(crc, piece.crc, piece.text_bytes);
    text_bytes += piece.text_bytes;
    packed_bytes += piece.packed.size();
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  constexpr std::uint64_t kHeaders = 128;  // more than all that is written about a member
  if (text_bytes > kMost ||
      written_ + packed_bytes + directory_.size() + 2 * name.size() + kHeaders > kMost)
    throw Error{out_.path(), "would be larger than 4 GB; write CSV files instead (-o folder/)"};

  std::string about;  // what stands before the member and in the directory alike
  for (const std::uint16_t field : {kVersion, kNamesAreUtf8, kDeflate}) append_16(about, field);
  append_16(about, 0);  // midnight
  append_16(about, kDate);
  for (const std::uint64_t field : {std::uint64_t{crc}, packed_bytes, text_bytes})
    append_32(about, field);
  append_16(about, name.size());
  append_16(about, 0);  // bytes of further fields

  directory_ += "PK\1\2";
  append_16(directory_, kVersion);
  directory_ += about;
  for (int i = 0; i < 3; ++i) append_16(directory_, 0);  // comment, disk, kind of text
  append_32(directory_, 0);                              // permissions
  append_32(directory_, written_);
  directory_ += name;
  ++members_;

  write("PK\3\4");
  write(about);
  write(name);
  for (const GzipPiece& piece : pieces) write(piece.packed);
  write(kLastPiece);
}

void ZipWriter::finish() {
  std::string end = "PK\5\6";
  append_32(end, 0);  // both numbers of disks
  append_16(end, members_);
  append_16(end, members_);
  append_32(end, directory_.size());
  append_32(end, written_);
  append_16(end, 0);  // comment
  write(directory_);
  write(end);
}

void ZipWriter::write(std::string_view bytes) {
  out_.write(bytes);
  written_ += bytes.size();
}

}  // namespace tracelens::io
