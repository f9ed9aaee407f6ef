#include "analysis/page/thinning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tracelens {
namespace {

PageSlice slice(std::int64_t start, std::int64_t duration, PageName name = 1,
                std::uint8_t kind = 0) {
  PageSlice made;
  made.start_ns = start;
  made.duration_ns = duration;
  made.name = name;
  made.kind = kind;
  return made;
}

// What lies on a row, in order of time.
struct Piece {
  std::uint8_t row = 0;
  std::int64_t start = 0, end = 0, busy = 0, count = 0;
};

std::vector<Piece> pieces_of(const ThinnedLane& lane) {
  std::vector<Piece> pieces;
  for (const PageSlice& each : lane.slices)
    pieces.push_back(
        {each.row, each.start_ns, each.start_ns + each.duration_ns, each.duration_ns, 1});
  for (const PageRun& run : lane.runs)
    pieces.push_back({run.row, run.start_ns, run.end_ns, run.busy_ns, run.count});
  std::ranges::sort(pieces, [](const Piece& a, const Piece& b) {
    return std::tuple{a.row, a.start, a.end} < std::tuple{b.row, b.start, b.end};
  });
  return pieces;
}

// Row, start and end of each stretch without work of at least so long.
using Gaps = std::set<std::tuple<std::uint8_t, std::int64_t, std::int64_t>>;
template <class Each>
Gaps gaps_of(const std::vector<Each>& sorted, std::int64_t at_least) {
  Gaps gaps;
  for (std::size_t i = 1, last = 0; i < sorted.size(); ++i) {
    if (sorted[i].row != sorted[last].row) {
      last = i;
      continue;
    }
    if (sorted[i].start - sorted[last].end >= at_least)
      gaps.insert({sorted[i].row, sorted[last].end, sorted[i].start});
    if (sorted[i].end > sorted[last].end) last = i;
  }
  return gaps;
}

void expect_true_to(const std::vector<PageSlice>& slices, const ThinnedLane& lane,
                    std::size_t share) {
  std::vector<Piece> given;
  for (const PageSlice& each : slices)
    given.push_back(
        {each.row, each.start_ns, each.start_ns + each.duration_ns, each.duration_ns, 1});
  const std::vector<Piece> pieces = pieces_of(lane);
  EXPECT_LE(pieces.size(), std::max<std::size_t>(share, 4));

  std::int64_t count = 0, busy = 0, true_busy = 0;
  for (const Piece& piece : pieces) {
    count += piece.count;
    busy += piece.busy;
  }
  EXPECT_EQ(count, static_cast<std::int64_t>(slices.size()));
  std::int64_t end = 0;
  int row = -1;
  for (const Piece& piece : given) {
    if (piece.row != row) end = piece.start;
    row = piece.row;
    true_busy += std::max<std::int64_t>(0, piece.end - std::max(end, piece.start));
    end = std::max(end, piece.end);
  }
  EXPECT_EQ(busy, true_busy);
  for (std::size_t i = 1; i < pieces.size(); ++i)
    if (pieces[i].row == pieces[i - 1].row) {
      EXPECT_LE(pieces[i - 1].end, pieces[i].start);
    }
  const Gaps kept = gaps_of(pieces, lane.gap_ns);
  for (const auto& gap : gaps_of(given, std::max<std::int64_t>(1, lane.gap_ns)))
    EXPECT_TRUE(kept.contains(gap));
  for (const PageRun& run : lane.runs) {
    EXPECT_LE(run.longest_ns, run.busy_ns);
    EXPECT_LE(run.busy_ns, run.end_ns - run.start_ns);
    EXPECT_GT(run.count, 1);
  }
}

TEST(Thinning, KeepsALaneWithinItsShareWhole) {
  const ThinnedLane lane = thin({slice(0, 5), slice(5, 0), slice(5, 7), slice(100, 1)}, 4);
  EXPECT_EQ(lane.slices.size(), 4u);
  EXPECT_TRUE(lane.runs.empty());
  EXPECT_EQ(lane.merged_below_ns, 0);
  EXPECT_TRUE(thin({}, 10).slices.empty());
}

TEST(Thinning, JoinsShortSlicesAndTellsWhatTheyWere) {
  std::vector<PageSlice> slices{slice(0, 5'000, 9)};
  for (int i = 0; i < 10; ++i)
    slices.push_back(slice(5'000 + 100 * i, 50 + i, i < 4 ? 2 : 3, i < 4 ? 1 : 2));
  slices.push_back(slice(20'000, 300, 2, 1));
  const ThinnedLane lane = thin(slices, 3);
  ASSERT_EQ(lane.runs.size(), 1u);
  EXPECT_EQ(lane.runs[0].start_ns, 5'000);
  EXPECT_EQ(lane.runs[0].end_ns, 5'959);
  EXPECT_EQ(lane.runs[0].busy_ns, 545);
  EXPECT_EQ(lane.runs[0].count, 10);
  EXPECT_EQ(lane.runs[0].longest_ns, 59);
  EXPECT_EQ(lane.runs[0].name, 3u);
  EXPECT_EQ(lane.runs[0].kind, 2);
  ASSERT_EQ(lane.slices.size(), 2u);  // the last one is short, but alone
  EXPECT_EQ(lane.slices[0].duration_ns, 5'000);
  EXPECT_EQ(lane.slices[1].start_ns, 20'000);
  EXPECT_EQ(lane.merged_below_ns, 1'000);
  EXPECT_EQ(lane.gap_ns, 1'000);
  expect_true_to(slices, lane, 3);
}

TEST(Thinning, ShowsWhatOverlapsInARowTogether) {
  const std::vector<PageSlice> slices{slice(0, 10'000'000), slice(5'000'000, 10'000'000),
                                      slice(20'000'000, 1)};
  const ThinnedLane lane = thin(slices, 100);
  ASSERT_EQ(lane.runs.size(), 1u);
  EXPECT_EQ(lane.runs[0].busy_ns, 15'000'000);
  EXPECT_EQ(lane.merged_below_ns, 0);
  expect_true_to(slices, lane, 100);
}

TEST(Thinning, IsTrueToAnyLane) {
  for (std::uint32_t seed = 0; seed < 1'000; ++seed) {
    std::mt19937 random{seed};
    const auto below = [&](std::uint32_t limit) {
      return static_cast<std::int64_t>(random() % limit);
    };
    std::vector<PageSlice> slices;
    const std::int64_t count = below(600), longest = 1 + below(1 << (4 + seed % 24));
    const std::int64_t widest = 1 + below(1 << (4 + seed % 20));
    std::int64_t now = below(100);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t length = below(4) == 0 ? 0 : below(static_cast<std::uint32_t>(longest));
      slices.push_back(slice(now, length, static_cast<PageName>(1 + below(5)),
                             static_cast<std::uint8_t>(below(3))));
      const bool overlaps = below(8) == 0;
      now += overlaps ? length / 2
                      : length + (below(3) == 0 ? 0 : below(static_cast<std::uint32_t>(widest)));
    }
    const std::size_t rows = 1 + seed % 4;
    place_in_rows(slices, rows);
    const std::size_t share = 4 + static_cast<std::size_t>(below(300));
    SCOPED_TRACE(seed);
    expect_true_to(slices, thin(slices, share), share);
  }
}

TEST(PlaceInRows, TakesTheFirstRowThatIsFree) {
  std::vector<PageSlice> slices{slice(0, 10, 1), slice(5, 10, 2), slice(6, 1, 3), slice(10, 5, 4),
                                slice(0, 4, 5)};
  EXPECT_EQ(place_in_rows(slices, 2), 5u);
  std::vector<std::pair<PageName, int>> rows;
  for (const PageSlice& each : slices) rows.emplace_back(each.name, each.row);
  EXPECT_EQ(rows, (std::vector<std::pair<PageName, int>>{{1, 0}, {4, 0}, {5, 1}, {2, 1}, {3, 1}}));
  EXPECT_EQ(place_in_rows(slices, 2, true), 4u);
}

TEST(LaneTimes, CountsOverlapsOnce) {
  const LaneTimes times =
      lane_times({slice(10, 10), slice(15, 10), slice(16, 1), slice(40, 5), slice(47, 1)});
  EXPECT_EQ(times.busy_ns, 21);
  EXPECT_EQ(times.longest_gap_ns, 15);
}

}  // namespace
}  // namespace tracelens
