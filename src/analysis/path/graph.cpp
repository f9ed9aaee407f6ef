#include "analysis/path/graph.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/path/stream_waits.hpp"
#include "facts/calls.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"
#include "tree/time_order.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kGuessWithinNs = 30000;  // a stream that waited starts at once
// No search for what a call or stream waited for looks at more events than this; only a damaged file
// has more that do not fit.
constexpr std::size_t kLongestSearch = 4096;

// Puts points into an order in which each comes after its predecessors.
template <class Counts>
class PointOrder {
 public:
  // `counts`: whether an edge is one to look at.
  PointOrder(const PathGraph& graph, Counts counts)
      : graph_{graph}, counts_{std::move(counts)}, states_(graph.size(), kNew) {}

  // Adds a point, and first what it waits for. False: it waits for itself.
  bool add(PathPoint last) {
    if (states_[last] != kNew) return true;
    open_.assign(1, last);
    while (!open_.empty()) {
      const PathPoint p = open_.back();
      states_[p] = kOpen;
      PathPoint waiting = kNoPoint;
      const auto look = [&](PathPoint before) {
        if (states_[before] != kDone && counts_(before, p)) waiting = before;
      };
      if (graph_.follows(p)) look(p - 1);
      for (const PathGraph::Edge& edge : graph_.extra(p)) look(edge.from);
      if (waiting == kNoPoint) {
        states_[p] = kDone;
        order_.push_back(p);
        open_.pop_back();
      } else if (states_[waiting] == kOpen) {
        return false;
      } else {
        open_.push_back(waiting);
      }
    }
    return true;
  }

  void reserve() { order_.reserve(graph_.size()); }
  [[nodiscard]] std::vector<PathPoint> take() && { return std::move(order_); }

 private:
  enum State : char { kNew, kOpen, kDone };

  const PathGraph& graph_;
  Counts counts_;
  std::vector<State> states_;
  std::vector<PathPoint> open_, order_;
};

// By time; of points with the same time each after its predecessors. None: there is no such order.
std::optional<std::vector<PathPoint>> sorted_points(const PathGraph& graph) {
  std::vector<PathPoint> by_time(graph.size());
  std::iota(by_time.begin(), by_time.end(), PathPoint{0});
  std::vector<std::uint32_t> scratch;
  sort_by_time(by_time, graph.times(), scratch);  // each lane is in order already
  PointOrder order{graph, [](PathPoint, PathPoint) { return true; }};
  order.reserve();
  if (!std::ranges::all_of(by_time, [&](PathPoint p) { return order.add(p); })) return std::nullopt;
  return std::move(order).take();
}

}  // namespace

class PathGraphBuilder {
 public:
  PathGraphBuilder(PathGraph& graph, const HostRanges& ranges)
      : g_{graph}, trace_{graph.trace_}, calls_{trace_}, ranges_{ranges} {}

  void build() {
    g_.starts_.assign(trace_.size(), kNoPoint);
    add_host_lanes();
    add_gpu_lanes();
    const std::size_t points = g_.size();
    g_.owners_.resize(points);
    add_launches();
    add_handoffs();
    add_stream_edges();
    add_syncs();
    sort_extra();
    if (runs_in_circle()) {
      std::erase_if(found_, [&](const Found& edge) {
        return g_.times_[edge.to] == g_.times_[edge.edge.from];
      });
      g_.dropped_ += g_.extra_.size() - found_.size();
      sort_extra();
    }
  }

 private:
  struct Open {
    std::uint32_t row;
    std::int64_t end;
  };
  struct Timed {
    std::int64_t time;
    PathPoint point;
  };
  struct Found {
    PathPoint to;
    PathGraph::Edge edge;
  };

  // --- points ---

  void add_point(std::int64_t time, EventId event, bool is_start, bool follows, EventId owner) {
    g_.times_.push_back(time);
    g_.events_.push_back(event);
    g_.is_start_.push_back(is_start);
    g_.follows_.push_back(follows);
    g_.owners_.push_back(owner);
  }

  void add_host_lanes() {
    std::vector<std::vector<std::uint32_t>> lanes(trace_.track_table().size());  // rows
    for (const HostRange& range : ranges_.data_loading())
      lanes[range.track.row].push_back(range.event.row);
    std::size_t count = ranges_.data_loading().size(), gpu_events = 0;
    for (const EventId event : trace_.recorded_events()) {
      const Category category = trace_.category(event);
      if (is_gpu(category)) ++gpu_events;
      if ((category != Category::kCpuOp && !is_runtime(category)) ||
          trace_.phase(event) != Phase::kComplete || trace_.ts_ns()[event.row] == kAbsent)
        continue;
      lanes[trace_.tracks()[event.row].row].push_back(event.row);
      ++count;
    }
    const std::size_t points = 2 * (count + gpu_events);  // room for all, so that nothing moves
    g_.times_.reserve(points);
    g_.events_.reserve(points);
    g_.owners_.reserve(points);
    for (std::uint32_t track = 0; track < lanes.size(); ++track) {
      if (!lanes[track].empty()) add_host_lane(TrackId{track}, lanes[track]);
      lanes[track] = {};
    }
    g_.gpu_begin_ = static_cast<PathPoint>(g_.size());
    g_.host_ends_.assign(g_.size(), kNoPoint);
    g_.launches_.assign(g_.size(), false);
    std::vector<PathPoint> open;
    for (PathPoint p = 0; p < g_.gpu_begin_; ++p) {
      if (g_.is_start_[p]) {
        open.push_back(p);
      } else {
        g_.host_ends_[open.back()] = p;
        open.pop_back();
      }
    }
  }

  // Of events that start at the same time: callers before what they call.
  [[nodiscard]] bool is_open_before(std::uint32_t a, std::uint32_t b) const {
    const auto rank = [&](std::uint32_t row) {
      const Category category = trace_.categories()[row];
      return is_runtime(category) ? 2 : category == Category::kCpuOp ? 1 : 0;
    };
    return std::tuple{-end_of(trace_, {a}), rank(a), a} <
           std::tuple{-end_of(trace_, {b}), rank(b), b};
  }

  void sort_by_opening(std::vector<std::uint32_t>& rows) {
    sort_by_time(rows, trace_.ts_ns(), scratch_);
    for (auto first = rows.begin(), last = first; first != rows.end(); first = last) {
      const std::int64_t time = trace_.ts_ns()[*first];
      while (last != rows.end() && trace_.ts_ns()[*last] == time) ++last;
      std::sort(first, last,
                [&](std::uint32_t a, std::uint32_t b) { return is_open_before(a, b); });
    }
  }

  // A call that outlasts its caller ends with it.
  void add_host_lane(TrackId track, std::vector<std::uint32_t>& rows) {
    const auto first = static_cast<PathPoint>(g_.size());
    sort_by_opening(rows);
    std::vector<Open> open;
    const auto owner = [&] { return open.empty() ? EventId{} : EventId{open.back().row}; };
    const auto close = [&] {
      add_point(open.back().end, owner(), false, true, owner());
      open.pop_back();
    };
    for (const std::uint32_t row : rows) {
      const std::int64_t start = trace_.ts_ns()[row];
      std::int64_t end = end_of(trace_, {row});
      while (!open.empty() && open.back().end <= start) close();
      if (!open.empty()) end = std::min(end, open.back().end);
      g_.starts_[row] = static_cast<PathPoint>(g_.size());
      add_point(start, {row}, true, g_.size() > first, owner());
      open.push_back({row, end});
    }
    while (!open.empty()) close();
    g_.host_lanes_.push_back({track, first, static_cast<PathPoint>(g_.size())});
  }

  void add_gpu_lanes() {
    struct GpuEvent {
      std::uint32_t lane;
      std::int64_t start;
      std::uint32_t row;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> lane_ids;
    std::vector<std::int64_t> lane_devices;
    std::vector<GpuEvent> events;
    for (const EventId event : trace_.recorded_events()) {
      if (!is_gpu(trace_.category(event)) || trace_.phase(event) != Phase::kComplete ||
          trace_.ts_ns()[event.row] == kAbsent)
        continue;
      const std::optional<std::int64_t> device = trace_.devices().at(event),
                                        stream = trace_.streams().at(event);
      // Without both, streams are told apart by their tracks.
      const std::pair key =
          device && stream
              ? std::pair{*device, *stream}
              : std::pair{device.value_or(kAbsent), kAbsent + 1 + trace_.tracks()[event.row].row};
      const auto [lane, is_new] =
          lane_ids.try_emplace(key, static_cast<std::uint32_t>(lane_devices.size()));
      if (is_new) lane_devices.push_back(device.value_or(-1));
      events.push_back({lane->second, trace_.ts_ns()[event.row], event.row});
    }
    std::ranges::sort(events, {}, [](const GpuEvent& event) {
      return std::tuple{event.lane, event.start, event.row};
    });
    for (const GpuEvent& event : events) {
      g_.starts_[event.row] = static_cast<PathPoint>(g_.size());
      add_point(event.start, {event.row}, true, false, {});
      add_point(end_of(trace_, {event.row}), {event.row}, false, true, {event.row});
      g_.devices_.push_back(lane_devices[event.lane]);
      gpu_lanes_.push_back(event.lane);
    }
    g_.calls_.assign(events.size(), kNoPoint);
    clip_overlaps();
  }

  // A kernel may begin while the one before on its stream drains. It still follows that one, whose
  // last part, in which both run, is its own.
  void clip_overlaps() {
    for (std::size_t gpu = 0; gpu + 1 < g_.gpu_count(); ++gpu) {
      const PathPoint end = g_.gpu_end(gpu), next = g_.gpu_start(gpu + 1);
      if (gpu_lanes_[gpu] == gpu_lanes_[gpu + 1] && g_.times_[end] > g_.times_[next] &&
          g_.times_[next] > g_.times_[end - 1] && g_.times_[next + 1] >= g_.times_[end])
        g_.times_[end] = g_.times_[next];
    }
  }

  // --- edges ---

  void add_edge(PathPoint from, PathPoint to, EdgeKind kind) {
    if (g_.times_[from] > g_.times_[to])
      ++g_.dropped_;
    else
      found_.push_back({to, {from, kind}});
  }

  void add_launches() {
    const Launches launches = find_launches(trace_, {.link_by_correlation = true});
    for (PathPoint point = 0; point < g_.gpu_begin_; ++point) {
      if (!g_.is_start_[point]) continue;
      for (EventId gpu = launches.first(g_.events_[point]); gpu.valid(); gpu = launches.next(gpu)) {
        const PathPoint start = g_.starts_[gpu.row];
        if (start == kNoPoint) continue;
        g_.calls_[g_.gpu_of(start)] = point;
        g_.launches_[point] = true;
      }
    }
  }

  // Forward and backward pass run on threads of their own and wait for each other.
  void add_handoffs() {
    std::vector<char> is_backward(g_.host_lanes_.size());
    const PathGraph::HostLane* forward = nullptr;
    std::int64_t longest = -1;
    std::vector<char> backward_names(trace_.string_count());  // 1: autograd's, 2: no such
    std::vector<std::vector<Timed>> ends(g_.host_lanes_.size());
    for (std::size_t i = 0; i < g_.host_lanes_.size(); ++i) {
      const PathGraph::HostLane& lane = g_.host_lanes_[i];
      std::int64_t busy = 0;
      for (PathPoint p = lane.first; p < lane.end; ++p) {
        char& known = backward_names[trace_.names()[g_.events_[p].row].row];
        if (known == 0)
          known =
              trace_.name(g_.events_[p]).starts_with("autograd::engine::evaluate_function") ? 1 : 2;
        if (known == 1) is_backward[i] = 1;
        if (p > lane.first && g_.owners_[p].valid()) busy += g_.times_[p] - g_.times_[p - 1];
        const bool closes_all =
            !g_.is_start_[p] && (p + 1 == lane.end || !g_.owners_[p + 1].valid());
        if (closes_all) ends[i].push_back({g_.times_[p], p});
      }
      if (is_backward[i] == 0 && busy > longest) {
        longest = busy;
        forward = &lane;
      }
    }
    if (forward == nullptr) return;
    const auto forward_index = static_cast<std::size_t>(forward - g_.host_lanes_.data());
    std::vector<Timed> backward_ends;
    for (std::size_t i = 0; i < g_.host_lanes_.size(); ++i) {
      if (is_backward[i] == 0) continue;
      backward_ends.insert(backward_ends.end(), ends[i].begin(), ends[i].end());
      const PathPoint first = g_.host_lanes_[i].first;
      const PathPoint before = last_not_after(*forward, g_.times_[first]);
      if (before != kNoPoint) add_edge(before, first, EdgeKind::kHandoff);
      hand_over(g_.host_lanes_[i], ends[forward_index]);
    }
    std::ranges::stable_sort(backward_ends, {}, &Timed::time);
    hand_over(*forward, backward_ends);
  }

  [[nodiscard]] PathPoint last_not_after(const PathGraph::HostLane& lane, std::int64_t time) const {
    const auto begin = g_.times_.begin();
    const auto after = std::upper_bound(begin + lane.first, begin + lane.end, time);
    return after == begin + lane.first ? kNoPoint : static_cast<PathPoint>(after - begin) - 1;
  }

  void hand_over(const PathGraph::HostLane& lane, std::span<const Timed> ends) {
    std::size_t next = 0;
    for (PathPoint p = lane.first + 1; p < lane.end; ++p) {
      if (g_.owners_[p].valid()) continue;
      while (next < ends.size() && ends[next].time <= g_.times_[p]) ++next;
      if (next > 0 && ends[next - 1].time > g_.times_[p - 1])
        add_edge(ends[next - 1].point, p, EdgeKind::kHandoff);
    }
  }

  // What the start of a GPU event waits for.
  void add_stream_edges() {
    sort_gpu_ends();
    const StreamWaits waits{trace_};
    PathPoint latest = kNoPoint;  // the end of the event of the lane that ended last
    for (std::size_t gpu = 0; gpu < g_.gpu_count(); ++gpu) {
      const PathPoint start = g_.gpu_start(gpu);
      const std::int64_t time = g_.times_[start];
      if (gpu > 0 && gpu_lanes_[gpu] != gpu_lanes_[gpu - 1]) latest = kNoPoint;
      std::optional<std::int64_t> before;
      const auto add = [&](PathPoint from, EdgeKind kind) {
        add_edge(from, start, kind);
        if (g_.times_[from] <= time)
          before = std::max(before.value_or(g_.times_[from]), g_.times_[from]);
      };
      if (latest != kNoPoint) add(latest, EdgeKind::kKernelGap);
      if (g_.calls_[gpu] != kNoPoint) add(g_.calls_[gpu], EdgeKind::kLaunch);
      if (const EventId source = waits.source(g_.events_[start]); source.valid())
        add(g_.starts_[source.row] + 1, EdgeKind::kStreamEvent);
      if (!before || *before < time - kGuessWithinNs) guess_stream_wait(gpu, before);
      if (latest == kNoPoint || g_.times_[g_.gpu_end(gpu)] >= g_.times_[latest])
        latest = g_.gpu_end(gpu);
    }
  }

  void guess_stream_wait(std::size_t gpu, std::optional<std::int64_t> before) {
    const std::int64_t time = g_.times_[g_.gpu_start(gpu)];
    auto candidate = std::ranges::upper_bound(gpu_ends_, time, {}, &Timed::time);
    for (std::size_t tries = 0; candidate != gpu_ends_.begin() && tries < kLongestSearch; ++tries) {
      --candidate;
      if (candidate->time < time - kGuessWithinNs || (before && candidate->time <= *before)) return;
      const std::size_t other = g_.gpu_of(candidate->point);
      if (gpu_lanes_[other] == gpu_lanes_[gpu] || g_.devices_[other] != g_.devices_[gpu]) continue;
      add_edge(candidate->point, g_.gpu_start(gpu), EdgeKind::kStreamGuess);
      return;
    }
  }

  void sort_gpu_ends() {
    gpu_ends_.reserve(g_.gpu_count());
    for (std::size_t gpu = 0; gpu < g_.gpu_count(); ++gpu)
      gpu_ends_.push_back({g_.times_[g_.gpu_end(gpu)], g_.gpu_end(gpu)});
    std::ranges::stable_sort(gpu_ends_, {}, &Timed::time);
  }

  // The end of a call that waits for the GPU.
  void add_syncs() {
    std::vector<PathPoint> own_copies(g_.gpu_begin_, kNoPoint);  // by start of the call
    for (std::size_t gpu = 0; gpu < g_.gpu_count(); ++gpu) {
      const PathPoint call = g_.calls_[gpu];
      if (call == kNoPoint || !waits_for_copy(g_.events_[call], g_.events_[g_.gpu_start(gpu)]))
        continue;
      PathPoint& last = own_copies[call];
      if (last == kNoPoint || g_.times_[g_.gpu_end(gpu)] >= g_.times_[last]) last = g_.gpu_end(gpu);
    }
    for (PathPoint start = 0; start < g_.gpu_begin_; ++start) {
      const EventId call = g_.events_[start];
      if (!g_.is_start_[start] || !is_runtime(trace_.category(call))) continue;
      const PathPoint p = g_.host_ends_[start];
      PathPoint source = own_copies[start];
      if (source != kNoPoint) {
        if (g_.times_[source] <= g_.times_[start] || g_.times_[source] > g_.times_[p])
          source = kNoPoint;
      } else if (waits_for_work(call)) {
        source = last_work_in(start, p);
      }
      if (source != kNoPoint) add_edge(source, p, EdgeKind::kSync);
    }
  }

  [[nodiscard]] bool waits_for_copy(EventId call, EventId copy) const {
    return is_runtime(trace_.category(call)) &&
           (calls_.waits_for(call) == WaitsFor::kOwnCopy ||
            (trace_.category(copy) == Category::kGpuMemcpy && is_pageable_copy(trace_.name(copy))));
  }
  [[nodiscard]] bool waits_for_work(EventId call) const {
    const WaitsFor target = calls_.waits_for(call);
    return target != WaitsFor::kNothing && target != WaitsFor::kOwnCopy;
  }

  // The work that ended last while a call ran, of what was launched before the call; where the
  // launch is not in the trace, it came before the recording.
  [[nodiscard]] PathPoint last_work_in(PathPoint start, PathPoint end) const {
    auto candidate = std::ranges::upper_bound(gpu_ends_, g_.times_[end], {}, &Timed::time);
    for (std::size_t tries = 0; candidate != gpu_ends_.begin() && tries < kLongestSearch; ++tries) {
      --candidate;
      if (candidate->time <= g_.times_[start]) return kNoPoint;
      const PathPoint launch = g_.calls_[g_.gpu_of(candidate->point)];
      if (launch == kNoPoint || g_.times_[launch] < g_.times_[start]) return candidate->point;
    }
    return kNoPoint;
  }

  // --- order ---

  void sort_extra() {
    g_.extra_begin_.assign(g_.size() + 1, 0);
    for (const Found& edge : found_) ++g_.extra_begin_[edge.to + 1];
    for (std::size_t i = 0; i < g_.size(); ++i) g_.extra_begin_[i + 1] += g_.extra_begin_[i];
    g_.extra_.resize(found_.size());
    std::vector<std::uint32_t> next{g_.extra_begin_.begin(), g_.extra_begin_.end() - 1};
    for (const Found& edge : found_) g_.extra_[next[edge.to]++] = edge.edge;
  }

  // No time passes along a circle, so its edges take none: few points have such, and only these are
  // looked at.
  [[nodiscard]] bool runs_in_circle() const {
    std::vector<PathPoint> suspects;
    for (const Found& edge : found_)
      if (g_.times_[edge.edge.from] >= g_.times_[edge.to]) suspects.push_back(edge.to);
    for (PathPoint p = 1; p < g_.size();
         ++p)  // only a damaged file has events that end before they start
      if (g_.follows_[p] && g_.times_[p] < g_.times_[p - 1]) return !sorted_points(g_);
    if (suspects.empty()) return false;
    PointOrder order{
        g_, [this](PathPoint from, PathPoint to) { return g_.times_[from] >= g_.times_[to]; }};
    for (const PathPoint p : suspects)
      if (!order.add(p)) return true;
    return false;
  }

  PathGraph& g_;
  const Trace& trace_;
  const CallKinds calls_;
  const HostRanges& ranges_;
  std::vector<std::uint32_t> gpu_lanes_;  // by GPU event
  std::vector<Timed> gpu_ends_;           // by time
  std::vector<Found> found_;
  std::vector<std::uint32_t> scratch_;
};

PathGraph::PathGraph(const Trace& trace, const HostRanges& ranges) : trace_{trace} {
  PathGraphBuilder{*this, ranges}.build();
}

std::span<const PathPoint> PathGraph::order() const {
  return order_.get([this] { return sorted_points(*this).value_or(std::vector<PathPoint>{}); });
}

const PathGraph::HostLane* PathGraph::lane_of(TrackId track) const {
  const auto found = std::ranges::lower_bound(host_lanes_, track, {}, &HostLane::track);
  return found != host_lanes_.end() && found->track == track ? &*found : nullptr;
}

}  // namespace tracelens
