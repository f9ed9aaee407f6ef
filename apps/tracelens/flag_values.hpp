// flag_values.hpp: checks of the numbers given to flags, with messages a person can use.
//   verb.add_option("--min-us", min_us_, "...")->check(number_from(0));
// CLI11's own let NaN pass, wrap negative counts around and print the largest double in full.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "io/numbers.hpp"

namespace tracelens::app {

namespace detail {

// `text` as a finite number; NaN when it is none.
inline double finite_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end != text.c_str() && *end == '\0' && std::isfinite(value) ? value : std::nan("");
}

}  // namespace detail

inline CLI::Validator number_from(double lowest) {
  return CLI::Validator{[lowest](std::string& text) {
                          return detail::finite_number(text) >= lowest
                                     ? std::string{}
                                     : fmt::format("expected a number of at least {}, not {}",
                                                   lowest, text);
                        },
                        fmt::format(">= {}", lowest)};
}

inline CLI::Validator number_above(double bound) {
  return CLI::Validator{[bound](std::string& text) {
                          return detail::finite_number(text) > bound
                                     ? std::string{}
                                     : fmt::format("expected a number above {}, not {}", bound,
                                                   text);
                        },
                        fmt::format("> {}", bound)};
}

inline CLI::Validator count_from(std::int64_t lowest) {
  return CLI::Validator{[lowest](std::string& text) {
                          return io::parse_int64(text).value_or(lowest - 1) >= lowest
                                     ? std::string{}
                                     : fmt::format("expected a whole number of at least {}, not {}",
                                                   lowest, text);
                        },
                        fmt::format(">= {}", lowest)};
}

}  // namespace tracelens::app
