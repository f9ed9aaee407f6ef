#include "analysis/page/rank_lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "analysis/page/names.hpp"
#include "analysis/page/strips.hpp"
#include "analysis/page/thinning.hpp"
#include "analysis/page/times.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kRankRows = 4;
constexpr std::size_t kMostRankStrips = 16;

// In the order of RankLane::Work.
const PageClass kRankClasses[] = {{"computing", "#2f7ed8"},
                                  {"communication", "#cc3366", true},
                                  {"copy", "#0b7a75", true},
                                  {"fill", "#b08968"},
                                  {"idle", "#d0d7de"}};

std::int64_t computing_ns(const RankTrace& rank) {
  return rank.steps.empty() ? 0 : rank.steps.front().computation_ns;
}

// Places of the ranks that get a strip, ascending.
std::vector<std::size_t> ranks_with_strips(std::span<const RankTrace> ranks) {
  std::vector<std::size_t> chosen;
  const auto add = [&chosen](std::size_t rank) {
    if (std::ranges::find(chosen, rank) == chosen.end()) chosen.push_back(rank);
  };
  if (ranks.empty()) return chosen;
  const auto [least, most] = std::ranges::minmax_element(ranks, {}, computing_ns);
  if (ranks.size() > kMostRankStrips) {
    add(static_cast<std::size_t>(most - ranks.begin()));
    add(static_cast<std::size_t>(least - ranks.begin()));
  }
  const std::size_t room = std::min(ranks.size(), kMostRankStrips) - chosen.size();
  for (std::size_t i = 0; i < room; ++i) add(i * ranks.size() / room);
  std::ranges::sort(chosen);
  return chosen;
}

PageStrip strip_of(const PageLane& lane, std::string label, std::int64_t span_ns) {
  StripTimes times;
  const auto add = [&times](std::uint8_t kind, std::int64_t start, std::int64_t length) {
    (kind == RankLane::kCommunicating ? times.communicating
     : kind == RankLane::kCopying     ? times.copying
                                      : times.computing)
        .push_back({start, start + length});
  };
  for (const PageSlice& slice : lane.slices) add(slice.kind, slice.start_ns, slice.duration_ns);
  for (const PageRun& run : lane.runs) add(run.kind, run.start_ns, run.busy_ns);
  return busy_strip(std::move(label), std::move(times), span_ns);
}

}  // namespace

void finish_lane(RankLane& rank, std::size_t share) {
  std::vector<PageSlice> slices = std::exchange(rank.lane.slices, {});
  fill(rank.lane, std::move(slices), std::max<std::size_t>(share, 1), kRankRows);
}

Page ranks_page(std::span<const RankTrace> ranks) {
  Page page;
  page.classes.assign(std::begin(kRankClasses), std::end(kRankClasses));
  page.origin_ns = std::numeric_limits<std::int64_t>::max();
  for (const RankTrace& rank : ranks)
    if (rank.lane.lane.events > 0) page.origin_ns = std::min(page.origin_ns, rank.lane.origin_ns);
  PageNames names;
  for (const RankTrace& rank : ranks) {
    PageLane lane = rank.lane.lane;
    const std::string name = fmt::format("rank {}", rank.rank);
    lane.group = static_cast<std::int64_t>(page.groups.size());
    page.groups.push_back(name);
    lane.id = fmt::format("rank:{}", rank.rank);
    lane.title = name;
    std::vector<PageName> places;
    for (const std::string& text : rank.lane.names) places.push_back(names.of(text));
    const auto move = [&](std::int64_t ns) {
      return page_time(plus_ns(ns, rank.lane.origin_ns), page.origin_ns);
    };
    for (PageSlice& slice : lane.slices) {
      const std::int64_t end = move(slice.start_ns + slice.duration_ns);
      slice.start_ns = move(slice.start_ns);
      slice.duration_ns = end - slice.start_ns;
      slice.name = places[slice.name];
      page.span_ns = std::max(page.span_ns, end);
    }
    for (PageRun& run : lane.runs) {
      run.start_ns = move(run.start_ns);
      run.end_ns = move(run.end_ns);
      run.name = places[run.name];
      page.span_ns = std::max(page.span_ns, run.end_ns);
    }
    page.lanes.push_back(std::move(lane));
  }
  if (page.origin_ns == std::numeric_limits<std::int64_t>::max()) page.origin_ns = 0;
  for (const std::size_t rank : ranks_with_strips(ranks))
    page.strips.push_back(strip_of(page.lanes[rank], page.lanes[rank].title, page.span_ns));
  page.names = std::move(names).take();
  return page;
}

}  // namespace tracelens
