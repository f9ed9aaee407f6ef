// roofline.hpp: the best time a GPU could do some work in, and what limits it.
//   if (const auto roof = roofline(work, *gpu)) use(roof->best_us, roof->bound);
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "perf/core/gpu.hpp"
#include "perf/core/work.hpp"

namespace tracelens::perf {

enum class Bound : std::uint8_t { kCompute, kMemory };
[[nodiscard]] std::string_view bound_name(Bound bound);  // "COMPUTE_BOUND", "MEMORY_BOUND"

enum class Peaks : std::uint8_t { kDatasheet, kAchievable };

struct Roof {
  double best_us = 0;     // the longer of the two below
  double compute_us = 0;  // at the peak rate of the work's compute spec
  double memory_us = 0;   // at full memory bandwidth
  Bound bound = Bound::kCompute;
  // Share of the best time in the time it took; nothing when that is 0.
  [[nodiscard]] std::optional<double> percent_of(double busy_us) const;
};

// Nothing when the bytes, the bandwidth or the peak are unknown, or (reference edition) the work
// has no FLOPs; in the extended edition work without FLOPs is limited by memory alone.
[[nodiscard]] std::optional<Roof> roofline(const Work& work, const Gpu& gpu,
                                           Edition edition = Edition::kReference,
                                           Peaks peaks = Peaks::kDatasheet);

}  // namespace tracelens::perf
