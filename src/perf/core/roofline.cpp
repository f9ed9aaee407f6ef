// roofline.cpp: see roofline.hpp.
#include <tracelens/roofline.hpp>

#include <algorithm>

namespace tracelens {

std::string_view bound_name(Bound bound) {
  return bound == Bound::kCompute ? "COMPUTE_BOUND" : "MEMORY_BOUND";
}

std::optional<double> Roof::percent_of(double busy_us) const {
  if (busy_us <= 0) return std::nullopt;
  return best_us / busy_us * 100;
}

std::optional<Roof> roofline(const Work& work, const Gpu& gpu, Edition edition, Peaks peaks) {
  if (!work.bytes || !gpu.memory_gbps) return std::nullopt;
  Roof roof;
  roof.memory_us = *work.bytes / (*gpu.memory_gbps * 1e9) * 1e6;
  if (work.flops > 0) {
    const auto& rates = peaks == Peaks::kAchievable ? gpu.achievable_tflops : gpu.peak_tflops;
    const auto peak = rates.find(work.compute_spec);
    if (peak == rates.end()) return std::nullopt;
    roof.compute_us = work.flops / (peak->second * 1e12) * 1e6;
  } else if (edition == Edition::kReference) {
    return std::nullopt;
  }
  roof.best_us = std::max(roof.compute_us, roof.memory_us);
  roof.bound = roof.compute_us >= roof.memory_us ? Bound::kCompute : Bound::kMemory;
  return roof;
}

}  // namespace tracelens
