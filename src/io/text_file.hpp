// text_file.hpp: a small file as one string: models, GPU figures, rules.
//   const std::string text = io::read_text_file("models.json");      // may be packed, like a trace
#pragma once

#include <array>
#include <string>

#include "io/stream.hpp"

namespace tracelens::io {

// Throws Error when it cannot be read.
[[nodiscard]] inline std::string read_text_file(const std::string& path) {
  Stream in = Stream::open(path);
  std::string text;
  std::array<char, 4096> buffer;
  while (const std::size_t got = in.read(buffer)) text.append(buffer.data(), got);
  return text;
}

}  // namespace tracelens::io
