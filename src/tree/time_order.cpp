#include "tree/time_order.hpp"

#include <algorithm>
#include <cstddef>

namespace tracelens {

void sort_by_time(std::span<std::uint32_t> rows, std::span<const std::int64_t> ts_ns,
                  std::vector<std::uint32_t>& scratch) {
  const auto earlier = [ts_ns](std::uint32_t a, std::uint32_t b) {
    return ts_ns[a] != ts_ns[b] ? ts_ns[a] < ts_ns[b] : a < b;
  };
  std::vector<std::size_t> bounds{0};  // of the runs: run i is [bounds[i], bounds[i + 1])
  for (std::size_t i = 1; i < rows.size(); ++i)
    if (earlier(rows[i], rows[i - 1])) bounds.push_back(i);
  bounds.push_back(rows.size());
  if (bounds.size() <= 2) return;

  scratch.resize(rows.size());
  std::span<std::uint32_t> from = rows, to = std::span{scratch}.first(rows.size());
  while (bounds.size() > 2) {
    std::vector<std::size_t> merged{0};
    std::size_t run = 0;
    for (; run + 2 < bounds.size(); run += 2) {
      const auto at = [&](std::size_t bound) {
        return from.begin() + static_cast<std::ptrdiff_t>(bounds[bound]);
      };
      std::merge(at(run), at(run + 1), at(run + 1), at(run + 2),
                 to.begin() + static_cast<std::ptrdiff_t>(bounds[run]), earlier);
      merged.push_back(bounds[run + 2]);
    }
    if (run + 1 < bounds.size()) {  // an odd run out: only copied
      std::ranges::copy(from.subspan(bounds[run]),
                        to.begin() + static_cast<std::ptrdiff_t>(bounds[run]));
      merged.push_back(bounds[run + 1]);
    }
    // What was written block by block often is in order once each block is: no need to merge on.
    bounds.assign({0});
    for (std::size_t i = 1; i + 1 < merged.size(); ++i)
      if (earlier(to[merged[i]], to[merged[i] - 1])) bounds.push_back(merged[i]);
    bounds.push_back(rows.size());
    std::swap(from, to);
  }
  if (from.data() != rows.data()) std::ranges::copy(from, rows.begin());
}

}  // namespace tracelens
