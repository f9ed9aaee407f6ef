// roofline_svg.hpp: the roofline as a picture: one SVG file, no scripts, nothing loaded.
//   out.write(roofline_svg(roofline, {.trace_name = "rank0.json.gz"}));
// Log-log: FLOPs per byte to the right, TFLOP/s up. The slope is the memory bandwidth, the level
// lines are the peak rates that the points run at. A circle is an op with its arguments: its area
// is GPU time, its colour the category; the costliest have numbers that a list beside the plot
// explains. Follows the reader's light or dark theme.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/inspect/roofline.hpp"

namespace tracelens {

struct RooflinePicture {
  std::string trace_name;
  std::size_t labelled = 12;  // points with a number and a line in the list
};

// Text from the trace is escaped. Points without FLOPs, bytes or time have no place on the axes and
// are counted below the plot instead.
[[nodiscard]] std::string roofline_svg(const Roofline& roofline, const RooflinePicture& picture);

}  // namespace tracelens
