// read_ranks.hpp: the traces of many ranks, each read, summarized and dropped.
//   std::vector<RankTrace> ranks = read_ranks(files, options, reading);
//   assign_ranks(ranks, files, options, warnings);
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <tracelens/collectives.hpp>
#include <tracelens/rank_reader.hpp>
#include <vector>

#include "analysis/ranks/rank_trace.hpp"

namespace tracelens {

struct RankReading {
  int threads = 0;               // 0: one per core
  std::size_t memory_bytes = 0;  // about as much for traces being read; at least one is
  std::function<void(std::size_t done, std::size_t of)> on_progress = nullptr;
  RankReader read = nullptr;                                 // none: read_trace()
  std::function<Trace(const Trace& trace)> shown = nullptr;  // what of a trace is looked at
  // Told of each summary as soon as it is made, by the thread that made it; may make it smaller.
  std::function<void(RankTrace& rank)> on_rank = nullptr;
};

// A file of many ranks, as `fuse` writes it, has this member; it is no rank of them.
inline constexpr const char* kFusedRanks = "fusedRanks";
inline constexpr const char* kIsFused = "is a file of many ranks that fuse has written; left out";

// Of a file beside those of the ranks of a job.
inline constexpr const char* kTellsNoRank =
    "neither the trace nor its name tells the rank, as they do for other files; left out";

// One summary per rank, in the order of the files: one per file, or one per GPU of a JAX host. A
// file that cannot be read is one with a `problem`.
[[nodiscard]] std::vector<RankTrace> read_ranks(std::span<const RankFile> files,
                                                const RankSummaryOptions& options,
                                                const RankReading& reading);

struct RankAssignment {
  bool by_position = false;
  std::optional<std::int64_t> world_size = {};
  std::vector<std::int64_t> only_ranks = {};  // empty: all
};

// Gives every trace its rank: the one it declares, else the one in its name, else, when that is so
// for all files, its position. Where files hold the GPUs of a host, these are numbered from host to
// host, in the order of the numbers in their names. A file of another format than most is no rank of this job.
// What is left is readable, one per rank, by rank; what is not, or was wrong in a file, and ranks
// that are missing, are told in `warnings`.
void assign_ranks(std::vector<RankTrace>& ranks, std::span<const RankFile> files,
                  const RankAssignment& options, std::vector<std::string>& warnings);

// Times of traces that count from different moments are shifted to those of the first one; in the
// reference edition that is only told.
void align_bases(std::span<RankTrace> ranks, Edition edition, std::vector<std::string>& warnings);
// What times are shifted by for that, by rank; nothing when none are.
[[nodiscard]] std::vector<std::int64_t> base_shifts(std::span<const RankTrace> ranks,
                                                    Edition edition,
                                                    std::vector<std::string>& warnings);

// Tells those of the ranks asked for that are not among the `found`.
void warn_of_absent(std::vector<std::int64_t> asked_for, std::span<const std::int64_t> found,
                    std::vector<std::string>& warnings);

}  // namespace tracelens
