// test_ranks.hpp: ranks with a few communication kernels each, one readable line per kernel; times
// in microseconds.
//   const CollectiveRun run = test_run({{{.ts = 10, .dur = 5}}, {{.ts = 12, .dur = 3}}});
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/ranks/rank_trace.hpp"
#include "analysis/ranks/run.hpp"

namespace tracelens {

struct TestKernel {
  std::string name = "allreduce";  // empty: no metadata at all
  double ts = 0, dur = 0;
  std::int64_t elements = 1024;
  std::string group = "0", members = "[0, 1]";
  std::int64_t group_size = 2;
  std::string dtype = "Float";
  std::int64_t seq = kAbsent, peer = kAbsent;
  Value splits = "[]";
  std::int64_t out_elements = kAbsent;  // as many as go in
  double exposed = -1;                  // all of it
};

inline RankTrace test_rank(std::int64_t rank, const std::vector<TestKernel>& kernels) {
  const auto ns = [](double us) { return static_cast<std::int64_t>(std::llround(us * 1000)); };
  RankTrace trace;
  trace.rank = rank;
  trace.file = "rank" + std::to_string(rank) + ".json";
  for (const TestKernel& kernel : kernels) {
    CollectiveMessage message;
    message.stream = 20;
    if (!kernel.name.empty()) {
      message[CollectiveField::kCollective] = kernel.name;
      message[CollectiveField::kGroupName] = kernel.group;
      message[CollectiveField::kGroupRanks] = kernel.members;
      message[CollectiveField::kGroupSize] = kernel.group_size;
      message[CollectiveField::kDtype] = kernel.dtype;
      message[CollectiveField::kInElements] = kernel.elements;
      message[CollectiveField::kOutElements] =
          kernel.out_elements == kAbsent ? kernel.elements : kernel.out_elements;
      message[CollectiveField::kInSplit] = kernel.splits;
      message[CollectiveField::kOutSplit] = kernel.splits;
    }
    trace.kernels.push_back({.ts_ns = ns(kernel.ts),
                             .dur_ns = ns(kernel.dur),
                             .exposed_ns = ns(kernel.exposed < 0 ? kernel.dur : kernel.exposed),
                             .sequence = kernel.seq,
                             .peer = kernel.peer,
                             .message = static_cast<std::uint32_t>(trace.messages.size())});
    trace.messages.push_back(std::move(message));
  }
  return trace;
}

inline std::vector<RankTrace> test_ranks(const std::vector<std::vector<TestKernel>>& kernels) {
  std::vector<RankTrace> ranks;
  for (const auto& of_rank : kernels)
    ranks.push_back(test_rank(static_cast<std::int64_t>(ranks.size()), of_rank));
  return ranks;
}

inline CollectiveRun test_run(const std::vector<std::vector<TestKernel>>& kernels,
                              const CollectiveRunOptions& options = {}) {
  return CollectiveRun{test_ranks(kernels), options};
}

}  // namespace tracelens
