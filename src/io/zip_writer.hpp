// zip_writer.hpp: a zip archive written from its first byte to its last, from members that threads
// have packed.
//   io::ZipWriter archive{file};                       // an OutputFile
//   archive.add("xl/workbook.xml", {&piece, 1});       // see gzip_pieces.hpp
//   archive.finish();  file.commit();
// libzip, which reads archives here, would pack all members itself, one after the other, into a file
// of its own that it renames. Every member is packed (deflate); all have the same date, so equal
// members make equal archives. Throws Error where an archive gets larger than its plain form allows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "io/gzip_pieces.hpp"
#include "io/output_file.hpp"

namespace tracelens::io {

class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& out) : out_{out} {}  // which must outlive it
  void add(std::string_view name, std::span<const GzipPiece> pieces);
  void finish();  // once, last

 private:
  void write(std::string_view bytes);
  OutputFile& out_;
  std::uint64_t written_ = 0;
  std::string directory_;  // of the members so far, as it stands at the end of the archive
  std::size_t members_ = 0;
};

}  // namespace tracelens::io
