// ranks_together.hpp: the ranks of a run, read and matched by several processes.
//   RanksTogether ranks = read_ranks_together(files, job, *peers);
//   if (peers->index() != 0) return serve_activities(ranks.share(), *peers);
//   CollectiveRun run{std::move(ranks.matching), std::move(ranks.all), ...};
// Each process reads every n-th file. What is said at the head of the traces goes to all processes, so that
// each knows which ranks there are; kernels go to the owners of their groups (match_together.hpp),
// and then to the first process, which has all but the ranks' activities in the end.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tracelens/collectives.hpp>
#include <tracelens/edition.hpp>
#include <vector>

#include "analysis/ranks/match_together.hpp"
#include "analysis/ranks/matching.hpp"
#include "report/import/read_ranks.hpp"

namespace tracelens {

// The ranks in these files; RankTrace::source is the place in this list.
using SummarizeFiles = std::function<std::vector<RankTrace>(std::span<const RankFile>)>;

struct RankJob {
  SummarizeFiles summarize = nullptr;  // read_ranks()
  Edition edition = Edition::kExtended;
  RankAssignment assignment = {};
  bool hides_files = false;  // forget_files()
};

struct RanksTogether {
  std::vector<RankTrace> own = {};  // of this process, by rank; on the first: what `all` lacks
  std::vector<std::uint32_t> indices = {};  // of `own` in `all`
  std::vector<int> process_of = {};         // by index: who read it
  // On the first process only.
  std::vector<RankTrace> all = {};  // by rank; activities are with those who read them
  Matching matching = {};
  std::vector<std::string> warnings = {};

  [[nodiscard]] RankShare share() const { return {own, indices, process_of.size()}; }
};

// Throws the same Error on all processes when one of them cannot go on, or when nothing is left.
[[nodiscard]] RanksTogether read_ranks_together(const std::vector<RankFile>& files,
                                                const RankJob& job, Peers& peers);

// "rank 3" instead of its path, also in what was told about it.
void forget_files(std::span<const RankFile> files, std::span<RankTrace> ranks,
                  std::span<std::string> warnings);

// When no rank is left. Throws Error with the first of the warnings.
void refuse_no_ranks(std::span<const RankTrace> ranks, std::span<const std::string> warnings);

}  // namespace tracelens
