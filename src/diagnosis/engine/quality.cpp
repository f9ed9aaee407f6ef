#include "diagnosis/engine/quality.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <utility>

#include "analysis/path/graph.hpp"
#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/device.hpp"
#include "diagnosis/kit/figures.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kFewSteps = 3;
constexpr std::int64_t kLittleGpuTime = 10'000'000;
constexpr double kUnlinked = 5, kNoShapes = 20, kTooEfficient = 110, kTooEfficientShare = 1;
constexpr double kUnmodelled = 25, kRecording = 1, kUnevenDevices = 5, kInflated = 1.2;
constexpr double kSkewed = 1, kInCommon = 50;

class Notes {
 public:
  explicit Notes(const DiagnosisContext& context) : c_{context}, trace_{context.trace} {}

  std::vector<QualityNote> take() {
    if (c_.gpu_events().empty()) return {};
    steps();
    links();
    names();
    streams();
    if (!are_graphs_whole(c_))
      add(8,
          "graph launches were recorded without their kernels or with a part of them: idle time and "
          "graph coverage are not reliable, findings about them are withheld");
    models();
    clocks();
    other_run();
    return std::move(notes_);
  }

 private:
  void add(int number, std::string text) {
    notes_.push_back({fmt::format("TQ-{}", number), std::move(text)});
  }

  void steps() {
    const std::size_t steps = c_.window.steps.size();
    if (steps > 0 && steps < kFewSteps)
      add(1, fmt::format("only {}: shares may not be representative; record 3 steady ones",
                         counted(static_cast<std::int64_t>(steps), "step")));
    else if (c_.busy_ns() < kLittleGpuTime)
      add(1, fmt::format("only {} of GPU time: shares may not be representative",
                         ms_text(c_.busy_ns())));
    if (steps == 0) add(2, "no steps are marked or found: shares refer to the whole trace");
    if (!c_.window.dropped.empty()) add(3, c_.window.left_out());
  }

  void links() {
    if (c_.facts.unlinked_percent() > kUnlinked)
      add(4, fmt::format("{} of the GPU time has no launch in the trace: ops, gaps and path lack "
                         "it; {}",
                         figure(c_.facts.unlinked_percent(), "%"), how_to_link()));
  }

  [[nodiscard]] std::string_view how_to_link() const {
    switch (c_.facts.kind()) {
      case TraceKind::kJax:
        return "record with host_tracer_level=2 or more, from before the first dispatch";
      case TraceKind::kRocmTimeline:
      case TraceKind::kRocprof:
        return "record the calls of HIP, too: rocprofv3 --hip-trace";
      case TraceKind::kDatabase:
        return "record the calls that launch, too: rocprofv3 --hip-trace, nsys profile --trace=cuda";
      case TraceKind::kPyTorch:
        break;
    }
    return std::ranges::any_of(trace_.recorded_events(),
                               [&](EventId event) { return is_runtime(trace_.category(event)); })
               ? "record from before the first launch"
               : "record the host, too: activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]";
  }

  // Not a call or a graph launch that stands for the op it has none of.
  [[nodiscard]] bool is_op(const OpGroup& group) const {
    const EventId event = c_.op_uses()[group.uses.front()].event;
    return event.valid() && trace_.category(event) == Category::kCpuOp;
  }

  // What PyTorch's profiler records when asked to.
  void names() {
    if (!c_.is_pytorch()) return;
    std::int64_t all = 0, without = 0;
    for (const OpGroup& group : c_.op_groups()) {
      const bool has_shapes =
          group.signature.valid() && !trace_.signature(group.signature).dims.is_null();
      if (!is_op(group)) continue;
      all += group.busy_ns;
      if (!has_shapes) without += group.busy_ns;
    }
    if (percentage(without, all) > kNoShapes)
      add(5, fmt::format("ops without shapes hold {} of the GPU time of ops: record with "
                         "record_shapes=True",
                         figure(percentage(without, all), "%")));
    bool has_frames = false, has_modules = false;
    for (std::uint32_t i = 0; i < c_.tree().size() && !has_modules; ++i) {
      has_frames |= trace_.category(c_.tree().event({i})) == Category::kPythonFunction;
      has_modules |= c_.tree().is_module({i});
    }
    if (!has_frames)
      add(6, "no Python frames: causes have no line of code; record with with_stack=True");
    else if (!has_modules)
      add(6, "no module frames: record with with_modules=True");
  }

  void streams() {
    std::set<std::pair<std::int64_t, std::int64_t>> lanes;
    for (const EventId event : c_.gpu_events())
      lanes.emplace(device_of(c_.facts, event), trace_.streams().at(event).value_or(0));
    std::set<std::int64_t> devices;
    for (const auto& [device, stream] : lanes) devices.insert(device);
    if (lanes.size() == devices.size()) return;
    const bool has_waits = std::ranges::any_of(trace_.recorded_events(), [&](EventId event) {
      return trace_.category(event) == Category::kOtherCategory &&
             trace_.category_text(event) == "cuda_sync";
    });
    if (!has_waits) add(7, "no records of streams waiting for each other: such waits are inferred");
  }

  // Models are asked about PyTorch's ops alone.
  void models() {
    if (!c_.is_pytorch()) return;
    std::int64_t all = 0, unmodelled = 0, wrong = 0;
    std::vector<std::string> wrong_names, unknown_names;
    const auto name = [](std::vector<std::string>& list, const std::string& op) {
      if (list.size() < 3 && std::ranges::find(list, op) == list.end()) list.push_back(op);
    };
    for (const OpGroup& group : c_.op_groups()) {
      all += group.busy_ns;
      if (group.work == nullptr) unmodelled += group.busy_ns, name(unknown_names, group.name);
      if (group.percent_of_roof() > kTooEfficient)
        wrong += group.busy_ns, name(wrong_names, group.name);
    }
    if (c_.busy_share(wrong) >= kTooEfficientShare)
      add(9, fmt::format("faster than the roof allows, so model or peak is wrong for: {}",
                         fmt::join(wrong_names, ", ")));
    if (percentage(unmodelled, all) > kUnmodelled)
      add(10,
          fmt::format("{} of the GPU time of ops has no model, most of it in: {}",
                      figure(percentage(unmodelled, all), "%"), fmt::join(unknown_names, ", ")));
  }

  // Whether the run that this one is held against does the same work, by the names of its ops.
  void other_run() {
    const DiagnosisContext* const other = c_.other();
    if (other == nullptr) return;
    const double here = share_in_common(c_, *other), there = share_in_common(*other, c_);
    if (std::min(here, there) < kInCommon)
      add(17, fmt::format("ops of the same names hold {} of the GPU time here and {} in the other "
                          "run: it may be of another program, and findings CMP-* then mean little",
                          figure(here, "%"), figure(there, "%")));
  }
  // What a program calls, however it is done: the outermost op, of backward work that of its forward
  // op.
  static std::string called_op(const DiagnosisContext& run, const OpUse& use) {
    if (!use.node.valid()) return use.name;
    const NodeId forward = forward_of(run, use.node);
    NodeId op = forward.valid() ? forward : use.node;
    for (NodeId above = run.tree().parent(op); above.valid(); above = run.tree().parent(above))
      if (run.tree().is_op(above)) op = above;
    return std::string{run.trace.name(run.tree().event(op))};
  }
  static double share_in_common(const DiagnosisContext& one, const DiagnosisContext& other) {
    std::set<std::string> names;
    for (const OpUse& use : other.op_uses()) names.insert(called_op(other, use));
    std::int64_t all = 0, common = 0;
    for (const OpUse& use : one.op_uses()) {
      all += use.busy_ns;
      if (names.contains(called_op(one, use))) common += use.busy_ns;
    }
    return percentage(common, all);
  }

  void clocks() {
    if (!c_.path().usable())
      add(11, fmt::format("no critical path, so savings are plain sums: {}", c_.path().why_not()));
    else
      skew(c_.path().graph());
    std::vector<Interval> recording;
    for (const EventId event : trace_.recorded_events())
      if (trace_.category(event) == Category::kOverhead && trace_.dur_ns()[event.row] != kAbsent &&
          c_.in_window(trace_.ts_ns()[event.row]))
        recording.push_back({trace_.ts_ns()[event.row], trace_.end_ns(event)});
    const std::int64_t overhead = length(merge(std::move(recording)));
    if (c_.share(overhead) >= kRecording)
      add(12, fmt::format("the profiler itself took {} inside the window", ms_text(overhead)));
    devices();
    if (std::ranges::any_of(c_.memory(), [](const DeviceMemory& m) { return m.violations > 0; }))
      add(14, "allocations were lost while recording: memory figures are incomplete");
    if (c_.gpu() == nullptr)
      add(15,
          "the GPU is not known: rules about rates compare the run with itself; choose one with "
          "--gpu");
    if (!c_.path().usable() || !c_.options.corrects_overhead) return;
    const std::int64_t recorded = c_.path().recorded_ns(), corrected = c_.length_ns();
    if (static_cast<double>(recorded) >= kInflated * static_cast<double>(corrected))
      add(16,
          fmt::format("recording slows the host: a step of {} takes about {} without it{}; shares "
                      "refer to that",
                      ms_text(c_.per_step(recorded)), ms_text(c_.per_step(corrected)),
                      c_.path().costs_are_calibrated() ? "" : " (not calibrated)"));
  }

  void skew(const PathGraph& graph) {
    const double early = percentage(static_cast<std::int64_t>(graph.dropped()),
                                    static_cast<std::int64_t>(graph.size()));
    if (early > kSkewed)
      add(11,
          fmt::format("{} of all starts and ends come before what they wait for (clocks of host "
                      "and GPU disagree, or events of one stream overlap): savings are less sure",
                      figure(early, "%")));
  }

  void devices() {
    std::map<std::int64_t, Interval> spans;
    for (const EventId event : c_.gpu_events()) {
      const Interval when{trace_.ts_ns()[event.row], trace_.end_ns(event)};
      auto [at, is_new] = spans.try_emplace(device_of(c_.facts, event), when);
      at->second.start = std::min(at->second.start, when.start);
      at->second.end = std::max(at->second.end, when.end);
    }
    std::int64_t shortest = 0, longest = 0;
    for (const auto& [device, span] : spans) {
      longest = std::max(longest, length(span));
      shortest = shortest == 0 ? length(span) : std::min(shortest, length(span));
    }
    if (percentage(longest - shortest, longest) > kUnevenDevices)
      add(13, fmt::format("the GPUs work for {} to {}: look at each", ms_text(shortest),
                          ms_text(longest)));
  }

  const DiagnosisContext& c_;
  const Trace& trace_;
  std::vector<QualityNote> notes_;
};

}  // namespace

bool are_graphs_whole(const DiagnosisContext& context) {
  const Trace& trace = context.trace;
  std::vector<std::size_t> launches(context.window.steps.size());  // by step, so far
  std::map<std::size_t, std::vector<std::size_t>> sizes;           // by place in the step
  for (const EventId event : trace.recorded_events()) {
    if (!is_runtime(trace.category(event)) || trace.ts_ns()[event.row] == kAbsent) continue;
    if (!context.in_window(trace.ts_ns()[event.row])) continue;
    if (trace.name(event).find("GraphLaunch") == std::string_view::npos) continue;
    const NodeId node = context.tree().node(event);
    if (!node.valid()) continue;
    const std::size_t size = context.tree().gpu_count(node);
    if (size == 0) return false;
    if (const auto step = context.step_at(trace.ts_ns()[event.row]))
      sizes[launches[*step]++].push_back(size);
  }
  // Steps launch the same graphs one after the other: each has about as many kernels every time.
  for (auto& [place, all] : sizes) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::ranges::nth_element(all, middle);
    const std::size_t usual = *middle;
    if (all.size() > 2 && std::ranges::any_of(all, [&](std::size_t n) { return 2 * n < usual; }))
      return false;
  }
  return true;
}

std::vector<QualityNote> quality_notes(const DiagnosisContext& context) {
  return Notes{context}.take();
}

}  // namespace tracelens
