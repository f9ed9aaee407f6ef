#include "diagnosis/kit/job.hpp"

#include <algorithm>

#include "analysis/ranks/sync.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

std::vector<LateRank> late_ranks(const CollectiveRun& run) {
  std::vector<LateRank> ranks(run.ranks().size());
  std::vector<double> waited(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].rank = i;
  for (const SyncCollective& row : sync_collectives(run)) {
    const auto members = run.matching().members(run.matching().collectives[row.collective]);
    if (members.size() < 2) continue;
    for (const CollectiveMember& member : members) {
      LateRank& rank = ranks[member.rank];
      ++rank.collectives;
      if (row.start_skew_ns > 0 && run.rank(member) == row.latest_rank) ++rank.times_last;
      waited[member.rank] +=
          static_cast<double>(minus_ns(row.last_start_ns, run.kernel(member).ts_ns));
    }
  }
  double mean = 0;
  for (const double one : waited) mean += one / static_cast<double>(waited.size());
  for (LateRank& rank : ranks) {
    if (rank.collectives > 0)
      rank.percent_last =
          100.0 * static_cast<double>(rank.times_last) / static_cast<double>(rank.collectives);
    if (mean > 0) rank.waited_of_mean = waited[rank.rank] / mean;
  }
  std::ranges::stable_sort(ranks, std::ranges::greater{}, &LateRank::times_last);
  return ranks;
}

std::map<std::uint32_t, std::int64_t> waits_of(const JobFacts& job) {
  std::map<std::uint32_t, std::int64_t> waits;
  if (!job.clocks_are_sure) return waits;
  const Matching& matching = job.run.matching();
  for (const SyncCollective& row : sync_collectives(job.run))
    for (const CollectiveMember& member : matching.members(matching.collectives[row.collective]))
      if (member.rank == job.rank) {
        const CollectiveKernel& kernel = job.run.kernel(member);
        waits.emplace(member.kernel,
                      std::clamp<std::int64_t>(minus_ns(row.last_start_ns, kernel.ts_ns), 0,
                                               std::max<std::int64_t>(0, kernel.dur_ns)));
      }
  return waits;
}

}  // namespace tracelens
