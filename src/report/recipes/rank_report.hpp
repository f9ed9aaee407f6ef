// rank_report.hpp: the report of many ranks from whatever gives their summaries: the bench makes them
// up, for more ranks than there are traces.
//   const auto report = report_of_summaries(files, options, peers, make_up_ranks);
#pragma once

#include <optional>
#include <tracelens/collectives.hpp>
#include <vector>

#include "report/import/ranks_together.hpp"

namespace tracelens {

// As make_collective_report(), with `summarize` in the place of reading the files.
[[nodiscard]] std::optional<Report> report_of_summaries(const std::vector<RankFile>& files,
                                                        const CollectiveReportOptions& options,
                                                        Peers* peers,
                                                        const SummarizeFiles& summarize);

}  // namespace tracelens
