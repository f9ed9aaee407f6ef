// gzip_writer.hpp: text that goes into a file packed by gzip.
//   io::OutputFile file{"fused.json.gz"};
//   io::GzipWriter out{file};
//   out.write(text);
//   out.finish();  file.commit();
// ISA-L at its usual level: several times as fast as gzip, files a little larger.
#pragma once

#include <memory>
#include <string_view>

#include "io/output_file.hpp"

namespace tracelens::io {

class GzipWriter {
 public:
  explicit GzipWriter(OutputFile& out);  // which must outlive it
  GzipWriter(GzipWriter&&) = delete;
  ~GzipWriter();

  void write(std::string_view text);
  void finish();  // once, last; without it the packed text is cut

 private:
  struct State;
  void pack(std::string_view text, bool is_last);
  OutputFile& out_;
  std::unique_ptr<State> state_;
};

}  // namespace tracelens::io
