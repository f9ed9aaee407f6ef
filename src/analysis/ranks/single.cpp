#include "analysis/ranks/single.hpp"

#include <utility>

#include "analysis/ranks/long.hpp"
#include "analysis/ranks/rank_trace.hpp"
#include "analysis/ranks/run.hpp"

namespace tracelens {

std::optional<Table> coll_analysis(const Trace& trace, Edition edition) {
  std::vector<RankTrace> ranks;
  ranks.push_back(summarize_rank(trace, {.edition = edition, .patterns = {}, .activity = false}));
  ranks.front().rank = 0;  // one rank is read, whichever it is
  ranks.front().device_count.reset();
  const CollectiveRun run{std::move(ranks), {.edition = edition}};
  Table table = nccl_summary_long(
      run, {.name = "coll_analysis", .keep_incomplete = edition == Edition::kExtended});
  if (table.rows() == 0) return std::nullopt;
  return table;
}

}  // namespace tracelens
