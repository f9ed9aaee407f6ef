#include "analysis/collectives_single.hpp"

#include <utility>

#include "analysis/collective_long.hpp"
#include "analysis/collective_run.hpp"
#include "analysis/rank_trace.hpp"

namespace tracelens {

std::optional<Table> coll_analysis(const Trace& trace, const CollectiveOptions& options) {
  const perf::Edition edition =
      options.keep_incomplete ? perf::Edition::kExtended : perf::Edition::kReference;
  std::vector<RankTrace> ranks;
  ranks.push_back(summarize_rank(trace, {.edition = edition, .patterns = {}, .activity = false}));
  ranks.front().rank = 0;  // one rank is read, whichever it is
  ranks.front().device_count.reset();
  const CollectiveRun run{std::move(ranks), {.edition = edition}};
  Table table =
      nccl_summary_long(run, {.name = "coll_analysis", .keep_incomplete = options.keep_incomplete});
  if (table.rows() == 0) return std::nullopt;
  return table;
}

}  // namespace tracelens
