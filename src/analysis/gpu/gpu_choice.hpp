// gpu_choice.hpp: which GPU's figures a roofline uses: those asked for, else those of the trace's.
//   const std::optional<perf::Gpu> gpu = chosen_gpu({.name = "H100"}, &trace);
#pragma once

#include <optional>
#include <string>
#include <tracelens/trace.hpp>

#include "perf/core/gpu.hpp"

namespace tracelens {

struct GpuChoice {
  std::string name = {};  // "MI300X", or part of a device name
  std::string file = {};  // a JSON file with its figures; wins over the name
};

// Without a choice the first GPU the trace lists that is known; none when there is none. Throws
// Error when a file cannot be read or a name is not known.
[[nodiscard]] std::optional<perf::Gpu> chosen_gpu(const GpuChoice& choice, const Trace* trace);

// The product name of the first GPU the trace lists; "" when it does not say.
[[nodiscard]] std::string device_name(const Trace& trace);

[[nodiscard]] std::string known_gpu_names();  // "A100_40, A100_80, ..."

}  // namespace tracelens
