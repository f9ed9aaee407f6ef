// packed_output.hpp: a text file that is packed by gzip when its name ends in .gz.
//   PackedOutput out{"run.json.gz"};
//   out.write(text);
//   out.commit();            // without it nothing is left behind, as with io::OutputFile
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "io/gzip_writer.hpp"
#include "io/output_file.hpp"

namespace tracelens {

class PackedOutput {
 public:
  // Throws Error when the file cannot be made.
  explicit PackedOutput(const std::string& path);
  ~PackedOutput();
  void write(std::string_view text);
  void commit();

 private:
  io::OutputFile file_;
  std::unique_ptr<io::GzipWriter> gzip_;  // nullptr: the text is written as it is
};

}  // namespace tracelens
