// rank_runs.hpp: a list of ranks as runs of equal steps. The groups of a job are such runs, and every
// rank lists those it is in: as plain lists they would grow with the square of the ranks.
//   const RankRuns runs{members};         // 0, 8, 16, ... 16376: one run
//   runs.expand() == members
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tracelens {

class RankRuns {
 public:
  struct Run {
    std::int64_t first = 0, step = 0;
    std::uint64_t count = 0;
    bool operator==(const Run&) const = default;
  };
  RankRuns() = default;
  explicit RankRuns(std::span<const std::int64_t> ranks) {
    for (const std::int64_t rank : ranks) {
      if (!runs.empty() && runs.back().count == 1)
        runs.back().step = minus(rank, runs.back().first);
      if (!runs.empty() && rank == at(runs.back(), runs.back().count))
        ++runs.back().count;
      else
        runs.push_back({rank, 0, 1});
    }
  }
  [[nodiscard]] std::vector<std::int64_t> expand() const {
    std::vector<std::int64_t> ranks;
    for (const Run& run : runs)
      for (std::uint64_t i = 0; i < run.count; ++i) ranks.push_back(at(run, i));
    return ranks;
  }

  std::vector<Run> runs;

 private:
  // Wrapping around: a file may list any numbers.
  static std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }
  static std::int64_t at(const Run& run, std::uint64_t i) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(run.first) +
                                     i * static_cast<std::uint64_t>(run.step));
  }
};

}  // namespace tracelens
