#include "analysis/path/model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/path/changes.hpp"
#include "analysis/path/graph.hpp"
#include "analysis/path/lags.hpp"
#include "analysis/path/overhead.hpp"
#include "analysis/path/path.hpp"
#include "analysis/path/skeleton.hpp"
#include "facts/calls.hpp"
#include "facts/host_ranges.hpp"
#include "facts/once.hpp"

namespace tracelens {
struct PathModel::Parts {
  Parts(const TraceFacts& facts, const PathOptions& options)
      : ranges{facts.host_ranges()},
        calls{facts.calls()},
        graph{facts},
        classes{graph, facts.work(), ranges},
        base{recorded_lags(graph)},
        editor{graph, classes, active, base, window} {
    choose_window(facts, options);
    if (facts.kind() == TraceKind::kJax)
      why_not =
          "the host of a JAX profile launches ahead by itself, and what it does when decides little";
    else if (facts.is_mostly_unlinked())
      why_not = "most of the GPU's work has no launch in the trace";
    if (!why_not.empty()) return;
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
    find_waits();
    // Work that ran beside the backlog, which is gone, may be more than fits into the window.
    if (const double busy = busy_with(base).ns; busy > static_cast<double>(length_ns))
      gpu_share = static_cast<double>(length_ns) / busy;
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
    active.is_active.assign(graph.size(), false);
    // Threads that launch nothing, such as one that pins memory, run beside the others: what they do
    // at which time decides nothing.
    std::vector<bool> is_idle(graph.size());
    for (const PathGraph::HostLane& lane : graph.host_lanes())
      if (graph.launches_of(lane) == 0)
        for (PathPoint point = lane.first; point < lane.end; ++point) is_idle[point] = true;
    const auto is_inside = [&](PathPoint point) {
      return graph.time(point) >= window.start && graph.time(point) <= window.end &&
             !is_idle[point];
    };
    for (const PathPoint point : graph.order()) {
      if (graph.is_host(point)) {
        active.is_active[point] = is_inside(point);
      } else {
        const PathPoint call = graph.call_of(graph.gpu_of(point));
        active.is_active[point] = call != kNoPoint && is_inside(call);
        has_gpu_work = has_gpu_work || active.is_active[point];
      }
      if (!active.is_active[point]) continue;
      active.order.push_back(point);
      if (!graph.follows(point)) base.lane[point] = graph.time(point) - window.start;
      if (graph.follows(point) && !active.is_active[point - 1])
        base.lane[point] = std::min(base.lane[point], graph.time(point) - window.start);
      for (std::uint32_t i = 0; i < graph.extra(point).size(); ++i)
        if (!active.is_active[graph.extra(point)[i].from])
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
    simulate(graph, base, active.order, times);
    return last(times) - window.start;
  }
  [[nodiscard]] std::int64_t last(std::span<const std::int64_t> of) const {
    std::int64_t end = window.start;
    for (const PathPoint point : active.order) end = std::max(end, of[point]);
    return end;
  }
  // --- what the model says besides ---

  // Of the time that a device is busy, the part that each GPU event adds to what began before it.
  void find_gpu_busy() {
    gpu_busy.assign(graph.gpu_count(), 0);
    std::vector<std::size_t> by_start;
    for (std::size_t gpu = 0; gpu < graph.gpu_count(); ++gpu)
      if (active.is_active[graph.gpu_start(gpu)]) by_start.push_back(gpu);
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

  struct Busy {
    double ns = 0;
    double least_ns = 0;  // if what is cut were all time that nothing else hides
  };
  // Of the busiest device.
  [[nodiscard]] Busy busy_with(const PathLags& lags) const {
    std::map<std::int64_t, Busy> devices;
    std::int64_t device = kAbsent;
    Busy* busy = nullptr;
    for (std::size_t gpu = 0; gpu < graph.gpu_count(); ++gpu) {
      const PathPoint end = graph.gpu_end(gpu);
      if (gpu_busy[gpu] == 0 || base.lane[end] == 0) continue;
      if (busy == nullptr || graph.device_of(gpu) != device) {
        device = graph.device_of(gpu);
        busy = &devices[device];
      }
      busy->ns += static_cast<double>(gpu_busy[gpu]) * static_cast<double>(lags.lane[end]) /
                  static_cast<double>(base.lane[end]);
      busy->least_ns += static_cast<double>(
          std::max<std::int64_t>(0, gpu_busy[gpu] - (base.lane[end] - lags.lane[end])));
    }
    Busy most;
    for (const auto& [on, time] : devices) {
      most.ns = std::max(most.ns, time.ns * gpu_share);
      most.least_ns = std::max(most.least_ns, time.least_ns * gpu_share);
    }
    return most;
  }

  void find_waits() {
    for (const PathPoint point : active.order) {
      if (!graph.is_host(point)) continue;
      std::uint32_t number = graph.extra_begin(point);
      for (const PathGraph::Edge& edge : graph.extra(point)) {
        if (edge.kind == EdgeKind::kSync && base.extra[number] != kNoEdge)
          waits.push_back({number, graph.time(point) - graph.time(point - 1)});
        ++number;
      }
    }
  }

  // Host time spent at synchronising calls, by what is left of their edges.
  [[nodiscard]] std::int64_t waits_ns(const PathLags& lags) const {
    std::int64_t sum = 0;
    for (const Wait& wait : waits)
      if (lags.extra[wait.edge] != kNoEdge) sum += wait.ns;
    return sum;
  }

  [[nodiscard]] std::int64_t loader_ns(const PathLags& lags) const {
    if (!ranges.loads_in_workers()) return 0;
    double sum = 0;
    for (const HostRange& range : ranges.data_loading())
      sum += editor.host_ns(range.track, range.start_ns, range.end_ns, lags);
    return static_cast<std::int64_t>(sum);
  }

  // What stays the same whatever is edited.
  struct Frame {
    PathSkeleton skeleton;
    std::int64_t loader_ns = 0, waits_ns = 0;
    bool waits_for_loader = false;
    PathChanges no_loader = {};  // only where it is waited for
    Resources now = {};
  };
  [[nodiscard]] const Frame& frame() const {
    return made_frame.get([this] {
      constexpr std::int64_t kSmallShare = 100;
      Frame made{
          .skeleton = {graph, active}, .loader_ns = loader_ns(base), .waits_ns = waits_ns(base)};
      made.waits_for_loader = made.loader_ns > length_ns / kSmallShare;
      if (made.waits_for_loader) {
        PathEdit no_loader;
        for (const HostRange& range : ranges.data_loading())
          no_loader.scale_host(range.track, range.start_ns, range.end_ns, 0);
        made.no_loader = editor.changes_of(no_loader);
      }
      made.now = resources_of(made, base, 1, made.skeleton.simulate(base));
      made.now.rest_ns = std::max<std::int64_t>(0, length_ns - made.now.total_ns());
      return made;
    });
  }

  // All but the rest. A loader that is waited for sets the pace: its time is that of the steps.
  [[nodiscard]] Resources resources_of(const Frame& known, const PathLags& lags, double loader_left,
                                       const PathSkeleton::Lengths& lengths) const {
    const Busy busy = busy_with(lags);
    Resources found{.gpu_ns = static_cast<std::int64_t>(busy.ns),
                    .least_gpu_ns = static_cast<std::int64_t>(busy.least_ns)};
    if (known.waits_for_loader) {
      found.loader_ns = scaled(length_ns, loader_left);
      PathLags without = lags;
      editor.put_into(without, known.no_loader);
      found.host_ns = known.skeleton.simulate(without).host_ns;
    } else {
      found.host_ns = lengths.host_ns;
    }
    return found;
  }

  [[nodiscard]] PathOutcome outcome_of(std::span<const PathChanges* const> changes) const {
    const Frame& known = frame();
    if (changes.empty()) return {length_ns, known.now};
    std::unique_ptr<PathLags> trial = take_trial();
    PathLags& lags = *trial;
    for (const PathChanges* const some : changes) editor.put_into(lags, *some);
    const auto left = [](std::int64_t after, std::int64_t before, double otherwise) {
      return before > 0 ? static_cast<double>(after) / static_cast<double>(before) : otherwise;
    };
    const PathSkeleton::Lengths lengths = known.skeleton.simulate(lags);
    Resources after = resources_of(known, lags, left(loader_ns(lags), known.loader_ns, 0), lengths);
    after.rest_ns = scaled(known.now.rest_ns, left(waits_ns(lags), known.waits_ns, 1));
    for (const PathChanges* const some : changes) editor.put_back(lags, *some);
    give_back(std::move(trial));
    return {lengths.all_ns, after};
  }

  // The base for edits to be tried on, of which many are: most change little of it, and put that back.
  [[nodiscard]] std::unique_ptr<PathLags> take_trial() const {
    {
      const std::lock_guard lock{trials_mutex};
      if (!trials.empty()) {
        std::unique_ptr<PathLags> trial = std::move(trials.back());
        trials.pop_back();
        return trial;
      }
    }
    return std::make_unique<PathLags>(base);
  }
  void give_back(std::unique_ptr<PathLags> trial) const {
    const std::lock_guard lock{trials_mutex};
    trials.push_back(std::move(trial));
  }

  // From the last segment of the path to the first.
  template <class Take>
  void walk_back(const Take& take) const {
    PathPoint point = kNoPoint;
    for (const PathPoint p : active.order)
      if (point == kNoPoint || times[p] > times[point] || (times[p] == times[point] && p > point))
        point = p;
    while (point != kNoPoint && active.is_active[point]) {
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
      for (std::size_t i = active.order.size(); i-- > 0;) {
        const PathPoint point = active.order[i];
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

  const HostRanges& ranges;
  const CallKinds& calls;
  PathGraph graph;
  BoundByClasses classes;
  ActivePoints active;  // in the window
  PathLags base;        // after the changes that are always made
  Interval window;
  PathEditor editor;
  std::string why_not;
  std::size_t steps = 1;
  bool has_gpu_work = false, is_full = false;
  std::vector<std::int64_t> times;  // simulated
  std::int64_t recorded_ns = 0, length_ns = 0;
  std::vector<std::int64_t> gpu_busy;  // by GPU event
  double gpu_share = 1;
  Once<std::vector<PathSegment>> segments;
  BoundByTimes bound_by{};
  Once<std::vector<std::int64_t>> latest;
  struct Wait {
    std::uint32_t edge;
    std::int64_t ns;
  };
  std::vector<Wait> waits;
  mutable Once<Frame> made_frame;
  mutable std::mutex trials_mutex;
  mutable std::vector<std::unique_ptr<PathLags>> trials;  // those that nobody uses
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

PathChanges PathModel::changes_of(const PathEdit& edit) const {
  return usable() ? parts_->editor.changes_of(edit) : PathChanges{};
}
PathOutcome PathModel::outcome_of(std::span<const PathChanges* const> changes) const {
  return usable() ? parts_->outcome_of(changes) : PathOutcome{};
}
PathOutcome PathModel::outcome_with(std::span<const PathEdit* const> edits) const {
  std::vector<PathChanges> changes;
  for (const PathEdit* const edit : edits) changes.push_back(changes_of(*edit));
  std::vector<const PathChanges*> all;
  for (const PathChanges& some : changes) all.push_back(&some);
  return outcome_of(all);
}
std::int64_t PathModel::length_with(const PathEdit& edit) const {
  const PathEdit* const only = &edit;
  return outcome_with({&only, 1}).length_ns;
}

std::span<const PathSegment> PathModel::segments() const { return parts_->all_segments(); }
const BoundByTimes& PathModel::bound_by() const { return parts_->bound_by; }

std::optional<Interval> PathModel::simulated(EventId gpu_event) const {
  const PathPoint end = usable() ? parts_->graph.gpu_end_of(gpu_event) : kNoPoint;
  if (end == kNoPoint || !parts_->active.is_active[end]) return std::nullopt;
  return Interval{parts_->times[end - 1], parts_->times[end]};
}
std::optional<std::int64_t> PathModel::slack_ns(EventId gpu_event) const {
  const std::optional<Interval> time = simulated(gpu_event);
  if (!time) return std::nullopt;
  return parts_->latest_times()[parts_->graph.gpu_end_of(gpu_event)] - time->end;
}
std::int64_t PathModel::host_ns(TrackId track, std::int64_t from_ns, std::int64_t to_ns) const {
  if (!usable()) return 0;
  return static_cast<std::int64_t>(parts_->editor.host_ns(track, from_ns, to_ns, parts_->base));
}
TrackId PathModel::launching_track() const {
  TrackId busiest;
  std::size_t most = 0;
  for (const PathGraph::HostLane& lane : parts_->graph.host_lanes()) {
    const std::size_t launches = parts_->graph.launches_of(lane);
    if (launches > most) {
      most = launches;
      busiest = lane.track;
    }
  }
  return busiest;
}

const PathGraph& PathModel::graph() const { return parts_->graph; }
const HostRanges& PathModel::host_ranges() const { return parts_->ranges; }
CriticalPath PathModel::recorded_path(std::optional<Interval> window) const {
  return critical_path(parts_->graph, parts_->classes, window);
}

Resources PathModel::resources() const { return outcome_of({}).resources; }

}  // namespace tracelens
