// genesis_capture.hpp: the folder of a captured Genesis run: which of its files are what.
//   const GenesisFiles files = find_genesis_files("capture");
//   const Trace kernels = read_trace(files.kernels);
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>

namespace tracelens {

struct GenesisFiles {
  std::string kernels;  // the kernel CSV, or without one rocprofv3's *_results.json
  bool has_kernel_csv = false;
  std::optional<std::string> timeline;  // *_results.pftrace
};

// Looks into kernel_trace/ first where there is one; of several files the first by name. Throws
// Error when it is no folder or holds no kernels.
[[nodiscard]] GenesisFiles find_genesis_files(const std::string& folder);

// How the run was made; null when the folder does not say.
[[nodiscard]] Value genesis_manifest(const std::string& folder);

// How long the simulation took by run.log; none when it does not say.
[[nodiscard]] std::optional<double> genesis_seconds(const std::string& folder);
// The seconds of the first "wall_time=12.5s" in a log.
[[nodiscard]] std::optional<double> wall_time(std::string_view log);

}  // namespace tracelens
