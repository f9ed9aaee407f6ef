#include "report/convert/temporary_files.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <tracelens/error.hpp>
#include <utility>
#include <vector>

#include "report/convert/packed_output.hpp"

namespace tracelens {

TemporaryFiles::~TemporaryFiles() {
  for (const std::string& path : paths_) ::unlink(path.c_str());
}

const std::string& TemporaryFiles::make() {
  std::string path = (std::filesystem::temp_directory_path() / "tracelens-XXXXXX.json.gz").string();
  const int fd = ::mkstemps(path.data(), static_cast<int>(std::string_view{".json.gz"}.size()));
  if (fd < 0) throw Error{path, "cannot be made; see TMPDIR"};
  ::close(fd);
  return paths_.emplace_back(std::move(path));
}

void keep_stream(const std::string& pipe, const std::string& file) {
  io::Stream in = io::Stream::open(pipe);
  PackedOutput out{file};
  std::vector<char> block(std::size_t{1} << 20);
  bool is_empty = true;
  while (const std::size_t got = in.read(block)) {
    out.write({block.data(), got});
    is_empty = false;
  }
  if (is_empty) throw_empty(in);
  out.commit();
}

void throw_empty(const io::Stream& in) {
  throw Error{in.name(), in.damage().empty() ? "the file is empty" : in.damage()};
}

}  // namespace tracelens
