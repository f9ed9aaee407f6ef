// distribution.hpp: how values are spread: mean, quartiles, any quantile.
//   quantile<std::int64_t>(sorted, 0.9)             // linear between neighbours
//   const Distribution d = distribution_of(lengths);   // d.q50 and the others: none without values
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "analysis/kit/column_set.hpp"

namespace tracelens {

// The value at position (n - 1) * share of the sorted values.
template <class T>
[[nodiscard]] std::optional<double> quantile(std::span<const T> sorted, double share) {
  if (sorted.empty()) return std::nullopt;
  const double place = static_cast<double>(sorted.size() - 1) * share;
  const auto below = static_cast<std::size_t>(place);
  const auto at = [&](std::size_t i) { return static_cast<double>(sorted[i]); };
  if (below + 1 >= sorted.size()) return at(sorted.size() - 1);
  return at(below) + (at(below + 1) - at(below)) * (place - std::floor(place));
}

struct Distribution {
  std::int64_t count = 0;
  std::optional<double> mean, std, min, q25, q50, q75, max;  // std: of a sample
};
// Sorts the values.
[[nodiscard]] Distribution distribution_of(std::vector<double>& values);

// count, mean, std, min, 25%, 50%, 75%, max of the rows' member `of`.
template <class Row>
void add_distribution_columns(ColumnSet<Row>& columns, Distribution Row::*of, const char* unit,
                              const std::string& what) {
  columns.add({"count", Kind::kInteger, "", "number of " + what},
              [of](const Row& row) { return (row.*of).count; });
  const auto add = [&](const char* name, const std::string& of_what,
                       std::optional<double> Distribution::*value) {
    columns.add({name, Kind::kReal, unit, of_what + what},
                [of, value](const Row& row) { return (row.*of).*value; });
  };
  add("mean", "mean of the ", &Distribution::mean);
  add("std", "standard deviation of the ", &Distribution::std);
  add("min", "smallest of the ", &Distribution::min);
  add("25%", "a quarter of them is not above: ", &Distribution::q25);
  add("50%", "median of the ", &Distribution::q50);
  add("75%", "three quarters of them are not above: ", &Distribution::q75);
  add("max", "largest of the ", &Distribution::max);
}

}  // namespace tracelens
