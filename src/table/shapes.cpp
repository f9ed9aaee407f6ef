#include "table/shapes.hpp"

#include <fmt/format.h>

#include <cctype>

namespace tracelens {

std::string shapes_text(std::string_view dims) {
  constexpr int kShape = 2, kInList = 3;  // depth of brackets
  std::string text, shape;
  int depth = 0, tensors = 0;
  for (const char c : dims) {
    if (c == '(' || c == '[') {
      if (++depth == kShape) shape.clear(), tensors = 0;
    } else if (c == ')' || c == ']') {
      if (depth == kInList) ++tensors;
      if (depth == kShape) {
        if (shape.ends_with('x')) shape.pop_back();  // "(768,)"
        if (tensors > 0) shape = fmt::format("{} tensors", tensors);
        if (!shape.empty()) text.append(text.empty() ? "" : " ").append(shape);
      }
      --depth;
    } else if (depth == kShape) {
      if (std::isdigit(static_cast<unsigned char>(c)) != 0) shape += c;
      if (c == ',' && !shape.empty() && !shape.ends_with('x')) shape += 'x';
    }
  }
  return text;
}

}  // namespace tracelens
