#include "analysis/ranks/aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <tracelens/error.hpp>

#include "io/numbers.hpp"

namespace tracelens {
namespace {

struct Named {
  std::string_view name;
  Aggregate::Kind kind;
  double percentile = 0;
};
constexpr Named kNames[] = {
    {"mean", Aggregate::Kind::kMean},        {"sum", Aggregate::Kind::kSum},
    {"prod", Aggregate::Kind::kProduct},     {"median", Aggregate::Kind::kMedian},
    {"quantile", Aggregate::Kind::kMedian},  {"min", Aggregate::Kind::kMin},
    {"max", Aggregate::Kind::kMax},          {"std", Aggregate::Kind::kStd},
    {"var", Aggregate::Kind::kVariance},     {"sem", Aggregate::Kind::kStandardError},
    {"first", Aggregate::Kind::kFirst},      {"last", Aggregate::Kind::kLast},
    {"count", Aggregate::Kind::kCount},      {"size", Aggregate::Kind::kSize},
    {"nunique", Aggregate::Kind::kDistinct}, {"skew", Aggregate::Kind::kSkewness},
};

Aggregate parse(const std::string& name) {
  const auto* const found = std::ranges::find(kNames, name, &Named::name);
  if (found != std::end(kNames)) return {found->kind, name, 0};
  if (name.starts_with('p')) {
    const auto percent = io::parse_int64(std::string_view{name}.substr(1));
    if (percent && *percent >= 0 && *percent <= 100)
      return {Aggregate::Kind::kPercentile, name, static_cast<double>(*percent)};
  }
  throw Error{name,
              "not a way to sum up; known are mean, sum, prod, median, quantile, min, max, "
              "std, var, sem, first, last, count, size, nunique, skew and p0 to p100"};
}

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// The sum of (value - mean)^power.
double moment(const std::vector<double>& values, int power) {
  const double mean = sum_of(values) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += std::pow(value - mean, power);
  return sum;
}

double at_percentile(std::vector<double> values, double percent) {
  std::ranges::sort(values);
  const double position = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  if (values[below] == values[above]) return values[below];  // two infinities have no difference
  return values[below] + (values[above] - values[below]) * (position - std::floor(position));
}

std::optional<double> variance(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  return moment(values, 2) / static_cast<double>(values.size() - 1);
}

// Corrected for the size of the sample, as statistics packages print it.
std::optional<double> skewness(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  if (values.size() < 3) return std::nullopt;
  const double second = moment(values, 2) / n, third = moment(values, 3) / n;
  if (second == 0) return 0;
  return std::sqrt(n * (n - 1)) / (n - 2) * third / std::pow(second, 1.5);
}

}  // namespace

std::vector<Aggregate> parse_aggregates(std::span<const std::string> names) {
  std::vector<Aggregate> aggregates;
  for (const std::string& name : names) {
    if (std::ranges::find(aggregates, name, &Aggregate::name) != aggregates.end())
      throw Error{name, "given twice as a way to sum up"};
    aggregates.push_back(parse(name));
  }
  return aggregates;
}

std::optional<double> aggregate(const Aggregate& how, std::span<const std::optional<double>> values,
                                double unit) {
  std::vector<double> present;
  for (const auto& value : values)
    if (value) present.push_back(*value);
  const auto n = static_cast<double>(present.size());
  const auto scaled = [unit](std::optional<double> value) -> std::optional<double> {
    return value ? std::optional{*value / unit} : std::nullopt;
  };
  switch (how.kind) {
    case Aggregate::Kind::kCount:
      return n;
    case Aggregate::Kind::kSize:
      return static_cast<double>(values.size());
    case Aggregate::Kind::kDistinct: {
      std::ranges::sort(present);
      return static_cast<double>(std::unique(present.begin(), present.end()) - present.begin());
    }
    case Aggregate::Kind::kSum:
      return sum_of(present) / unit;
    default:
      break;
  }
  if (present.empty()) return std::nullopt;
  switch (how.kind) {
    case Aggregate::Kind::kMean:
      return sum_of(present) / n / unit;
    case Aggregate::Kind::kProduct: {
      double product = 1;
      for (const double value : present) product *= value / unit;
      return product;
    }
    case Aggregate::Kind::kMedian:
      return at_percentile(present, 50) / unit;
    case Aggregate::Kind::kPercentile:
      return at_percentile(present, how.percentile) / unit;
    case Aggregate::Kind::kMin:
      return std::ranges::min(present) / unit;
    case Aggregate::Kind::kMax:
      return std::ranges::max(present) / unit;
    case Aggregate::Kind::kFirst:
      return present.front() / unit;
    case Aggregate::Kind::kLast:
      return present.back() / unit;
    case Aggregate::Kind::kVariance:
      return scaled(scaled(variance(present)));
    case Aggregate::Kind::kStd: {
      const auto squared = variance(present);
      return squared ? std::optional{std::sqrt(*squared) / unit} : std::nullopt;
    }
    case Aggregate::Kind::kStandardError: {
      const auto squared = variance(present);
      return squared ? std::optional{std::sqrt(*squared / n) / unit} : std::nullopt;
    }
    case Aggregate::Kind::kSkewness:
      return skewness(present);
    default:
      return std::nullopt;
  }
}

}  // namespace tracelens
