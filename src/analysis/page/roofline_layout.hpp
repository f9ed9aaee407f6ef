// roofline_layout.hpp: what a picture of a roofline shows: which points, which roofs, how much of the
// axes. The same in every picture of a run.
//   const RooflineLayout layout = roofline_layout(roofline);
//   page.roofline = page_roofline(roofline);
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <tracelens/page.hpp>
#include <tracelens/roofline.hpp>
#include <vector>

namespace tracelens {

struct RooflineLevel {  // compute specs with one peak rate
  double tflops;
  std::string specs;
};

// Powers of ten.
struct DecadeRange {
  double first = 0, last = 1;
};
// Far beyond every machine and every op; what a model of one's own may give is drawn as this.
inline constexpr double kMostExponent = 30;
[[nodiscard]] inline double exponent_of(double value) {
  return std::clamp(std::log10(value), -kMostExponent, kMostExponent);
}

struct RooflineLayout {
  std::vector<const RooflinePoint*> shown;  // the most GPU time first
  std::size_t unplaced = 0, tiny = 0;       // points that are not: without a place, and too small
  double unplaced_share = 0;                // of GPU time, in percent
  std::vector<RooflineLevel> levels;        // that the shown points run at, the highest first
  // Every ridge and level, and as many of the points as there is room for.
  DecadeRange intensity, tflops;
};

inline constexpr double kSmallestShare = 0.01;  // percent of the time: points below it are tiny

// At least `labelled` points are shown, however small.
[[nodiscard]] RooflineLayout roofline_layout(const Roofline& roofline, std::size_t labelled = 12);

[[nodiscard]] std::string rate_text(double tflops);  // "989 TFLOP/s"

[[nodiscard]] PageRoofline page_roofline(const Roofline& roofline);

}  // namespace tracelens
