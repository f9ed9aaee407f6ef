// temporary_files.hpp: files that are gone when the work is done.
//   TemporaryFiles temporary;
//   keep_stream("-", temporary.make());
#pragma once

#include <deque>
#include <string>

#include "io/stream.hpp"

namespace tracelens {

class TemporaryFiles {
 public:
  TemporaryFiles() = default;
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  ~TemporaryFiles();
  // An empty file that is ours, by a name that ends in .json.gz.
  const std::string& make();

 private:
  std::deque<std::string> paths_;  // which are handed out
};

// What comes through a pipe as a file, packed by gzip: for work that reads twice. Throws Error when
// nothing comes.
void keep_stream(const std::string& pipe, const std::string& file);

[[noreturn]] void throw_empty(const io::Stream& in);

}  // namespace tracelens
