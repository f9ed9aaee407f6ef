// open_steps.hpp: which step is open at a time. Steps may overlap: several processes mark theirs, or
// one marks a step within another.
//   const OpenSteps open{times};                  // of the steps, by start
//   if (const std::size_t step = open.at(ns); step < times.size()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tracelens/intervals.hpp>
#include <vector>

namespace tracelens {

class OpenSteps {
 public:
  explicit OpenSteps(std::span<const Interval> steps);  // by start
  // The one that began last of those that are open; the number of steps: none is.
  [[nodiscard]] std::size_t at(std::int64_t ns) const;

 private:
  struct From {
    std::int64_t ns;
    std::size_t step;
  };
  std::size_t none_;
  std::vector<From> from_;  // which it is from a time on, by time
};

}  // namespace tracelens
