// The points of a graph, lane by lane.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/path/graph_builder.hpp"
#include "io/parallel.hpp"
#include "trace/sparse_cursor.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {
namespace {

constexpr std::uint32_t start_of_row(std::uint32_t row) { return row << 1 | 1; }
constexpr std::uint32_t end_of_row(std::uint32_t row) { return row << 1; }

bool is_there(const Trace& trace, std::uint32_t row) {
  return trace.phases()[row] == Phase::kComplete && trace.ts_ns()[row] != kAbsent;
}

}  // namespace

// The events of each lane, and what launched what; several threads, each for itself.
void PathGraphBuilder::collect() {
  const HostRows& host = facts_.host_rows();
  list_other_rows();
  host_rows_.resize(host.tracks());
  constexpr std::size_t kOthers = 2;  // the rest are threads
  io::for_each_part(threads_, host.tracks() + kOthers, [&](std::size_t part) {
    if (part == 0) {
      list_gpu_lanes();
    } else if (part == 1) {
      for_each_launch(trace_, {.link_by_correlation = true}, facts_.rows(),
                      [&](EventId gpu, EventId call) {
                        found_launches_.push_back({gpu, call});
                      });
    } else {
      const auto track = static_cast<std::uint32_t>(part - kOthers);
      host_rows_[track] = rows_of({track}, host.of(track));
      sort_by_opening(host_rows_[track]);
    }
  });
}

// Fetches of batches, and what has no length.
void PathGraphBuilder::list_other_rows() {
  for (const HostRange& range : facts_.host_ranges().data_loading())
    other_rows_.push_back(range.event.row);
  for (const std::uint32_t row : facts_.host_rows().without_length)
    if (trace_.categories()[row] != Category::kPythonFunction) other_rows_.push_back(row);
  std::ranges::stable_sort(other_rows_, {},
                           [&](std::uint32_t row) { return trace_.tracks()[row]; });
}

// The ops, calls and fetches of batches on a thread, by time.
std::vector<std::uint32_t> PathGraphBuilder::rows_of(TrackId track,
                                                     std::span<const std::uint32_t> by_time) const {
  std::vector<std::uint32_t> rows;
  rows.reserve(by_time.size());
  for (const std::uint32_t row : by_time)
    if (trace_.categories()[row] != Category::kPythonFunction) rows.push_back(row);
  const auto track_of = [&](std::uint32_t row) { return trace_.tracks()[row]; };
  const auto first = std::ranges::lower_bound(other_rows_, track, {}, track_of),
             last = std::ranges::upper_bound(other_rows_, track, {}, track_of);
  if (first == last) return rows;
  rows.insert(rows.end(), first, last);
  std::vector<std::uint32_t> scratch;
  sort_by_time(rows, trace_.ts_ns(), scratch);
  return rows;
}

// Of events that start at the same time: callers before what they call.
bool PathGraphBuilder::is_open_before(std::uint32_t a, std::uint32_t b) const {
  const auto rank = [&](std::uint32_t row) {
    const Category category = trace_.categories()[row];
    return is_runtime(category) ? 2 : category == Category::kCpuOp ? 1 : 0;
  };
  return std::tuple{-end_of(trace_, {a}), rank(a), a} <
         std::tuple{-end_of(trace_, {b}), rank(b), b};
}

void PathGraphBuilder::sort_by_opening(std::span<std::uint32_t> rows) const {
  const std::span<const std::int64_t> ts = trace_.ts_ns();
  for (std::size_t first = 0, last = 0; first < rows.size(); first = last) {
    const std::int64_t time = ts[rows[first]];
    while (last < rows.size() && ts[rows[last]] == time) ++last;
    if (last - first > 1)
      std::ranges::sort(rows.subspan(first, last - first),
                        [&](std::uint32_t a, std::uint32_t b) { return is_open_before(a, b); });
  }
}

void PathGraphBuilder::list_gpu_lanes() {
  using Key = std::pair<std::int64_t, std::int64_t>;  // device and stream
  std::map<Key, std::uint32_t> lane_ids;
  std::vector<Key> keys;   // by lane, in order of appearance
  std::uint32_t last = 0;  // most events run where the one before did
  SparseCursor devices{trace_.devices()}, streams{trace_.streams()};
  for (const std::uint32_t row : recorded_rows(trace_, facts_.rows().gpu_events())) {
    if (!is_there(trace_, row)) continue;
    const std::optional<std::int64_t> device = devices.at({row}), stream = streams.at({row});
    // Without both, streams are told apart by their tracks.
    const Key key = device && stream
                        ? Key{*device, *stream}
                        : Key{device.value_or(kAbsent), kAbsent + 1 + trace_.tracks()[row].row};
    if (keys.empty() || keys[last] != key) {
      const auto [lane, is_new] =
          lane_ids.try_emplace(key, static_cast<std::uint32_t>(keys.size()));
      last = lane->second;
      if (is_new) {
        keys.push_back(key);
        gpu_rows_.emplace_back();
        g_.lane_devices_.push_back(device.value_or(-1));
      }
    }
    gpu_rows_[last].push_back(row);
  }
  std::vector<std::uint32_t> scratch;
  for (std::vector<std::uint32_t>& rows : gpu_rows_) sort_by_time(rows, trace_.ts_ns(), scratch);
}

// Every lane has its place before any point is there.
void PathGraphBuilder::add_points() {
  for (std::uint32_t track = 0; track < host_rows_.size(); ++track) {
    if (host_rows_[track].empty()) continue;
    const PathPoint first = g_.gpu_begin_;
    g_.gpu_begin_ += static_cast<PathPoint>(2 * host_rows_[track].size());
    g_.host_lanes_.push_back({{track}, first, g_.gpu_begin_});
  }
  for (std::uint32_t lane = 0; lane < gpu_rows_.size(); ++lane)
    g_.gpu_lanes_.resize(g_.gpu_lanes_.size() + gpu_rows_[lane].size(), lane);
  g_.times_.add_unwritten(g_.gpu_begin_ + 2 * g_.gpu_lanes_.size());
  g_.events_.add_unwritten(g_.times_.size());
  g_.owners_.add_unwritten(g_.gpu_begin_);
  PathPoint* const starts = g_.starts_.add_unwritten(trace_.size());
  io::fill(threads_, std::span{starts, trace_.size()}, kNoPoint);
  io::for_each_part(threads_, g_.host_lanes_.size() + 1, [&](std::size_t part) {
    if (part == 0)
      add_gpu_lanes();
    else
      add_host_lane(g_.host_lanes_[part - 1]);
  });
  host_rows_ = {};
  gpu_rows_ = {};
  g_.is_first_.assign(g_.gpu_begin_, false);
  for (const PathGraph::HostLane& lane : g_.host_lanes_) g_.is_first_[lane.first] = true;
}

// A call that outlasts its caller ends with it.
void PathGraphBuilder::add_host_lane(const PathGraph::HostLane& lane) {
  struct Open {
    std::uint32_t row;
    std::int64_t end;
  };
  PathPoint at = lane.first;
  const auto add = [&](std::int64_t time, std::uint32_t event, EventId owner) {
    g_.times_[at] = time;
    g_.events_[at] = event;
    g_.owners_[at++] = owner;
  };
  std::vector<Open> open;
  const auto close = [&] {
    const Open& last = open.back();
    add(last.end, end_of_row(last.row), {last.row});
    open.pop_back();
  };
  for (const std::uint32_t row : host_rows_[lane.track.row]) {
    const std::int64_t start = trace_.ts_ns()[row];
    std::int64_t until = tracelens::end_of(trace_, {row});
    while (!open.empty() && open.back().end <= start) close();
    if (!open.empty()) until = std::min(until, open.back().end);
    g_.starts_[row] = at;
    add(start, start_of_row(row), open.empty() ? EventId{} : EventId{open.back().row});
    open.push_back({row, until});
  }
  while (!open.empty()) close();
}

void PathGraphBuilder::add_gpu_lanes() {
  PathPoint at = g_.gpu_begin_;
  for (const std::vector<std::uint32_t>& rows : gpu_rows_)
    for (const std::uint32_t row : rows) {
      g_.starts_[row] = at;
      g_.times_[at] = trace_.ts_ns()[row];
      g_.events_[at++] = start_of_row(row);
      g_.times_[at] = tracelens::end_of(trace_, {row});
      g_.events_[at++] = end_of_row(row);
    }
  g_.calls_.assign(g_.gpu_lanes_.size(), kNoPoint);
  clip_overlaps();
}

// A kernel may begin while the one before on its stream drains. It still follows that one, whose
// last part, in which both run, is its own.
void PathGraphBuilder::clip_overlaps() {
  for (std::size_t gpu = 0; gpu + 1 < g_.gpu_count(); ++gpu) {
    const PathPoint end = g_.gpu_end(gpu), next = g_.gpu_start(gpu + 1);
    if (g_.gpu_lanes_[gpu] == g_.gpu_lanes_[gpu + 1] && g_.times_[end] > g_.times_[next] &&
        g_.times_[next] > g_.times_[end - 1] && g_.times_[next + 1] >= g_.times_[end])
      g_.times_[end] = g_.times_[next];
  }
}

}  // namespace tracelens
