#include "analysis/page/thinning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

namespace tracelens {
namespace {

constexpr std::int64_t kFirstLimit = 1'000;  // ns
constexpr int kMostPowers = 88;              // sqrt(2)^88 us: more than 2^53 ns
constexpr int kGapDoublings = 4;

std::int64_t end_of(const PageSlice& slice) { return slice.start_ns + slice.duration_ns; }

std::int64_t limit_of(int power) {
  return std::llround(static_cast<double>(kFirstLimit) * std::pow(2.0, power / 2.0));
}

// Slices that overlap in one row can only be shown together.
struct Cluster {
  std::uint32_t first = 0, last = 0;  // slices [first, last)
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint8_t row = 0;
  [[nodiscard]] bool is_one() const { return last - first == 1; }
  [[nodiscard]] bool is_kept(std::int64_t limit) const {
    return is_one() && end_ns - start_ns >= limit;
  }
};

std::vector<Cluster> clusters_of(std::span<const PageSlice> slices) {
  std::vector<Cluster> clusters;
  clusters.reserve(slices.size());
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    const PageSlice& slice = slices[i];
    if (!clusters.empty() && clusters.back().row == slice.row &&
        slice.start_ns < clusters.back().end_ns) {
      clusters.back().last = i + 1;
      clusters.back().end_ns = std::max(clusters.back().end_ns, end_of(slice));
    } else {
      clusters.push_back({i, i + 1, slice.start_ns, end_of(slice), slice.row});
    }
  }
  return clusters;
}

// Calls use(first, last) for every stretch of clusters that stays one thing.
template <class Use>
void for_each_stretch(std::span<const Cluster> clusters, std::int64_t limit, std::int64_t gap,
                      Use&& use) {
  std::size_t first = 0;
  for (std::size_t i = 1; i <= clusters.size(); ++i) {
    const bool ends = i == clusters.size() || clusters[i].row != clusters[i - 1].row ||
                      clusters[i].is_kept(limit) || clusters[i - 1].is_kept(limit) ||
                      clusters[i].start_ns - clusters[i - 1].end_ns >= gap;
    if (!ends) continue;
    use(first, i);
    first = i;
  }
}

std::size_t count_stretches(std::span<const Cluster> clusters, std::int64_t limit,
                            std::int64_t gap) {
  std::size_t count = 0;
  for_each_stretch(clusters, limit, gap, [&count](std::size_t, std::size_t) { ++count; });
  return count;
}

// What has most of the time of a run; the first of several that have as much.
template <class Key>
class Most {
 public:
  void add(Key key, std::int64_t ns) {
    const auto [entry, is_new] = times_.try_emplace(key, 0);
    entry->second += ns;
    if (is_new) order_.push_back(key);
  }
  [[nodiscard]] Key take() {
    Key best = order_.front();
    for (const Key key : order_)
      if (times_[key] > times_[best]) best = key;
    times_.clear();
    order_.clear();
    return best;
  }

 private:
  std::unordered_map<Key, std::int64_t> times_;
  std::vector<Key> order_;
};

class RunMaker {
 public:
  explicit RunMaker(std::span<const PageSlice> slices) : slices_{slices} {}
  PageRun make(std::span<const Cluster> clusters) {
    PageRun run{.start_ns = clusters.front().start_ns,
                .end_ns = clusters.back().end_ns,
                .row = clusters.front().row};
    for (const Cluster& cluster : clusters) run.busy_ns += cluster.end_ns - cluster.start_ns;
    for (const PageSlice& slice :
         slices_.subspan(clusters.front().first, clusters.back().last - clusters.front().first)) {
      ++run.count;
      run.longest_ns = std::max(run.longest_ns, slice.duration_ns);
      names_.add(slice.name, slice.duration_ns);
      kinds_.add(slice.kind, slice.duration_ns);
    }
    run.name = names_.take();
    run.kind = kinds_.take();
    return run;
  }

 private:
  std::span<const PageSlice> slices_;
  Most<PageName> names_;
  Most<std::uint8_t> kinds_;
};

// Slices are large, and those of most lanes stand in order.
template <class Less>
void sort_unless_sorted(std::vector<PageSlice>& slices, const Less& is_less) {
  if (!std::ranges::is_sorted(slices, is_less)) std::ranges::stable_sort(slices, is_less);
}

}  // namespace

ThinnedLane thin(std::vector<PageSlice> slices, std::size_t share) {
  const std::vector<Cluster> clusters = clusters_of(slices);
  ThinnedLane lane;
  if (clusters.size() == slices.size() && slices.size() <= share) {
    lane.slices = std::move(slices);
    return lane;
  }
  // With a larger limit there are never more stretches: the first one that fits is searched for.
  std::int64_t limit = 0, gap = 0;  // every cluster alone
  if (clusters.size() > share) {
    int low = 0, high = kMostPowers;
    while (low < high) {
      const int middle = (low + high) / 2;
      const std::int64_t tried = limit_of(middle);
      if (count_stretches(clusters, tried, tried << kGapDoublings) <= share)
        high = middle;
      else
        low = middle + 1;
    }
    lane.merged_below_ns = limit = lane.gap_ns = gap = limit_of(low);
    for (int i = 0; i < kGapDoublings && count_stretches(clusters, limit, gap) > share; ++i)
      lane.gap_ns = gap = 2 * gap;
  }
  RunMaker runs{slices};
  for_each_stretch(clusters, limit, gap, [&](std::size_t first, std::size_t last) {
    if (last - first == 1 && clusters[first].is_one())
      lane.slices.push_back(slices[clusters[first].first]);
    else
      lane.runs.push_back(runs.make(std::span{clusters}.subspan(first, last - first)));
  });
  return lane;
}

std::size_t place_in_rows(std::vector<PageSlice>& slices, std::size_t rows, bool drops) {
  sort_unless_sorted(slices, [](const PageSlice& a, const PageSlice& b) {
    return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.duration_ns > b.duration_ns;
  });
  std::vector<std::int64_t> free_from(rows, std::numeric_limits<std::int64_t>::min());
  std::size_t kept = 0;
  for (const PageSlice& slice : slices) {
    const auto row =
        std::ranges::find_if(free_from, [&](std::int64_t free) { return free <= slice.start_ns; });
    if (row == free_from.end() && drops) continue;
    const auto at = row == free_from.end() ? free_from.end() - 1 : row;
    *at = std::max(*at, end_of(slice));
    slices[kept] = slice;
    slices[kept++].row = static_cast<std::uint8_t>(at - free_from.begin());
  }
  slices.resize(kept);
  sort_unless_sorted(slices, [](const PageSlice& a, const PageSlice& b) { return a.row < b.row; });
  return kept;
}

void fill(PageLane& lane, std::vector<PageSlice> slices, std::size_t share, std::size_t rows,
          bool drops) {
  lane.events = static_cast<std::int64_t>(slices.size());
  sort_unless_sorted(
      slices, [](const PageSlice& a, const PageSlice& b) { return a.start_ns < b.start_ns; });
  const LaneTimes times = lane_times(slices);
  lane.busy_ns = times.busy_ns;
  lane.longest_gap_ns = times.longest_gap_ns;
  place_in_rows(slices, rows, drops);
  if (!slices.empty()) lane.rows = static_cast<std::uint8_t>(slices.back().row + 1);
  ThinnedLane thinned = thin(std::move(slices), share);
  lane.slices = std::move(thinned.slices);
  lane.runs = std::move(thinned.runs);
  lane.merged_below_ns = thinned.merged_below_ns;
  lane.gap_ns = thinned.gap_ns;
}

LaneTimes lane_times(const std::vector<PageSlice>& by_start) {
  LaneTimes times;
  std::int64_t end = by_start.empty() ? 0 : by_start.front().start_ns;
  for (const PageSlice& slice : by_start) {
    times.longest_gap_ns = std::max(times.longest_gap_ns, slice.start_ns - end);
    times.busy_ns += std::max<std::int64_t>(0, end_of(slice) - std::max(end, slice.start_ns));
    end = std::max(end, end_of(slice));
  }
  return times;
}

}  // namespace tracelens
