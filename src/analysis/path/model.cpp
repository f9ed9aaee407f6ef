#include "analysis/path/model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>

#include "analysis/path/graph.hpp"
#include "analysis/path/lags.hpp"
#include "analysis/path/overhead.hpp"
#include "analysis/path/path.hpp"
#include "facts/calls.hpp"
#include "facts/host_ranges.hpp"
#include "facts/once.hpp"

namespace tracelens {
namespace {

std::int64_t scaled(std::int64_t ns, double factor) {
  return static_cast<std::int64_t>(static_cast<double>(ns) * factor);
}

}  // namespace

struct PathModel::Parts {
  Parts(const TraceFacts& facts, const PathOptions& options)
      : ranges{facts.trace()},
        calls{facts.trace()},
        graph{facts.trace(), ranges},
        classes{graph, facts.work(), ranges},
        base{recorded_lags(graph)} {
    choose_window(facts, options);
    if (!replays(graph, base)) {
      why_not = "the recorded times contradict each other, so that they cannot be simulated";
      return;
    }
    keep_window();
    is_full = is_recorded_in_full(facts.trace());
    recorded_ns = simulate_base();
    if (options.correct_overhead) correct_overhead(graph, calls, options.costs, window, base);
    length_ns = options.correct_overhead ? simulate_base() : recorded_ns;
    find_gpu_busy();
    // Work that ran beside the backlog, which is gone, may be more than fits into the window.
    if (const std::int64_t busy = busiest_device(base); busy > length_ns)
      gpu_share = static_cast<double>(length_ns) / static_cast<double>(busy);
    walk_back([&](const PathSegment& segment) {
      bound_by[static_cast<std::size_t>(segment.bound_by)] += segment.end_ns - segment.start_ns;
    });
  }

  void choose_window(const TraceFacts& facts, const PathOptions& options) {
    const std::span<const Step> all = facts.steps();
    if (options.window) {
      window = *options.window;
    } else if (!all.empty()) {
      window = {all.front().ts_ns, all.front().ts_ns};
      for (const Step& step : all) window.end = std::max(window.end, step.ts_ns + step.dur_ns);
    } else if (graph.size() > 0) {
      const auto [first, end] = std::ranges::minmax(graph.times());
      window = {first, end};
    }
    const auto inside = std::ranges::count_if(all, [&](const Step& step) {
      return step.ts_ns >= window.start && step.ts_ns < window.end;
    });
    steps = std::max<std::size_t>(1, static_cast<std::size_t>(inside));
  }

  // Leaves only the window: what the host did before has just ended, the GPU has nothing left to do.
  void keep_window() {
    is_active.assign(graph.size(), false);
    // Threads that launch nothing, such as one that pins memory, run beside the others: what they do
    // at which time decides nothing.
    std::vector<bool> is_idle(graph.size());
    for (const PathGraph::HostLane& lane : graph.host_lanes()) {
      bool launches = false;
      for (PathPoint point = lane.first; point < lane.end && !launches; ++point)
        launches = graph.is_start(point) && graph.launches(point);
      if (!launches)
        for (PathPoint point = lane.first; point < lane.end; ++point) is_idle[point] = true;
    }
    const auto is_inside = [&](PathPoint point) {
      return graph.time(point) >= window.start && graph.time(point) <= window.end &&
             !is_idle[point];
    };
    for (const PathPoint point : graph.order()) {
      if (graph.is_host(point)) {
        is_active[point] = is_inside(point);
      } else {
        const PathPoint call = graph.call_of(graph.gpu_of(point));
        is_active[point] = call != kNoPoint && is_inside(call);
        has_gpu_work = has_gpu_work || is_active[point];
      }
      if (!is_active[point]) continue;
      order.push_back(point);
      if (!graph.follows(point)) base.lane[point] = graph.time(point) - window.start;
      if (graph.follows(point) && !is_active[point - 1])
        base.lane[point] = std::min(base.lane[point], graph.time(point) - window.start);
      for (std::uint32_t i = 0; i < graph.extra(point).size(); ++i)
        if (!is_active[graph.extra(point)[i].from])
          base.extra[graph.extra_begin(point) + i] = kNoEdge;
    }
    if (!has_gpu_work)
      why_not = "no host call with GPU work is in the trace, or its launches are not linked";
  }

  // --- simulation ---

  [[nodiscard]] std::vector<std::int64_t> begin_times() const {
    return std::vector<std::int64_t>(graph.size(), window.start);
  }
  std::int64_t simulate_base() {
    times = begin_times();
    simulate(graph, base, order, times);
    return last(times) - window.start;
  }
  [[nodiscard]] std::int64_t last(std::span<const std::int64_t> of) const {
    std::int64_t end = window.start;
    for (const PathPoint point : order) end = std::max(end, of[point]);
    return end;
  }
  [[nodiscard]] std::int64_t last_on_host(std::span<const std::int64_t> of) const {
    std::int64_t end = window.start;
    for (const PathPoint point : order)
      if (graph.is_host(point)) end = std::max(end, of[point]);
    return end;
  }

  // --- edits ---

  void apply(const PathEdit& edit, PathLags& lags) const {
    const auto lower = [](std::int64_t& lag, std::int64_t to) { lag = std::min(lag, to); };
    for (const PathEdit::GpuChange& change : edit.gpu())
      if (const PathPoint end = gpu_end(change.event); end != kNoPoint)
        lower(lags.lane[end],
              change.set_ns != kAbsent ? change.set_ns : scaled(base.lane[end], change.factor));
    for (const PathEdit::GpuFactor& change : edit.retimed())
      if (const PathPoint end = gpu_end(change.event); end != kNoPoint && base.lane[end] > 0) {
        std::int64_t& lag = lags.lane[end];
        const std::int64_t to = scaled(base.lane[end], change.factor);
        lag = lag == base.lane[end] ? to : std::min(lag, to);
      }
    const auto change_extra = [&](const PathEdit::LagChange& change, EdgeKind kind) {
      if (const PathPoint end = gpu_end(change.event); end != kNoPoint)
        set_extra(end - 1, kind, change.ns, lags);
    };
    for (const PathEdit::LagChange& change : edit.launches())
      change_extra(change, EdgeKind::kLaunch);
    for (const PathEdit::LagChange& change : edit.kernel_gaps())
      change_extra(change, EdgeKind::kKernelGap);
    for (const EventId call : edit.syncs())
      if (const PathPoint start = graph.start_of(call); start != kNoPoint && graph.is_host(start))
        set_extra(graph.end_of(start), EdgeKind::kSync, kNoEdge, lags);
    apply_host(edit, lags);
    if (edit.all_gpu() || edit.all_host()) {
      for (const PathPoint point : order) {
        const auto factor = graph.is_host(point) ? edit.all_host() : edit.all_gpu();
        if (!factor || (!graph.is_host(point) && !graph.follows(point))) continue;
        const HostStretch stretch =
            graph.is_host(point) ? host_stretch(graph, base, point, window.start) : HostStretch{};
        lower(stretch.lag(lags, point), scaled(stretch.lag(base, point), *factor));
      }
    }
    if (edit.no_syncs() || edit.no_launch_latency()) {
      for (const PathPoint point : order) {
        if (edit.no_syncs()) set_extra(point, EdgeKind::kSync, kNoEdge, lags);
        if (edit.no_launch_latency()) set_extra(point, EdgeKind::kLaunch, 0, lags);
      }
    }
    if (!edit.classes().empty()) apply_classes(edit, lags);
    if (edit.no_launch_calls())
      for (const PathPoint point : order)
        if (graph.is_host(point) && graph.lane_owner(point).valid() &&
            graph.launches(graph.start_of(graph.lane_owner(point))))
          lower(lags.lane[point], 0);
  }

  void apply_classes(const PathEdit& edit, PathLags& lags) const {
    const auto drop = [&](const Predecessor& before, PathPoint point, std::int64_t& lag) {
      if (std::ranges::find(edit.classes(), classes.of(before, point)) != edit.classes().end())
        lag = std::min<std::int64_t>(lag, 0);
    };
    for (const PathPoint point : order) {
      if (graph.follows(point))
        drop({point - 1, graph.lane_kind(point), graph.lane_owner(point)}, point, lags.lane[point]);
      std::uint32_t number = graph.extra_begin(point);
      for (const PathGraph::Edge& edge : graph.extra(point))
        drop({edge.from, edge.kind, {}}, point, lags.extra[number++]);
    }
  }

  [[nodiscard]] PathPoint gpu_end(EventId event) const {
    const PathPoint start = graph.start_of(event);
    return start == kNoPoint || graph.is_host(start) ? kNoPoint : start + 1;
  }

  void set_extra(PathPoint point, EdgeKind kind, std::int64_t ns, PathLags& lags) const {
    std::int64_t* lag = lags.extra.data() + graph.extra_begin(point);
    for (const PathGraph::Edge& edge : graph.extra(point)) {
      if (edge.kind == kind) *lag = std::min(*lag, ns);
      ++lag;
    }
  }

  // Calls `use(point, stretch, share)` for each stretch of a thread that lies in the range in part.
  template <class Use>
  void for_host(TrackId track, std::int64_t from, std::int64_t to, const Use& use) const {
    const PathGraph::HostLane* lane = graph.lane_of(track);
    if (lane == nullptr || from >= to) return;
    const auto times_of = graph.times();
    const auto begin = times_of.begin();
    auto point = static_cast<PathPoint>(
        std::upper_bound(begin + lane->first, begin + lane->end, from) - begin);
    for (; point < lane->end; ++point) {
      if (point > lane->first && times_of[point - 1] >= to) return;
      if (!is_active[point]) continue;
      const HostStretch stretch = host_stretch(graph, base, point, window.start);
      const std::int64_t start = std::max(stretch.start_ns, window.start), end = times_of[point];
      const std::int64_t both = std::min(end, to) - std::max(start, from);
      if (both > 0)
        use(point, stretch, static_cast<double>(both) / static_cast<double>(end - start));
    }
  }

  [[nodiscard]] double host_ns(TrackId track, std::int64_t from, std::int64_t to,
                               const PathLags& lags) const {
    double sum = 0;
    for_host(track, from, to, [&](PathPoint point, const HostStretch& stretch, double share) {
      sum += share * static_cast<double>(stretch.lag(lags, point));
    });
    return sum;
  }

  // Ranges that are scaled alike count once where they overlap, and add up within one stretch.
  void apply_host(const PathEdit& edit, PathLags& lags) const {
    std::vector<PathEdit::HostChange> changes{edit.host().begin(), edit.host().end()};
    for (PathEdit::HostChange& change : changes) {
      if (change.total_ns == kAbsent) continue;
      const double now = host_ns(change.track, change.from_ns, change.to_ns, base);
      change.factor =
          now > 0 ? std::clamp(static_cast<double>(change.total_ns) / now, 0.0, 1.0) : 1;
    }
    std::ranges::sort(changes, {}, [](const PathEdit::HostChange& change) {
      return std::tuple{change.factor, change.track, change.from_ns, change.to_ns};
    });
    PathPoint pending = kNoPoint;
    HostStretch stretch;
    double cut = 0;
    const auto flush = [&] {
      if (pending != kNoPoint) {
        std::int64_t& lag = stretch.lag(lags, pending);
        lag = std::min<std::int64_t>(lag,
                                     std::llround(static_cast<double>(stretch.lag(base, pending)) *
                                                  (1 - std::min(cut, 1.0))));
      }
      pending = kNoPoint;
    };
    const PathEdit::HostChange* before = nullptr;
    std::int64_t covered = 0;
    for (const PathEdit::HostChange& change : changes) {
      const bool continues =
          before != nullptr && before->factor == change.factor && before->track == change.track;
      if (!continues) flush();
      const std::int64_t from = continues ? std::max(change.from_ns, covered) : change.from_ns;
      covered = continues ? std::max(covered, change.to_ns) : change.to_ns;
      before = &change;
      const auto use = [&](PathPoint point, const HostStretch& of, double share) {
        if (point != pending) {
          flush();
          pending = point;
          stretch = of;
          cut = 0;
        }
        cut += (1 - std::clamp(change.factor, 0.0, 1.0)) * share;
      };
      for_host(change.track, from, change.to_ns, use);
    }
    flush();
  }

  [[nodiscard]] PathLags with(std::span<const PathEdit* const> edits) const {
    PathLags lags = base;
    for (const PathEdit* edit : edits) apply(*edit, lags);
    return lags;
  }

  // --- what the model says besides ---

  // Of the time that a device is busy, the part that each GPU event adds to what began before it.
  void find_gpu_busy() {
    gpu_busy.assign(graph.gpu_count(), 0);
    std::vector<std::size_t> by_start;
    for (std::size_t gpu = 0; gpu < graph.gpu_count(); ++gpu)
      if (is_active[graph.gpu_start(gpu)]) by_start.push_back(gpu);
    std::ranges::stable_sort(by_start, {}, [&](std::size_t gpu) {
      return std::tuple{graph.device_of(gpu), graph.time(graph.gpu_start(gpu))};
    });
    std::int64_t busy_until = kAbsent;
    for (std::size_t i = 0; i < by_start.size(); ++i) {
      const std::size_t gpu = by_start[i];
      if (i == 0 || graph.device_of(gpu) != graph.device_of(by_start[i - 1])) busy_until = kAbsent;
      const std::int64_t start = graph.time(graph.gpu_start(gpu)),
                         end = graph.time(graph.gpu_end(gpu));
      gpu_busy[gpu] = std::max<std::int64_t>(0, end - std::max(start, busy_until));
      busy_until = std::max(busy_until, end);
    }
  }

  [[nodiscard]] std::int64_t busiest_device(const PathLags& lags) const {
    std::map<std::int64_t, double> devices;
    for (std::size_t gpu = 0; gpu < graph.gpu_count(); ++gpu) {
      const PathPoint end = graph.gpu_end(gpu);
      if (gpu_busy[gpu] == 0 || base.lane[end] == 0) continue;
      devices[graph.device_of(gpu)] += static_cast<double>(gpu_busy[gpu]) *
                                       static_cast<double>(lags.lane[end]) /
                                       static_cast<double>(base.lane[end]);
    }
    double most = 0;
    for (const auto& [device, ns] : devices) most = std::max(most, ns);
    return static_cast<std::int64_t>(most * gpu_share);
  }

  // Host time spent at synchronising calls, by what is left of their edges.
  [[nodiscard]] std::int64_t waits_ns(const PathLags& lags) const {
    std::int64_t sum = 0;
    for (const PathPoint point : order) {
      if (!graph.is_host(point)) continue;
      for (std::uint32_t i = 0; i < graph.extra(point).size(); ++i) {
        if (graph.extra(point)[i].kind != EdgeKind::kSync ||
            lags.extra[graph.extra_begin(point) + i] == kNoEdge)
          continue;
        sum += graph.time(point) - graph.time(point - 1);
      }
    }
    return sum;
  }

  [[nodiscard]] std::int64_t loader_ns(const PathLags& lags) const {
    if (!ranges.loads_in_workers()) return 0;
    double sum = 0;
    for (const HostRange& range : ranges.data_loading())
      sum += host_ns(range.track, range.start_ns, range.end_ns, lags);
    return static_cast<std::int64_t>(sum);
  }

  [[nodiscard]] Resources resources(std::span<const PathEdit* const> edits) const {
    const Resources& now =
        base_resources.get([this] { return resources_of(base, length_ns, loader_ns(base), 1); });
    if (edits.empty()) return now;
    const PathLags lags = with(edits);
    const std::int64_t loader = loader_ns(base), waits = waits_ns(base);
    const double loader_left =
        loader > 0 ? static_cast<double>(loader_ns(lags)) / static_cast<double>(loader) : 0;
    const double waits_left =
        waits > 0 ? static_cast<double>(waits_ns(lags)) / static_cast<double>(waits) : 1;
    Resources after = resources_of(lags, length_ns, loader, loader_left);
    after.rest_ns = scaled(now.rest_ns, waits_left);
    return after;
  }

  // A loader that is waited for sets the pace: its time is that of the steps.
  [[nodiscard]] Resources resources_of(PathLags lags, std::int64_t all, std::int64_t loader,
                                       double loader_left) const {
    constexpr std::int64_t kSmallShare = 100;
    Resources found;
    found.gpu_ns = busiest_device(lags);
    if (loader > all / kSmallShare) {
      found.loader_ns = scaled(all, loader_left);
      PathEdit no_loader;
      for (const HostRange& range : ranges.data_loading())
        no_loader.scale_host(range.track, range.start_ns, range.end_ns, 0);
      apply(no_loader, lags);
    }
    for (const PathPoint point : order)
      if (graph.is_host(point)) set_extra(point, EdgeKind::kSync, kNoEdge, lags);
    std::vector<std::int64_t> host_times = begin_times();
    simulate(graph, lags, order, host_times);
    found.host_ns = last_on_host(host_times) - window.start;
    found.rest_ns =
        std::max<std::int64_t>(0, all - std::max({found.host_ns, found.gpu_ns, found.loader_ns}));
    return found;
  }

  // From the last segment of the path to the first.
  template <class Take>
  void walk_back(const Take& take) const {
    PathPoint point = kNoPoint;
    for (const PathPoint p : order)
      if (point == kNoPoint || times[p] > times[point] || (times[p] == times[point] && p > point))
        point = p;
    while (point != kNoPoint && is_active[point]) {
      Predecessor best;
      std::int64_t best_time = 0;
      const auto offer = [&](PathPoint from, std::int64_t lag, EdgeKind kind, EventId owner) {
        const std::int64_t time = times[from] + lag;
        if (lag == kNoEdge ||
            (best.from != kNoPoint &&
             std::pair{time, rank_of(kind)} <= std::pair{best_time, rank_of(best.kind)}))
          return;
        best = {from, kind, owner};
        best_time = time;
      };
      if (graph.follows(point))
        offer(point - 1, base.lane[point], graph.lane_kind(point), graph.lane_owner(point));
      for (std::uint32_t i = 0; i < graph.extra(point).size(); ++i) {
        const PathGraph::Edge& edge = graph.extra(point)[i];
        offer(edge.from, base.extra[graph.extra_begin(point) + i], edge.kind,
              edge.kind == EdgeKind::kHandoff ? EventId{} : graph.event(point));
      }
      if (best.from == kNoPoint) break;
      take(PathSegment{.start_ns = times[best.from],
                       .end_ns = times[point],
                       .kind = best.kind,
                       .bound_by = classes.of(best, point),
                       .owner = best.owner,
                       .from = graph.event(best.from),
                       .to = graph.event(point)});
      point = best.from;
    }
  }

  const std::vector<PathSegment>& all_segments() {
    return segments.get([&] {
      std::vector<PathSegment> found;
      walk_back([&](const PathSegment& segment) { found.push_back(segment); });
      std::ranges::reverse(found);
      return found;
    });
  }

  const std::vector<std::int64_t>& latest_times() {
    return latest.get([&] {
      constexpr std::int64_t kLater = std::numeric_limits<std::int64_t>::max() / 4;
      std::vector<std::int64_t> found(graph.size(), kLater);
      const std::int64_t end = last(times);
      for (std::size_t i = order.size(); i-- > 0;) {
        const PathPoint point = order[i];
        const std::int64_t own = found[point] = std::min(found[point], end);
        const auto lower = [&](PathPoint from, std::int64_t lag) {
          if (lag != kNoEdge) found[from] = std::min(found[from], own - lag);
        };
        if (graph.follows(point)) lower(point - 1, base.lane[point]);
        for (std::uint32_t e = 0; e < graph.extra(point).size(); ++e)
          lower(graph.extra(point)[e].from, base.extra[graph.extra_begin(point) + e]);
      }
      return found;
    });
  }

  HostRanges ranges;
  CallKinds calls;
  PathGraph graph;
  BoundByClasses classes;
  PathLags base;  // after the changes that are always made
  std::string why_not;
  Interval window;
  std::size_t steps = 1;
  bool has_gpu_work = false, is_full = false;
  std::vector<bool> is_active;      // by point: in the window
  std::vector<PathPoint> order;     // of those
  std::vector<std::int64_t> times;  // simulated
  std::int64_t recorded_ns = 0, length_ns = 0;
  std::vector<std::int64_t> gpu_busy;  // by GPU event
  double gpu_share = 1;
  Once<std::vector<PathSegment>> segments;
  BoundByTimes bound_by{};
  Once<std::vector<std::int64_t>> latest;
  mutable Once<Resources> base_resources;
};

PathModel::PathModel(const TraceFacts& facts, const PathOptions& options)
    : parts_{std::make_unique<Parts>(facts, options)} {}
PathModel::PathModel(PathModel&&) noexcept = default;
PathModel& PathModel::operator=(PathModel&&) noexcept = default;
PathModel::~PathModel() = default;

bool PathModel::usable() const { return parts_->why_not.empty(); }
std::string_view PathModel::why_not() const { return parts_->why_not; }
Interval PathModel::window() const { return parts_->window; }
std::size_t PathModel::steps() const { return parts_->steps; }
bool PathModel::costs_are_calibrated() const { return parts_->is_full; }

std::int64_t PathModel::recorded_ns() const { return usable() ? parts_->recorded_ns : 0; }
std::int64_t PathModel::length_ns() const { return usable() ? parts_->length_ns : 0; }

std::int64_t PathModel::length_with(std::span<const PathEdit* const> edits) const {
  if (!usable()) return 0;
  std::vector<std::int64_t> times = parts_->begin_times();
  simulate(parts_->graph, parts_->with(edits), parts_->order, times);
  return parts_->last(times) - parts_->window.start;
}
std::int64_t PathModel::length_with(const PathEdit& edit) const {
  const PathEdit* const only = &edit;
  return length_with(std::span{&only, 1});
}

std::span<const PathSegment> PathModel::segments() const { return parts_->all_segments(); }
const BoundByTimes& PathModel::bound_by() const { return parts_->bound_by; }

std::optional<Interval> PathModel::simulated(EventId gpu_event) const {
  const PathPoint end = usable() ? parts_->gpu_end(gpu_event) : kNoPoint;
  if (end == kNoPoint || !parts_->is_active[end]) return std::nullopt;
  return Interval{parts_->times[end - 1], parts_->times[end]};
}
std::optional<std::int64_t> PathModel::slack_ns(EventId gpu_event) const {
  const std::optional<Interval> time = simulated(gpu_event);
  if (!time) return std::nullopt;
  return parts_->latest_times()[parts_->gpu_end(gpu_event)] - time->end;
}
std::int64_t PathModel::host_ns(TrackId track, std::int64_t from_ns, std::int64_t to_ns) const {
  if (!usable()) return 0;
  return static_cast<std::int64_t>(parts_->host_ns(track, from_ns, to_ns, parts_->base));
}
TrackId PathModel::launching_track() const {
  TrackId busiest;
  std::size_t most = 0;
  for (const PathGraph::HostLane& lane : parts_->graph.host_lanes()) {
    std::size_t launches = 0;
    for (PathPoint point = lane.first; point < lane.end; ++point)
      launches += parts_->graph.is_start(point) && parts_->graph.launches(point);
    if (launches > most) {
      most = launches;
      busiest = lane.track;
    }
  }
  return busiest;
}

const PathGraph& PathModel::graph() const { return parts_->graph; }
const HostRanges& PathModel::host_ranges() const { return parts_->ranges; }
CriticalPath PathModel::recorded_path() const {
  return critical_path(parts_->graph, parts_->classes, std::nullopt);
}

Resources PathModel::resources(std::span<const PathEdit* const> edits) const {
  return usable() ? parts_->resources(edits) : Resources{};
}

}  // namespace tracelens
