// numbered_ranks.hpp: the traces of the ranks 0 to world_size - 1, found as the Python TraceLens
// finds them: each must be there.
//   const auto files = ranks_in_folder("traces", 8);     // rank0_trace.json ... rank7_trace.json.gz
// All throw Error when the trace of a rank is missing.
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/collectives.hpp>
#include <vector>

namespace tracelens {

// rank<i>_trace.json, or the same packed: .json.gz.
[[nodiscard]] std::vector<RankFile> ranks_in_folder(const std::string& folder,
                                                    std::int64_t world_size);
// `pattern` has one * in the place of the rank.
[[nodiscard]] std::vector<RankFile> ranks_by_pattern(const std::string& pattern,
                                                     std::int64_t world_size);
// Files by a pattern of paths; `regex` finds the rank in each. Of two files of a rank the first
// counts, and other ranks are left out.
[[nodiscard]] std::vector<RankFile> ranks_by_glob(const std::string& glob, const std::string& regex,
                                                  std::int64_t world_size);

// The innermost folder that all files, at least one, are in.
[[nodiscard]] std::string common_folder(const std::vector<RankFile>& files);

}  // namespace tracelens
