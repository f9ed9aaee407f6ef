#include "analysis/host/gaps.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/idle_gaps.hpp"
#include "analysis/gpu/thread_walk.hpp"
#include "analysis/host/lane_columns.hpp"
#include "analysis/host/user_frames.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// The last call that waits for the GPU around a time, give or take what clocks differ by. Times are
// asked about in order.
class Waits {
 public:
  explicit Waits(const HostWork& work) : work_{work} {}
  [[nodiscard]] EventId around(std::int64_t ns) {
    constexpr std::int64_t kOff = 2000;
    const std::span<const EventId> calls = work_.sync_calls();
    const Trace& trace = work_.trace();
    while (next_ < calls.size() && trace.ts_ns()[calls[next_].row] <= plus_ns(ns, kOff))
      begun_.push_back(calls[next_++]);
    // What has ended by now is over for all later times, too.
    while (!begun_.empty() && end_of(trace, begun_.back()) < minus_ns(ns, kOff)) begun_.pop_back();
    return begun_.empty() ? EventId{} : begun_.back();
  }

 private:
  const HostWork& work_;
  std::size_t next_ = 0;        // among the calls
  std::vector<EventId> begun_;  // the last of them is not over
};

// Stretches of time of one thread. Whoever asks about times in order takes a walk of his own.
class RangesOfThread {
 public:
  RangesOfThread(std::span<const HostRange> ranges, TrackId track) {
    auto range = std::ranges::lower_bound(ranges, track, {}, &HostRange::track);
    for (; range != ranges.end() && range->track == track; ++range)
      merged_.push_back({range->start_ns, range->end_ns});
    merged_ = merge(std::move(merged_));
  }
  // Tells how much of a time they cover; begins at any time.
  class Walk {
   public:
    explicit Walk(std::span<const Interval> merged) : left_{merged} {}
    [[nodiscard]] std::int64_t covered_ns(const Interval& time) {
      if (!left_.empty() && left_.front().end <= time.start)
        left_ = {std::ranges::upper_bound(left_, time.start, {}, &Interval::end), left_.end()};
      std::int64_t ns = 0;
      for (const Interval& range : left_) {
        if (range.start >= time.end) break;
        ns =
            plus_ns(ns, length({std::max(range.start, time.start), std::min(range.end, time.end)}));
      }
      return ns;
    }

   private:
    std::span<const Interval> left_;
  };
  [[nodiscard]] Walk walk() const { return Walk{merged_}; }

 private:
  std::vector<Interval> merged_;
};

// The name that had most of the time.
class Longest {
 public:
  void add(StringId name, std::int64_t ns) {
    std::int64_t& sum = sums_[name.row];
    sum = plus_ns(sum, ns);
    if (!name_.valid() || sum > most_) {
      most_ = sum;
      name_ = name;
    }
  }
  [[nodiscard]] StringId name() const { return name_; }

 private:
  std::unordered_map<std::uint32_t, std::int64_t> sums_;
  StringId name_;
  std::int64_t most_ = 0;
};

// Time by part, and in how many gaps. Those of a gap come together.
class GapSums {
 public:
  void charge(std::uint32_t gap, GapPart part, std::int64_t ns) {
    ns_[part] = plus_ns(ns_[part], ns);
    std::int64_t& last = last_gap_[part];
    if (last == std::int64_t{gap} + 1) return;
    last = std::int64_t{gap} + 1;
    ++gaps_[part];
  }
  // Those of other gaps.
  void add(const GapSums& other) {
    for (std::size_t i = 0; i < kGapPartNames.size(); ++i) {
      const auto part = static_cast<GapPart>(i);
      ns_[part] = plus_ns(ns_[part], other.ns_[part]);
      gaps_[part] += other.gaps_[part];
    }
  }
  [[nodiscard]] const GapParts& ns() const { return ns_; }
  [[nodiscard]] const GapParts& gaps() const { return gaps_; }

 private:
  GapParts ns_, gaps_;
  GapParts last_gap_;  // number of the gap last charged, and 1
};

struct ThreadState {
  GapPart part = GapPart::kNone;
  EventId op, frame;  // innermost; frame: of the user's own code
};

// Divides the gaps of one GPU.
class GapsOfDevice {
 public:
  GapsOfDevice(const HostWork& work, UserFrames& frames, std::int64_t from_ns)
      : work_{work},
        trace_{work.trace()},
        frames_{frames},
        threads_{io::spare_threads(work.facts().threads())},
        part_rows_{rows_of_a_part(trace_)},
        from_ns_{from_ns} {}

  // `looks_at_host`: else all time before a launch counts as none.
  void run(std::int64_t device, std::vector<EventId> events, bool looks_at_host, GpuGaps& out) {
    Waits waits{work_};
    sums_.device = device;
    sums_.span = interval_of(trace_, events.front());
    for (const EventId event : events) {
      const Interval time = interval_of(trace_, event);
      sums_.span = {std::min(sums_.span.start, time.start), std::max(sums_.span.end, time.end)};
    }
    const std::vector<IdleGap> gaps = find_gaps(trace_, std::move(events), threads_);
    std::map<TrackId, std::vector<Stretch>> before_launch;
    for (std::uint32_t i = 0; i < gaps.size(); ++i) {
      const IdleGap& gap = gaps[i];
      const std::int64_t ns = length(gap.time);
      const EventId call = call_of(gap.ended_by);
      const bool is_queued = call.valid() && trace_.ts_ns()[call.row] <= gap.time.start;
      const EventId wait = call.valid() && !is_queued ? waits.around(gap.time.start) : EventId{};
      ++sums_.gaps;
      sums_.idle_ns = plus_ns(sums_.idle_ns, ns);
      if (wait.valid()) {
        ++sums_.drained_gaps;
        sums_.drained_ns = plus_ns(sums_.drained_ns, ns);
        out.drained.push_back({wait, gap.time});
      }
      if (from_ns_ >= 0 && ns >= from_ns_) {
        kept_.emplace(i, out.gaps.size());
        out.gaps.push_back({.time = gap.time,
                            .device = device,
                            .next = gap.ended_by,
                            .call = call,
                            .drained_by = wait,
                            .parts = {},
                            .op_during = {},
                            .python_during = {}});
      }
      if (!call.valid()) {
        charge(i, GapPart::kNone, ns, all_, out);
      } else if (is_queued) {
        charge(i, GapPart::kDevice, ns, all_, out);
      } else {
        const std::int64_t called = std::min(trace_.ts_ns()[call.row], gap.time.end);
        const std::int64_t returned = std::clamp(end_of(trace_, call), called, gap.time.end);
        charge(i, GapPart::kLaunchCall, minus_ns(returned, called), all_, out);
        charge(i, GapPart::kLaunchLatency, minus_ns(gap.time.end, returned), all_, out);
        if (looks_at_host)
          before_launch[trace_.tracks()[call.row]].push_back({{gap.time.start, called}, i});
        else
          charge(i, GapPart::kNone, minus_ns(called, gap.time.start), all_, out);
      }
    }
    for (const auto& [track, stretches] : before_launch) divide(track, stretches, out);
    sums_.part_ns = all_.ns();
    sums_.part_gaps = all_.gaps();
    out.devices.push_back(sums_);
  }

 private:
  // Work mostly starts in the order in which it is written: first a look at the job after the last one.
  [[nodiscard]] EventId call_of(EventId gpu_event) {
    const std::span<const GpuJob> jobs = work_.jobs();
    if (next_job_ >= jobs.size() || jobs[next_job_].gpu != gpu_event)
      next_job_ = static_cast<std::size_t>(
          std::ranges::lower_bound(jobs, gpu_event, {}, &GpuJob::gpu) - jobs.begin());
    return jobs[next_job_++].call;
  }

  void charge(std::uint32_t gap, GapPart part, std::int64_t ns, GapSums& sums, GpuGaps& out) const {
    if (ns <= 0) return;
    sums.charge(gap, part, ns);
    if (kept_.empty()) return;
    if (const auto kept = kept_.find(gap); kept != kept_.end()) {
      std::int64_t& of_gap = out.gaps[kept->second].parts[part];
      of_gap = plus_ns(of_gap, ns);
    }
  }

  [[nodiscard]] ThreadState enter(const ThreadState& caller, EventId event,
                                  UserFrames& frames) const {
    ThreadState state = caller;
    const Category category = trace_.category(event);
    if (category == Category::kCpuOp) {
      state.part = GapPart::kOp;
      state.op = event;
    } else if (category == Category::kPythonFunction) {
      state.part = caller.op.valid() ? GapPart::kOp : GapPart::kPython;
      if (frames.is_own(event)) state.frame = event;
    } else {
      state.part = part_of_call(event);
    }
    return state;
  }
  [[nodiscard]] GapPart part_of_call(EventId call) const {
    switch (work_.class_of(call)) {
      case CallClass::kSync:
        return GapPart::kSync;
      case CallClass::kAlloc:
      case CallClass::kFree:
        return GapPart::kAlloc;
      case CallClass::kLaunch:
        return GapPart::kLaunch;
      default:
        return GapPart::kRuntimeOther;
    }
  }

  // What the thread did before it launched what ended the gaps.
  void divide(TrackId track, const std::vector<Stretch>& stretches, GpuGaps& out) {
    const ThreadWalk whole{work_.rows().of(track.row), stretches};
    const RangesOfThread loading{work_.ranges().data_loading(), track};
    if (threads_ == 1 || whole.rows.size() < 2 * part_rows_)
      return divide(whole, loading.walk(), frames_, all_, out);
    const std::vector<ThreadWalk> parts = cut_walk(trace_, whole, part_rows_, threads_);
    std::vector<GapSums> sums(parts.size());
    io::for_each_part(threads_, parts.size(), [&](std::size_t i) {
      UserFrames frames{trace_};
      divide(parts[i], loading.walk(), frames, sums[i], out);
    });
    for (const GapSums& of_part : sums) all_.add(of_part);
  }

  void divide(const ThreadWalk& walk, RangesOfThread::Walk loading, UserFrames& user_frames,
              GapSums& sums, GpuGaps& out) const {
    std::optional<std::uint32_t> now;
    Longest ops, frames;
    const auto close = [&] {
      if (!now) return;
      GpuGap& gap = out.gaps[kept_.at(*now)];
      gap.op_during = ops.name();
      gap.python_during = frames.name();
      now.reset();
    };
    const ThreadState nothing;
    walk_thread(
        trace_, walk, nothing,
        [&](const ThreadState& caller, EventId event) { return enter(caller, event, user_frames); },
        [&](const Stretch& stretch, Interval time, const OpenEvent<ThreadState>* innermost) {
          const ThreadState& state = innermost == nullptr ? nothing : innermost->state;
          const bool is_fixed = state.part == GapPart::kSync || state.part == GapPart::kAlloc ||
                                state.part == GapPart::kLaunch;
          const std::int64_t fetching = is_fixed ? 0 : loading.covered_ns(time);
          charge(stretch.gap, GapPart::kDataLoader, fetching, sums, out);
          charge(stretch.gap, state.part, minus_ns(length(time), fetching), sums, out);
          if (kept_.empty()) return;
          if (now != stretch.gap) {
            close();
            if (!kept_.contains(stretch.gap)) return;
            now = stretch.gap;
            ops = {};
            frames = {};
          }
          if (state.op.valid()) ops.add(trace_.names()[state.op.row], length(time));
          if (state.frame.valid()) frames.add(trace_.names()[state.frame.row], length(time));
        });
    close();
  }

  const HostWork& work_;
  const Trace& trace_;
  UserFrames& frames_;
  const int threads_;
  const std::size_t part_rows_;
  const std::int64_t from_ns_;
  std::size_t next_job_ = 0;
  DeviceGaps sums_;
  GapSums all_;
  std::unordered_map<std::uint32_t, std::size_t> kept_;  // by number of the gap
};

// In words of the Python TraceLens's analysis of idle time.
std::string_view cpu_during(const GpuGap& gap) {
  const GapParts& parts = gap.parts;
  const std::int64_t launching =
      plus_ns(parts[GapPart::kLaunchCall], parts[GapPart::kLaunchLatency]);
  if (launching > length(gap.time) / 4) return "launch anomaly";
  const std::int64_t runtime =
      plus_ns(plus_ns(parts[GapPart::kSync], parts[GapPart::kAlloc]),
              plus_ns(parts[GapPart::kLaunch], parts[GapPart::kRuntimeOther]));
  const std::int64_t other = minus_ns(length(gap.time), plus_ns(runtime, launching));
  return runtime > other ? "runtime dominated" : "CPU dominated";
}

constexpr std::string_view kPartsText =
    "device: the next work was launched already; launch_call, launch_latency: in the call that "
    "launched it, and until it began; before that call, what its thread did: sync, alloc, launch "
    "(of something else), dataloader, runtime_other, op, python, or none of these";

}  // namespace

GapPart GapParts::largest() const {
  return static_cast<GapPart>(std::ranges::max_element(ns_) - ns_.begin());
}

GpuGaps gpu_gaps_of(const HostWork& work, std::int64_t from_ns) {
  std::map<std::int64_t, std::vector<EventId>> events;  // by device
  std::vector<EventId>* of_device = nullptr;            // most jobs run where the one before did
  std::int64_t last = 0;
  for (const GpuJob& job : work.jobs()) {
    if (of_device == nullptr || job.device != last) of_device = &events[last = job.device];
    of_device->push_back(job.gpu);
  }
  GpuGaps out;
  UserFrames frames{work.trace()};
  // Threads are walked once for each GPU. A file with more of them is made to be slow.
  constexpr std::size_t kMostDevices = 256;
  for (auto& [device, its] : events)
    GapsOfDevice{work, frames, from_ns}.run(device, std::move(its),
                                            out.devices.size() < kMostDevices, out);
  return out;
}

Table gpu_gaps(const HostWork& work, const GpuGaps& gaps) {
  struct Row {
    const HostWork& work;
    const GpuGap& gap;
    [[nodiscard]] std::string_view text(StringId id) const {
      return id.valid() ? work.trace().text(id) : std::string_view{};
    }
  };
  ColumnSet<Row> columns{
      {device_column(), [](const Row& row) { return row.gap.device; }, work.several_devices()},
      {{"start_ms", Kind::kReal, "ms", "when it began, since the trace began"},
       [](const Row& row) { return ms(minus_ns(row.gap.time.start, row.work.origin_ns())); }},
      {{"gap_us", Kind::kReal, "µs", "its length"},
       [](const Row& row) { return us(length(row.gap.time)); }},
      {{"cause", Kind::kText, "", "its largest part; " + std::string{kPartsText}},
       [](const Row& row) {
         return kGapPartNames[static_cast<std::size_t>(row.gap.parts.largest())];
       }},
      {{"drained", Kind::kBool, "", "a call waited until the GPU had nothing left to do"},
       [](const Row& row) { return row.gap.drained_by.valid(); }},
      {{"cpu_during", Kind::kText, "",
        "launch anomaly: launching took more than a quarter; else whether runtime calls or other host work took most"},
       [](const Row& row) { return cpu_during(row.gap); }}};
  for (std::size_t i = 0; i < kGapPartNames.size(); ++i)
    columns.add({std::string{kGapPartNames[i]} + "_us", Kind::kReal, "µs",
                 "its part of the gap; see cause"},
                [i](const Row& row) { return us(row.gap.parts[static_cast<GapPart>(i)]); });
  columns.add({
      {{"next_kernel", Kind::kText, "", "the GPU work that ended it"},
       [](const Row& row) { return row.work.trace().name(row.gap.next); }},
      {{"next_op", Kind::kText, "", "the op that launched that"},
       [](const Row& row) {
         const EventId op = row.work.op_of({row.gap.next, row.gap.call});
         return op.valid() ? row.work.trace().name(op) : std::string_view{};
       }},
      {{"op_during", Kind::kText, "", "the op that the launching thread was in longest"},
       [](const Row& row) { return row.text(row.gap.op_during); }},
      {{"python_during", Kind::kText, "",
        "the line of the user's own Python code that the launching thread was in longest"},
       [](const Row& row) { return row.text(row.gap.python_during); }},
      {{"step", Kind::kText, "", "the step in which it began"},
       [](const Row& row) {
         const std::size_t step = row.work.step_at(row.gap.time.start);
         return step < row.work.steps().size() ? row.work.steps()[step].name : std::string_view{};
       }},
  });
  Table table = columns.make_table("gpu_gaps", "Long gaps between GPU work, and what the host did");
  std::vector<const GpuGap*> order;
  for (const GpuGap& gap : gaps.gaps) order.push_back(&gap);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const GpuGap* gap) { return length(gap->time); });
  for (const GpuGap* const gap : order) columns.append(table, Row{work, *gap});
  return table;
}

Table gpu_gap_summary(const HostWork& work, const GpuGaps& gaps) {
  struct Row {
    const DeviceGaps& device;
    std::string_view part;
    std::int64_t ns, gaps;
  };
  ColumnSet<Row> columns{
      {device_column(), [](const Row& row) { return row.device.device; }, work.several_devices()},
      {{"part", Kind::kText, "",
        "what the host did: " + std::string{kPartsText} +
            "; total: all gaps; drained: of these, those that began while a call waited for the GPU"},
       &Row::part},
      {{"idle_ms", Kind::kReal, "ms",
        "idle time of the GPU meanwhile; all its work counts, also what was launched before the trace began"},
       [](const Row& row) { return ms(row.ns); }},
      {{"percent_of_idle", Kind::kReal, "%", "share of the idle time"},
       [](const Row& row) { return percent_of(row.ns, row.device.idle_ns); }},
      {{"percent_of_span", Kind::kReal, "%",
        "share of the time from the GPU's first event to its last"},
       [](const Row& row) { return percent_of(row.ns, length(row.device.span)); }},
      {{"gaps", Kind::kInteger, "", "gaps in which it was so"}, &Row::gaps}};
  Table table = columns.make_table("gpu_gap_summary", "Idle time of the GPU by what the host did");
  for (const DeviceGaps& device : gaps.devices) {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < kGapPartNames.size(); ++i)
      if (const auto part = static_cast<GapPart>(i); device.part_ns[part] > 0)
        rows.push_back({device, kGapPartNames[i], device.part_ns[part], device.part_gaps[part]});
    std::vector<const Row*> order;
    for (const Row& row : rows) order.push_back(&row);
    std::ranges::stable_sort(order, std::ranges::greater{}, &Row::ns);
    for (const Row* const row : order) columns.append(table, Row{*row});
    columns.append(table, Row{device, "total", device.idle_ns, device.gaps});
    columns.append(table, Row{device, "drained", device.drained_ns, device.drained_gaps});
  }
  return table;
}

}  // namespace tracelens
