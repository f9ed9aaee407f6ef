// category_colours.hpp: the name and colour of a category of work, the same in every picture.
//   category_name("gemm")    ->  "GEMM"
//   category_colour("GEMM")  ->  "#2f7ed8"
#pragma once

#include <string>
#include <string_view>

namespace tracelens {

// Ops, kernels and HLO have different words for the same work: that of the ops.
[[nodiscard]] std::string category_name(std::string_view category);

// Forward and backward share one. Categories that are not among the usual ones take a colour by
// their name, so that two of them may be alike.
[[nodiscard]] std::string_view category_colour(std::string_view category);

// Of all that have no colour of their own in a picture.
inline constexpr std::string_view kOtherColour = "#8c8c8c";

}  // namespace tracelens
