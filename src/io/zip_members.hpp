// zip_members.hpp: what is in a zip archive.
//   for (const std::string& member : zip_members("run.zip")) Stream::open("run.zip/" + member);
#pragma once

#include <string>
#include <vector>

namespace tracelens::io {

// Whether what stands there can be read only once: standard input, a pipe, a device.
[[nodiscard]] bool is_read_once(const std::string& path);

// The files in the archive, in its order; empty when the file is no zip archive, and for what can
// be read only once: whoever reads it then must find its first bytes. Throws Error when
// it cannot be opened or is a damaged archive.
[[nodiscard]] std::vector<std::string> zip_members(const std::string& path);

}  // namespace tracelens::io
