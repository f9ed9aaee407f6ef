// histogram.hpp: how many values lie in each of some bins of equal width, as NumPy counts them.
//   for (const HistogramBin& bin : histogram(durations_us, 100, 0.5)) table.add_row(bin.start, ...);
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tracelens {

struct HistogramBin {
  double start = 0, end = 0;  // only the last bin includes its end
  std::int64_t count = 0;
};

// From the least value to the largest; `margin` to both sides when they are equal. No bins without
// values.
[[nodiscard]] std::vector<HistogramBin> histogram(std::span<const double> values, int bins,
                                                  double margin);

}  // namespace tracelens
