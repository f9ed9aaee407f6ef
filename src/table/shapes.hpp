// shapes.hpp: the shapes of an op's arguments in the little room a screen or a picture has.
//   shapes_text("((4096, 8192), (8192,), ())")  ->  "4096x8192 8192"
#pragma once

#include <string>
#include <string_view>

namespace tracelens {

// From what Python prints; a list of tensors becomes their number, "3 tensors". Empty when there
// is no shape in it.
[[nodiscard]] std::string shapes_text(std::string_view dims);

}  // namespace tracelens
