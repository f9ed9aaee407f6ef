// rank_reader.hpp: the report of many ranks with a reader of one's own: for whoever has to limit what is
// read, as servers do.
//   const Report report = make_collective_report(files, {}, [&](const std::string& path, int threads) {
//     return read_trace(allowed(path), {.threads = threads});
//   });
// Implemented in src/report.
#pragma once

#include <functional>
#include <string>
#include <tracelens/collectives.hpp>
#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// Called by several threads at once, each with the path of a RankFile. An Error becomes a warning about
// the file; any other exception ends the run.
using RankReader = std::function<Trace(const std::string& path, int threads)>;

[[nodiscard]] Report make_collective_report(const std::vector<RankFile>& files,
                                            const CollectiveReportOptions& options,
                                            const RankReader& read);

}  // namespace tracelens
