// rank_lists.hpp: the lists of ranks and of split sizes that profilers write, as numbers.
//   rank_list("[0, 1, ..., 63]", 64)      // 0, 1, 2, ..., 63: the size confirms the steps
//   split_sizes("[128, 64]")              // {128, 64}
// They come as JSON lists or as the text of a Python list; PyTorch writes long ones with "...".
#pragma once

#include <cstdint>
#include <optional>
#include <tracelens/value.hpp>
#include <vector>

namespace tracelens {

// Empty when the ranks are not known. Text that is no list gives the numbers in it ("0-1"). A list
// that is cut with "..." is filled up when its steps are even and `group_size` confirms the length.
[[nodiscard]] std::vector<std::int64_t> rank_list(const Value& ranks, const Value& group_size);

// Nothing unless it is a list of numbers without gaps.
[[nodiscard]] std::optional<std::vector<std::int64_t>> split_sizes(const Value& splits);

}  // namespace tracelens
