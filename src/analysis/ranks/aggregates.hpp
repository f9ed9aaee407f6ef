// aggregates.hpp: the ways to sum up a metric over a group of collectives, by name.
//   const auto how = parse_aggregates({"mean", "p99"});            // throws Error for others
//   aggregate(how[0], values, 1e3)                                 // ns in, µs out
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracelens {

struct Aggregate {
  enum class Kind : unsigned char {
    kMean,
    kSum,
    kProduct,
    kMedian,
    kMin,
    kMax,
    kStd,
    kVariance,
    kStandardError,
    kFirst,
    kLast,
    kCount,
    kSize,
    kDistinct,
    kSkewness,
    kPercentile,
  };
  Kind kind = Kind::kMean;
  std::string name;       // as given; the suffix of the column
  double percentile = 0;  // kPercentile
};

// mean sum prod median quantile min max std var sem first last count size nunique skew, p50 .. p99.
// Throws Error for any other name and for one that is given twice.
[[nodiscard]] std::vector<Aggregate> parse_aggregates(std::span<const std::string> names);

// Empty values are left out (but counted by `size`); nothing when too few are left. `unit` is what
// one unit of the result is in units of the values.
[[nodiscard]] std::optional<double> aggregate(const Aggregate& how,
                                              std::span<const std::optional<double>> values,
                                              double unit);

}  // namespace tracelens
