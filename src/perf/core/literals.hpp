// literals.hpp: the printed scalars and lists of "Concrete Inputs". Nothing is ever evaluated.
//   parse_ints("[1, -2]")    // {1, -2}
//   parse_bool("False")      // false
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tracelens::perf {

// Each returns nothing when the text is anything else; blanks around a value are allowed.
[[nodiscard]] std::optional<std::int64_t> parse_int(std::string_view text);  // -7
[[nodiscard]] std::optional<double> parse_real(std::string_view text);       // 0., 1e-05
[[nodiscard]] std::optional<bool> parse_bool(std::string_view text);         // True, false
[[nodiscard]] std::optional<std::vector<std::int64_t>> parse_ints(std::string_view text);
[[nodiscard]] std::optional<std::vector<bool>> parse_bools(std::string_view text);  // [True, False]
[[nodiscard]] std::optional<std::vector<double>> parse_reals(std::string_view text);

}  // namespace tracelens::perf
