// histograms.hpp: how many kernels take how long, and how long work waits after its launch.
//   page.histograms = page_histograms(run);
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/page.hpp>
#include <vector>

#include "analysis/page/work_classes.hpp"

namespace tracelens {

// "kernel duration" and "launch latency"; those without values are not there.
[[nodiscard]] std::vector<PageHistogram> page_histograms(const PageSource& run);

// Bins of equal width on a logarithmic scale, 20 for each power of ten, with whole numbers as bounds:
// of short times they are fewer. From the first that is not empty to the last.
[[nodiscard]] std::vector<PageBin> logarithmic_bins(std::span<const std::int64_t> times_ns);

}  // namespace tracelens
