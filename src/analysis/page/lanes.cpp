#include "analysis/page/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/page/thinning.hpp"
#include "analysis/page/times.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLeastShare = 2'000;
constexpr std::size_t kMostStreams = 12;  // of a GPU with lanes of their own
constexpr std::size_t kMostGpus = 64;
constexpr std::size_t kMostThreads = 12;
constexpr std::size_t kStreamRows = 4, kDepthRows = 8;

// A lane that is not filled yet: events are few bytes, slices are many.
struct Plan {
  PageLane lane;
  std::size_t run = 0;
  std::vector<std::uint32_t> members;  // jobs of a GPU lane, spans of one of modules, else rows
  std::vector<PageSlice> steps = {};   // that no event marks
};

// The text of a number or word that identifies a process or thread.
std::string track_text(const Value& value) {
  return value.is_text() ? value.as_text() : std::to_string(value.as_int());
}

// --- the GPU ---

void plan_streams(const LaneSource& run, std::vector<Plan>& plans) {
  struct Stream {
    std::int64_t busy_ns = 0;
    std::vector<std::uint32_t> jobs;
  };
  const Trace& trace = run.source.facts.trace();
  const std::span<const GpuJob> jobs = run.source.host.jobs();
  std::map<std::int64_t, std::map<std::int64_t, Stream>> gpus;
  for (std::uint32_t job = 0; job < jobs.size(); ++job) {
    Stream& stream = gpus[jobs[job].device][jobs[job].stream];
    stream.jobs.push_back(job);
    stream.busy_ns = plus_ns(stream.busy_ns, duration_of(trace, jobs[job].gpu));
  }
  const auto add = [&](std::string id, std::string title, std::vector<std::uint32_t> members) {
    plans.push_back({.lane = {.kind = PageLaneKind::kGpu,
                              .id = std::move(id),
                              .title = std::move(title),
                              .slices = {},
                              .runs = {}},
                     .run = run.run,
                     .members = std::move(members)});
  };
  std::vector<std::uint32_t> others;  // of GPUs beyond all that a person looks at
  for (auto gpu = gpus.begin(); gpu != gpus.end(); ++gpu) {
    std::vector<std::pair<std::int64_t, Stream*>> streams;
    for (auto& [number, stream] : gpu->second) streams.emplace_back(number, &stream);
    if (static_cast<std::size_t>(std::distance(gpus.begin(), gpu)) >= kMostGpus) {
      for (const auto& [number, stream] : streams)
        others.insert(others.end(), stream->jobs.begin(), stream->jobs.end());
      continue;
    }
    std::ranges::stable_sort(streams, std::ranges::greater{},
                             [](const auto& stream) { return stream.second->busy_ns; });
    std::vector<std::uint32_t> folded;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      auto& [number, stream] = streams[i];
      if (i < kMostStreams)
        add(fmt::format("gpu:{}:{}", gpu->first, number),
            fmt::format("GPU {} stream {}", gpu->first, number), std::move(stream->jobs));
      else
        folded.insert(folded.end(), stream->jobs.begin(), stream->jobs.end());
    }
    if (!folded.empty())
      add(fmt::format("gpu:{}:other", gpu->first),
          fmt::format("GPU {} {} other streams", gpu->first, streams.size() - kMostStreams),
          std::move(folded));
  }
  if (!others.empty()) add("gpu:other", "other GPUs", std::move(others));
}

// --- the host ---

struct HostThread {
  std::size_t launches = 0;
  std::vector<std::uint32_t> modules, ops, calls;
};

void plan_threads(const LaneSource& run, std::vector<Plan>& plans) {
  const PageSource& source = run.source;
  const Trace& trace = source.facts.trace();
  std::map<std::uint32_t, HostThread> threads;  // by track
  for (const EventId call : source.host.calls()) {
    const TrackId track = trace.tracks()[call.row];
    if (track.valid() && source.host.launches_work(call)) ++threads[track.row].launches;
  }
  std::vector<std::pair<std::uint32_t, std::size_t>> busiest;
  for (const auto& [track, thread] : threads) busiest.emplace_back(track, thread.launches);
  std::ranges::stable_sort(busiest, std::ranges::greater{},
                           [](const auto& thread) { return thread.second; });
  if (busiest.size() > kMostThreads) busiest.resize(kMostThreads);
  std::map<std::uint32_t, HostThread> shown;
  for (const auto& [track, launches] : busiest) shown[track];
  const auto thread_of = [&](TrackId track) -> HostThread* {
    const auto found = track.valid() ? shown.find(track.row) : shown.end();
    return found == shown.end() ? nullptr : &found->second;
  };
  for (const EventId call : source.host.calls())
    if (HostThread* const thread = thread_of(trace.tracks()[call.row]))
      thread->calls.push_back(call.row);
  for (const EventId op : source.facts.tree().op_roots())
    if (HostThread* const thread = thread_of(trace.tracks()[op.row]);
        thread != nullptr && op.row < trace.recorded())
      thread->ops.push_back(op.row);
  const std::span<const HostSpans::Span> modules = run.modules.all();
  for (std::uint32_t i = 0; i < modules.size(); ++i)
    if (HostThread* const thread = thread_of(modules[i].track)) thread->modules.push_back(i);
  for (const auto& [track, launches] : busiest) {
    const Track& place = trace.track(TrackId{track});
    const std::string tid = track_text(place.tid);
    const std::string id = fmt::format("{}:{}", track_text(place.pid), tid);
    const auto add = [&](PageLaneKind kind, std::string_view what,
                         std::vector<std::uint32_t>& members) {
      if (members.empty()) return;
      plans.push_back({.lane = {.kind = kind,
                                .id = fmt::format("{}:{}", what, id),
                                .title = fmt::format("thread {} {}", tid, what),
                                .slices = {},
                                .runs = {}},
                       .run = run.run,
                       .members = std::move(members)});
    };
    HostThread& thread = shown[track];
    add(PageLaneKind::kModules, "modules", thread.modules);
    add(PageLaneKind::kOps, "ops", thread.ops);
    add(PageLaneKind::kCalls, "calls", thread.calls);
  }
}

void plan_steps(const LaneSource& run, std::vector<Plan>& plans) {
  Plan plan{.lane = {.kind = PageLaneKind::kSteps,
                     .id = "steps",
                     .title = "steps and annotations",
                     .slices = {},
                     .runs = {}},
            .run = run.run,
            .members = {}};
  const Trace& trace = run.source.facts.trace();
  bool is_marked = false;
  for (const EventId event : timed_events(trace, Category::kUserAnnotation)) {
    plan.members.push_back(event.row);
    is_marked = is_marked || is_step(trace, event);
  }
  const std::span<const HostStep> steps = run.source.host.steps();
  if (!is_marked && steps.size() > 1)
    for (const HostStep& step : steps) {
      PageSlice& slice = plan.steps.emplace_back();
      slice.start_ns = page_time(step.start_ns, run.origin_ns);
      slice.duration_ns = page_time(step.end_ns, run.origin_ns) - slice.start_ns;
      slice.name = run.names.of(step.name);
    }
  if (!plan.members.empty() || !plan.steps.empty()) plans.push_back(std::move(plan));
}

// --- slices ---

class LaneMaker {
 public:
  LaneMaker(std::span<LaneSource> runs, const WorkClasses& classes, const PageTree& tree,
            const PageOptions& options)
      : runs_{runs}, classes_{classes}, tree_{tree}, options_{options} {}

  // Whether a lane shows a member; a slice that reaches into the window is shown whole.
  [[nodiscard]] bool is_shown(const Plan& plan, std::uint32_t member) const {
    if (!options_.window) return true;
    const LaneSource& run = runs_[plan.run];
    return is_shown(timed(run, event_of(plan, run, member)));
  }
  [[nodiscard]] bool is_shown(const PageSlice& slice) const {
    return !options_.window || (slice.start_ns < options_.window->end &&
                                slice.start_ns + slice.duration_ns >= options_.window->start);
  }

  [[nodiscard]] PageLane make(Plan plan, std::size_t share) const {
    LaneSource& run = runs_[plan.run];
    std::vector<PageSlice> slices;
    slices.reserve(plan.members.size());
    for (const std::uint32_t member : plan.members) slices.push_back(slice_of(plan, run, member));
    for (PageSlice& step : plan.steps) {
      if (!is_shown(step)) continue;
      step.kind = classes_.of(HostClass::kAnnotation);
      slices.push_back(step);
    }
    PageLane lane = std::move(plan.lane);
    const bool by_depth = lane.kind == PageLaneKind::kModules || lane.kind == PageLaneKind::kSteps;
    fill(lane, std::move(slices), share, by_depth ? kDepthRows : kStreamRows, by_depth);
    lane.group = static_cast<std::int64_t>(plan.run);
    if (runs_.size() > 1) lane.id = fmt::format("{}:{}", plan.run, lane.id);
    return lane;
  }

 private:
  [[nodiscard]] static EventId event_of(const Plan& plan, const LaneSource& run,
                                        std::uint32_t member) {
    switch (plan.lane.kind) {
      case PageLaneKind::kGpu:
        return run.source.host.jobs()[member].gpu;
      case PageLaneKind::kModules:
        return run.modules[member].event;
      case PageLaneKind::kSteps:
      case PageLaneKind::kOps:
      case PageLaneKind::kCalls:
        break;
    }
    return {member};
  }

  [[nodiscard]] static PageSlice timed(const LaneSource& run, EventId event) {
    const Trace& trace = run.source.facts.trace();
    PageSlice slice;
    slice.start_ns = page_time(trace.ts_ns()[event.row], run.origin_ns);
    slice.duration_ns = page_time(end_of(trace, event), run.origin_ns) - slice.start_ns;
    return slice;
  }

  [[nodiscard]] PageSlice slice_of(const Plan& plan, LaneSource& run, std::uint32_t member) const {
    const EventId event = event_of(plan, run, member);
    const Trace& trace = run.source.facts.trace();
    PageSlice slice = timed(run, event);
    if (plan.lane.kind != PageLaneKind::kModules) slice.name = run.names.of(event);
    slice.event = event.row;
    switch (plan.lane.kind) {
      case PageLaneKind::kGpu: {
        const EventId call = run.source.host.jobs()[member].call;
        const WorkPlace place = tree_.place(plan.run, member);
        slice.kind = classes_.of(plan.run, member);
        slice.op = place.op;
        slice.module = place.module;
        if (call.valid())
          slice.latency_ns = launch_latency(trace.ts_ns()[call.row], trace.ts_ns()[event.row]);
        break;
      }
      case PageLaneKind::kModules:
        slice.kind = classes_.of(HostClass::kModule);
        slice.name = run.names.of_module(event);
        slice.module = tree_.module(plan.run, run.modules, member);
        break;
      case PageLaneKind::kOps:
        slice.kind = classes_.of(HostClass::kOp);
        slice.op = run.ops.of(event);
        slice.module =
            tree_.module(plan.run, run.modules,
                         run.modules.at(trace.tracks()[event.row], trace.ts_ns()[event.row]));
        break;
      case PageLaneKind::kCalls: {
        const CallClass what = run.source.host.class_of(event);
        slice.kind = classes_.of(what == CallClass::kLaunch ? HostClass::kLaunch
                                 : what == CallClass::kSync ? HostClass::kSync
                                                            : HostClass::kCall);
        break;
      }
      case PageLaneKind::kSteps:
        slice.kind = classes_.of(HostClass::kAnnotation);
        break;
    }
    return slice;
  }

  std::span<LaneSource> runs_;
  const WorkClasses& classes_;
  const PageTree& tree_;
  const PageOptions& options_;
};

}  // namespace

std::vector<std::size_t> lane_shares(std::span<const std::size_t> events, std::size_t budget) {
  std::vector<std::size_t> shares(events.size());
  if (events.empty()) return shares;
  const std::size_t least = std::max<std::size_t>(1, std::min(kLeastShare, budget / events.size()));
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t lane) { return events[lane]; });
  std::size_t left = budget,
              events_left = std::accumulate(events.begin(), events.end(), std::size_t{0});
  for (const std::size_t lane : order) {  // small ones leave to the others what they do not need
    const double part =
        events_left == 0 ? 0 : static_cast<double>(events[lane]) / static_cast<double>(events_left);
    shares[lane] =
        std::max(least, static_cast<std::size_t>(static_cast<double>(left) * std::min(part, 1.0)));
    left -= std::min({left, shares[lane], events[lane]});
    events_left -= events[lane];
  }
  return shares;
}

std::vector<PageLane> page_lanes(std::span<LaneSource> runs, const WorkClasses& classes,
                                 const PageTree& tree, const PageOptions& options) {
  std::vector<Plan> plans;
  for (const LaneSource& run : runs) {
    plan_steps(run, plans);
    plan_streams(run, plans);
    plan_threads(run, plans);
  }
  const LaneMaker maker{runs, classes, tree, options};
  for (Plan& plan : plans)
    std::erase_if(plan.members,
                  [&](std::uint32_t member) { return !maker.is_shown(plan, member); });
  const auto is_gpu_lane = [](const Plan& plan) { return plan.lane.kind == PageLaneKind::kGpu; };
  std::vector<std::size_t> of_gpu, of_host;
  for (const Plan& plan : plans)
    (is_gpu_lane(plan) ? of_gpu : of_host).push_back(plan.members.size());
  of_gpu = lane_shares(of_gpu, options.gpu_slices);
  of_host = lane_shares(of_host, options.host_slices);
  std::vector<PageLane> lanes;
  std::size_t gpu = 0, host = 0;
  for (Plan& plan : plans) {
    const std::size_t share = is_gpu_lane(plan) ? of_gpu[gpu++] : of_host[host++];
    lanes.push_back(maker.make(std::move(plan), share));
  }
  return lanes;
}

}  // namespace tracelens
