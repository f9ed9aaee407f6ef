// gpu_files.hpp: the texts of data/gpus/*.json; made by CMake, see CMakeLists.txt.
#pragma once

#include <span>
#include <string_view>

namespace tracelens::perf {

struct GpuFile {
  std::string_view name;  // "MI300X.json"
  // In lower case, each with its end of line.
  std::string_view device_names, other_devices;
  std::string_view text;
};

[[nodiscard]] std::span<const GpuFile> gpu_files();

}  // namespace tracelens::perf
