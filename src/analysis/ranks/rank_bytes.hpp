// rank_bytes.hpp: rank summaries as bytes, to travel from one process to another.
//   std::string bytes = to_bytes(ranks);
//   std::vector<RankTrace> same = ranks_from_bytes(bytes);
// Only for processes of one program at one time: there is no version and no byte order.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks/rank_trace.hpp"

namespace tracelens {

[[nodiscard]] std::string to_bytes(std::span<const RankTrace> ranks);

// Throws Error when the bytes are not what to_bytes made.
[[nodiscard]] std::vector<RankTrace> ranks_from_bytes(std::string_view bytes);

}  // namespace tracelens
