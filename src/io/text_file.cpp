#include <array>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>

#include "io/mapped_file.hpp"
#include "io/output_file.hpp"
#include "io/stream.hpp"

namespace tracelens {

std::string read_text_file(const std::string& path) {
  io::Stream in = io::Stream::open(path);
  std::string text;
  std::array<char, 4096> buffer;
  while (const std::size_t got = in.read(buffer)) text.append(buffer.data(), got);
  return text;
}

void write_text_file(const std::string& path, std::string_view text) {
  io::OutputFile out{path};
  out.write(text);
  out.commit();
}

bool can_write(const std::string& path) {
  try {
    const io::OutputFile tried{path};
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string file_behind(const std::string& path) { return io::file_behind(path); }

void make_folder(const std::string& path) { io::make_directories(path); }

void guard_mapped_files() { io::guard_mapped_files(); }

}  // namespace tracelens
