#include "tree/time_order.hpp"

namespace tracelens {

void sort_by_time(std::span<std::uint32_t> rows, std::span<const std::int64_t> ts_ns,
                  std::vector<std::uint32_t>& scratch, int threads) {
  const auto is_earlier = [ts_ns](std::uint32_t a, std::uint32_t b) {
    return ts_ns[a] != ts_ns[b] ? ts_ns[a] < ts_ns[b] : a < b;
  };
  merge_runs(rows, scratch, is_earlier, threads);
}

void sort_by_time(std::span<EventId> events, std::span<const std::int64_t> ts_ns, int threads) {
  std::vector<EventId> scratch;
  const auto is_earlier = [ts_ns](EventId a, EventId b) {
    return ts_ns[a.row] != ts_ns[b.row] ? ts_ns[a.row] < ts_ns[b.row] : a < b;
  };
  merge_runs(events, scratch, is_earlier, threads);
}

}  // namespace tracelens
