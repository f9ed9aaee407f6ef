// The points of a graph, lane by lane.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/path/graph_builder.hpp"
#include "trace/sparse_cursor.hpp"
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

void PathGraphBuilder::add_host_lanes() {
  const HostRows& host = facts_.host_rows();
  list_other_rows();
  // Room for all, so that nothing moves.
  const std::size_t most_host = 2 * (host.rows.size() - host.frames + other_rows_.size());
  const std::size_t most_gpu = 2 * facts_.rows().gpu_events().size();
  g_.times_.reserve(most_host + most_gpu);
  g_.events_.reserve(most_host + most_gpu);
  g_.owners_.reserve(most_host);
  g_.starts_.assign(trace_.size(), kNoPoint);
  std::vector<std::uint32_t> rows;
  for (std::uint32_t track = 0; track < host.tracks(); ++track) {
    take_rows({track}, host.of(track), rows);
    if (rows.empty()) continue;
    sort_by_opening(rows);
    add_host_lane({track}, rows);
  }
  g_.gpu_begin_ = static_cast<PathPoint>(g_.times_.size());
  g_.launches_.assign(g_.gpu_begin_, false);
  g_.is_first_.assign(g_.gpu_begin_, false);
  for (const PathGraph::HostLane& lane : g_.host_lanes_) g_.is_first_[lane.first] = true;
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
void PathGraphBuilder::take_rows(TrackId track, std::span<const std::uint32_t> by_time,
                                 std::vector<std::uint32_t>& rows) const {
  rows.clear();
  for (const std::uint32_t row : by_time)
    if (trace_.categories()[row] != Category::kPythonFunction) rows.push_back(row);
  const auto track_of = [&](std::uint32_t row) { return trace_.tracks()[row]; };
  const auto first = std::ranges::lower_bound(other_rows_, track, {}, track_of),
             last = std::ranges::upper_bound(other_rows_, track, {}, track_of);
  if (first == last) return;
  rows.insert(rows.end(), first, last);
  std::vector<std::uint32_t> scratch;
  sort_by_time(rows, trace_.ts_ns(), scratch);
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

// A call that outlasts its caller ends with it.
void PathGraphBuilder::add_host_lane(TrackId track, std::span<const std::uint32_t> rows) {
  struct Open {
    std::uint32_t row;
    std::int64_t end;
  };
  const std::size_t first = g_.times_.size(), end = first + 2 * rows.size();
  g_.times_.resize(end);
  g_.events_.resize(end);
  g_.owners_.resize(end);
  auto at = static_cast<PathPoint>(first);
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
  for (const std::uint32_t row : rows) {
    const std::int64_t start = trace_.ts_ns()[row];
    std::int64_t until = tracelens::end_of(trace_, {row});
    while (!open.empty() && open.back().end <= start) close();
    if (!open.empty()) until = std::min(until, open.back().end);
    g_.starts_[row] = at;
    add(start, start_of_row(row), open.empty() ? EventId{} : EventId{open.back().row});
    open.push_back({row, until});
  }
  while (!open.empty()) close();
  g_.host_lanes_.push_back({track, static_cast<PathPoint>(first), at});
}

void PathGraphBuilder::add_gpu_lanes() {
  struct Lane {
    std::pair<std::int64_t, std::int64_t> key;  // device and stream
    std::vector<std::uint32_t> rows = {};
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> lane_ids;
  std::vector<Lane> lanes;  // in order of appearance
  std::uint32_t last = 0;   // most events run where the one before did
  SparseCursor devices{trace_.devices()}, streams{trace_.streams()};
  for (const std::uint32_t row : recorded_rows(trace_, facts_.rows().gpu_events())) {
    if (!is_there(trace_, row)) continue;
    const std::optional<std::int64_t> device = devices.at({row}), stream = streams.at({row});
    // Without both, streams are told apart by their tracks.
    const std::pair key = device && stream ? std::pair{*device, *stream}
                                           : std::pair{device.value_or(kAbsent),
                                                       kAbsent + 1 + trace_.tracks()[row].row};
    if (lanes.empty() || lanes[last].key != key) {
      const auto [lane, is_new] =
          lane_ids.try_emplace(key, static_cast<std::uint32_t>(lanes.size()));
      last = lane->second;
      if (is_new) {
        lanes.push_back({key});
        g_.lane_devices_.push_back(device.value_or(-1));
      }
    }
    lanes[last].rows.push_back(row);
  }
  std::vector<std::uint32_t> scratch;
  for (std::uint32_t lane = 0; lane < lanes.size(); ++lane) {
    sort_by_time(lanes[lane].rows, trace_.ts_ns(), scratch);
    add_gpu_lane(lane, lanes[lane].rows);
  }
  g_.calls_.assign(g_.gpu_lanes_.size(), kNoPoint);
  clip_overlaps();
}

void PathGraphBuilder::add_gpu_lane(std::uint32_t lane, std::span<const std::uint32_t> rows) {
  for (const std::uint32_t row : rows) {
    g_.starts_[row] = static_cast<PathPoint>(g_.times_.size());
    g_.times_.push_back(trace_.ts_ns()[row]);
    g_.times_.push_back(tracelens::end_of(trace_, {row}));
    g_.events_.push_back(start_of_row(row));
    g_.events_.push_back(end_of_row(row));
  }
  g_.gpu_lanes_.resize(g_.gpu_lanes_.size() + rows.size(), lane);
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
