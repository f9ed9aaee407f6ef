// job.hpp: what a rank's diagnosis may know of the other ranks of its job.
//   if (c.job() == nullptr) return std::nullopt;       // one trace alone
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/ranks/run.hpp"

namespace tracelens {

struct JobFacts {
  const CollectiveRun& run;     // by clocks that can be compared
  std::size_t rank = 0;         // which of run.ranks() is being diagnosed
  bool clocks_are_sure = true;  // false: who is late is not certain
};

// A rank that the others wait for.
struct LateRank {
  std::size_t rank = 0;  // of run.ranks()
  std::int64_t times_last = 0, collectives = 0;
  double percent_last = 0;    // of the collectives it takes part in
  double waited_of_mean = 0;  // its own waiting, as a part of that of all ranks
};

// By how often they came last.
[[nodiscard]] std::vector<LateRank> late_ranks(const CollectiveRun& run);

// How long the rank waits in each collective until the last one has come, by kernel; empty: the clocks
// do not tell.
[[nodiscard]] std::map<std::uint32_t, std::int64_t> waits_of(const JobFacts& job);

}  // namespace tracelens
