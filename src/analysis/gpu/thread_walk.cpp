#include "analysis/gpu/thread_walk.hpp"

namespace tracelens {

std::vector<ThreadWalk> cut_walk(const Trace& trace, const ThreadWalk& whole,
                                 std::size_t part_rows) {
  struct Open {
    std::int64_t end_ns;
    std::uint32_t row;
  };
  std::vector<Open> open;
  for (const std::uint32_t row : whole.open) open.push_back({interval_of(trace, {row}).end, row});
  std::vector<ThreadWalk> parts;
  std::size_t first_row = 0, first_stretch = 0, next_stretch = 0;
  std::vector<std::uint32_t> open_at_first = whole.open;
  const auto cut = [&](std::size_t row) {
    parts.push_back({whole.rows.subspan(first_row, row - first_row),
                     whole.stretches.subspan(first_stretch, next_stretch - first_stretch),
                     std::move(open_at_first)});
    first_row = row;
    first_stretch = next_stretch;
    open_at_first.clear();
    for (const Open& event : open) open_at_first.push_back(event.row);
  };
  // By when all that was told of has passed.
  std::int64_t now = std::numeric_limits<std::int64_t>::min();
  const auto is_between_stretches = [&] {
    while (next_stretch < whole.stretches.size() && whole.stretches[next_stretch].time.end <= now)
      ++next_stretch;
    return next_stretch == whole.stretches.size() ||
           whole.stretches[next_stretch].time.start >= now;
  };
  for (std::size_t i = 0; i < whole.rows.size(); ++i) {
    const std::uint32_t row = whole.rows[i];
    // To open again what is open costs less than the part.
    if (i - first_row >= std::max(part_rows, open.size()) && is_between_stretches()) cut(i);
    const Interval time = interval_of(trace, {row});
    while (!open.empty() && open.back().end_ns <= time.start) {
      now = std::max(now, open.back().end_ns);
      open.pop_back();
    }
    now = std::max(now, time.start);
    open.push_back({time.end, row});
  }
  next_stretch = whole.stretches.size();
  cut(whole.rows.size());
  return parts;
}

}  // namespace tracelens
