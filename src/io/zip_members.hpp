// zip_members.hpp: what is in a zip archive.
//   for (const std::string& member : zip_members("run.zip")) Stream::open("run.zip/" + member);
#pragma once

#include <string>
#include <vector>

namespace tracelens::io {

// The files in the archive, in its order; empty when the file is no zip archive. Throws Error when
// it cannot be opened or is a damaged archive.
[[nodiscard]] std::vector<std::string> zip_members(const std::string& path);

}  // namespace tracelens::io
