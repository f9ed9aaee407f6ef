// thinning.hpp: a lane with fewer slices, in which every gap and every long slice stays true.
//   const ThinnedLane lane = thin(std::move(slices), 2'000);
// With T the smallest power of sqrt(2) us that fits, slices of at least T stay. Shorter ones that
// follow each other become runs, which end at kept slices and at every gap of at least G (T to 16 T).
// So the slices and the runs together are as long as the lane was busy, none of them overlap in a row,
// and each gap of at least G keeps its bounds.
#pragma once

#include <cstddef>
#include <tracelens/page.hpp>
#include <vector>

namespace tracelens {

struct ThinnedLane {
  std::vector<PageSlice> slices;  // by row, then by start
  std::vector<PageRun> runs;      // likewise
  // T and G; 0: all slices are there, apart from those that overlap in their row, which are runs.
  std::int64_t merged_below_ns = 0, gap_ns = 0;
};

// Slices by row, then by start. A row that alone has more gaps of 16 T than the share allows is
// thinned as far as time itself goes: the share is kept unless nothing but the rows are left.
[[nodiscard]] ThinnedLane thin(std::vector<PageSlice> slices, std::size_t share);

// Puts slices by start, longer ones first where they start together, and gives each the first row
// below `rows` that is free. What finds none overlaps others in the last row, or with `drops` goes:
// how many remain is returned. The slices then stand by row and start.
std::size_t place_in_rows(std::vector<PageSlice>& slices, std::size_t rows, bool drops = false);

// Fills a lane: its figures from all slices, which are put into rows and thinned to the share.
void fill(PageLane& lane, std::vector<PageSlice> slices, std::size_t share, std::size_t rows,
          bool drops = false);

// For how long at least one of the slices ran, and the longest time in between that none did.
struct LaneTimes {
  std::int64_t busy_ns = 0, longest_gap_ns = 0;
};
[[nodiscard]] LaneTimes lane_times(const std::vector<PageSlice>& by_start);

}  // namespace tracelens
