// figures.hpp: numbers in the sentences of a diagnosis: three digits, or one decimal.
//   figure(619.04, "ms")  ->  "619.0 ms"      figure(1184, "")  ->  "1184"      figure(8.666, "%") -> "8.67%"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tracelens {

[[nodiscard]] std::string figure(double value, std::string_view unit);
[[nodiscard]] std::string ms_text(std::int64_t ns);  // figure(..., "ms")
// counted(2, "step") -> "2 steps"; one of them: "1 step"
[[nodiscard]] std::string counted(std::int64_t count, std::string_view what);

[[nodiscard]] constexpr double in_ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }
[[nodiscard]] constexpr double percentage(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace tracelens
