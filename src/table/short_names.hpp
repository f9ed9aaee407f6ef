// short_names.hpp: long names of kernels made short enough for a column, and still told apart.
//   short_names({"void at::native::fill<float, 4>(int, float*)"}, 16)  ->  {"fill<float, 4>"}
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tracelens {

// Each at most `columns` wide, in the same order. What says least goes first: the return type and
// the parameters, namespaces, inner template arguments; then the middle. Names that differ come
// out different where there is room for what they differ in.
[[nodiscard]] std::vector<std::string> short_names(std::span<const std::string> names,
                                                   std::size_t columns);

}  // namespace tracelens
