// genesis.hpp: Genesis, a physics simulator: the part of a profile in which the simulation ran
// (rather than its build and just-in-time compilation).
//   const auto steady = steady_state(kernels, {.fallback_ns = 5'000'000'000});
//   tables.push_back(steady_timeline(*steady));
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/table.hpp>

#include "analysis/rocm/rocprof_tables.hpp"

namespace tracelens {

struct SteadyStateOptions {
  std::int64_t gap_ns = 1'000'000'000;       // a pause this long ends the build
  std::int64_t fallback_ns = 5'000'000'000;  // how much of the end to take when there is none
};

struct SteadyState {
  std::string method;  // "after_max_gap_5823.4ms", "last_5.0s", "single_dispatch"
  std::int64_t dispatches = 0;
  std::int64_t window_ns = 0, busy_ns = 0;
  [[nodiscard]] double busy_percent() const {
    return window_ns > 0 ? static_cast<double>(busy_ns) / static_cast<double>(window_ns) * 100 : 0;
  }
};

// After the longest pause, or the last seconds: whichever keeps the GPU busier. None without any
// dispatch.
[[nodiscard]] std::optional<SteadyState> steady_state(const RocprofKernels& kernels,
                                                      const SteadyStateOptions& options);

// gpu_timeline of that part.
[[nodiscard]] Table steady_timeline(const SteadyState& steady);

}  // namespace tracelens
