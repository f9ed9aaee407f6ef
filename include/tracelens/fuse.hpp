// fuse.hpp: the traces of many ranks as one file for a trace viewer, ranks side by side. In
// src/report.
//   fuse_traces(find_rank_files({"traces/"}), "fused.json.gz", {.python = true});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/collectives.hpp>
#include <vector>

namespace tracelens {

struct FuseOptions {
  // --- which events ---
  bool python = false;    // also Python frames
  std::string only = {};  // GPU events whose names hold this word, in any case; empty: all
  std::vector<std::string> categories = {};   // events of these categories alone; empty: all
  std::vector<std::int64_t> only_ranks = {};  // empty: all
  struct Window {
    std::int64_t from_ns = 0, to_ns = 0;  // counted from the first event of all ranks
  };
  std::optional<Window> window = {};  // events that overlap it
  // --- times ---
  // Shift each rank by the difference of the clocks, as told by the ends of collectives.
  bool align_clocks = false;
  std::optional<std::int64_t> gpus_per_node = {};  // ranks that share a clock
};

struct FuseResult {
  std::uint64_t events = 0;  // written
  std::size_t ranks = 0;
  std::vector<std::string> warnings = {};
};

// Reads every file twice and keeps none: memory does not grow with the traces. `output` is packed
// when its name ends in .gz. Traces that are not Chrome JSON (JAX, Perfetto, rocprof) are read
// whole, one at a time, and written as such. A file that cannot be read is named in the warnings;
// throws Error when none is left or the output cannot be written.
FuseResult fuse_traces(const std::vector<RankFile>& files, const std::string& output,
                       const FuseOptions& options = {});

}  // namespace tracelens
