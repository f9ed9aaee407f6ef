// context.hpp: what the rules ask about one run, each made when first asked for.
//   const std::int64_t loading = c.path().bound_by()[...];
//   if (c.share(loading) < 5) return std::nullopt;
//   for (const OpUse& use : c.op_uses()) if (use.category == "GEMM") ...
// Several threads may ask as long as nobody takes or forgets. The trace, the options and the settings must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/diagnose.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/roofline.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/fusion/fusion_input.hpp"
#include "analysis/host/gaps.hpp"
#include "analysis/host/host_work.hpp"
#include "analysis/host/queue.hpp"
#include "analysis/host/syncs.hpp"
#include "analysis/memory/totals.hpp"
#include "analysis/ops/input.hpp"
#include "analysis/ops/unified_ops.hpp"
#include "analysis/path/model.hpp"
#include "analysis/path/window.hpp"
#include "analysis/serving/run.hpp"
#include "diagnosis/kit/cmp_change.hpp"
#include "diagnosis/kit/communication.hpp"
#include "diagnosis/kit/job.hpp"
#include "diagnosis/kit/numbers.hpp"
#include "diagnosis/kit/taken_events.hpp"
#include "facts/calls.hpp"
#include "facts/host_ranges.hpp"
#include "facts/once.hpp"
#include "facts/op_places.hpp"
#include "facts/trace_facts.hpp"
#include "perf/registry/user_models.hpp"

namespace tracelens {

// One call of an op with its GPU work; together they hold every linked GPU event of the window once,
// communication left out.
struct OpUse {
  std::string name = {};
  std::string_view category = {};         // "GEMM"
  EventId event = {};                     // the op; of what no op launched, the call
  NodeId node = {};                       // invalid: not in the tree
  std::span<const EventId> kernels = {};  // its GPU events
  std::int64_t busy_ns = 0;
  const Work* work = nullptr;  // of the model; null: none, or it could not say
  const Roof* roof = nullptr;  // the best possible time; null: no model or no peaks
  std::uint32_t group = 0;     // OpGroup it belongs to

  [[nodiscard]] double percent_of_roof() const;  // 0 without a roof
};

// All calls of an op with the same arguments and the same work: a row of unified_perf_summary.
struct OpGroup {
  std::string name = {};
  std::string_view category = {};
  SignatureId signature = {};            // invalid: not recorded
  std::vector<std::uint32_t> uses = {};  // places in DiagnosisContext::op_uses()
  std::int64_t busy_ns = 0;
  const Work* work = nullptr;
  const Roof* roof = nullptr;

  [[nodiscard]] double percent_of_roof() const;       // 0 without a roof
  [[nodiscard]] double terabytes_per_second() const;  // 0 when the bytes are not known
  [[nodiscard]] double teraflops() const;             // per second
  [[nodiscard]] std::int64_t mean_ns() const {
    return uses.empty() ? 0 : busy_ns / static_cast<std::int64_t>(uses.size());
  }
};

// Busy and idle time of a device within the window, in simulated times.
struct DeviceTimes {
  std::int64_t span_ns = 0, busy_ns = 0;
  // That work in the window, and their sums.
  std::int64_t devices = 1, all_span_ns = 0, all_busy_ns = 0;
  [[nodiscard]] std::int64_t idle_ns() const { return span_ns > busy_ns ? span_ns - busy_ns : 0; }
  [[nodiscard]] std::int64_t mean_idle_ns() const { return (all_span_ns - all_busy_ns) / devices; }
};

class DiagnosisContext {
 public:
  // Throws Error when an option is wrong. `a_job`: the trace is one rank of it.
  DiagnosisContext(const Trace& a_trace, const DiagnoseOptions& an_options,
                   const RuleSettings& a_settings, const JobFacts* a_job = nullptr);
  DiagnosisContext(const DiagnosisContext&) = delete;
  DiagnosisContext& operator=(const DiagnosisContext&) = delete;

  const Trace& trace;
  const DiagnoseOptions& options;
  const RuleSettings& settings;
  const TraceFacts facts;  // Python frames take part in its tree
  const RunWindow window;
  [[nodiscard]] const Tree& tree() const { return facts.tree(); }
  // Else words of PyTorch are of no use to its reader.
  [[nodiscard]] bool is_pytorch() const { return facts.kind() == TraceKind::kPyTorch; }

  [[nodiscard]] const JobFacts* job() const { return job_; }  // null: one trace alone
  // The run that this one is held against; null: none.
  [[nodiscard]] const DiagnosisContext* other() const;
  // What it does otherwise; rules/cmp_changes.hpp makes it.
  [[nodiscard]] Once<std::vector<CmpChange>>& changes_once() const { return changes_; }

  // --- the window ---
  [[nodiscard]] const PathModel& path() const;
  // T: how long the window takes without the profiler; shares are of it.
  [[nodiscard]] std::int64_t length_ns() const;
  [[nodiscard]] double share(std::int64_t ns) const;  // in percent of it
  [[nodiscard]] std::size_t steps() const;            // at least 1
  [[nodiscard]] std::int64_t per_step(std::int64_t ns) const {
    return ns / static_cast<std::int64_t>(steps());
  }
  [[nodiscard]] Interval time() const { return time_; }  // in times of the trace
  [[nodiscard]] bool in_window(std::int64_t ts_ns) const {
    return ts_ns >= time_.start && ts_ns < time_.end;
  }
  // The step a time lies in: a place in window.steps; none: in no step.
  [[nodiscard]] std::optional<std::size_t> step_at(std::int64_t ts_ns) const {
    return tracelens::step_at(window.steps, ts_ns);
  }
  [[nodiscard]] std::int64_t on_path_ns(BoundBy what) const;
  // What an edit alone saves, as the engine will estimate it: X of the rules, in ns.
  [[nodiscard]] std::int64_t saving_ns(const PathEdit& edit) const;

  // --- GPU events whose launch lies in the window, in tree order; all, where most have none ---
  [[nodiscard]] std::span<const EventId> gpu_events() const;
  // Launches of GPU work that start in a stretch of the trace.
  [[nodiscard]] std::size_t launches_between(std::int64_t from_ns, std::int64_t to_ns) const;
  [[nodiscard]] const DeviceTimes& gpu_times() const;  // of the device that idles most
  [[nodiscard]] std::int64_t busy_ns() const { return gpu_times().busy_ns; }  // Bz
  // In percent of the busy time of all devices.
  [[nodiscard]] double busy_share(std::int64_t ns) const;
  // Of a sum over all devices, which work side by side.
  [[nodiscard]] std::int64_t per_device(std::int64_t sum) const {
    return sum / gpu_times().devices;
  }
  [[nodiscard]] std::int64_t gpu_sum_ns(std::span<const EventId> events) const;
  [[nodiscard]] std::int64_t dur_ns(EventId event) const { return trace.dur_ns()[event.row]; }
  // Whether no rule before has taken the event. To be asked by the thread that the rule is called in.
  [[nodiscard]] bool is_free(EventId gpu_event) const { return !taken_.has(gpu_event); }
  // For the engine.
  [[nodiscard]] TakenEvents& taken() { return taken_; }

  // For the engine: the rules have been asked, what they alone need makes room.
  void forget_ops_and_host();

  [[nodiscard]] const Communication& communication() const;

  // --- steps of a serving engine, of the whole trace; none where there is no such engine ---
  [[nodiscard]] const ServingRun& serving() const;

  // --- ops ---
  [[nodiscard]] std::span<const OpUse> op_uses() const;
  [[nodiscard]] std::span<const OpGroup> op_groups() const;  // by busy time

  [[nodiscard]] const OpPlaces& places() const;     // in which module and phase each op stands
  [[nodiscard]] const FusionInput& fusion() const;  // for fusible_runs() and epilogues()
  [[nodiscard]] std::span<const DeviceMemory> memory() const;  // of the whole trace

  // --- the GPU's figures; none: the GPU is not known ---
  [[nodiscard]] const Gpu* gpu() const { return gpu_ ? &*gpu_ : nullptr; }
  [[nodiscard]] std::optional<double> peak_flops(std::string_view compute_spec) const;  // per s
  [[nodiscard]] std::optional<double> bandwidth() const;  // bytes per s
  // What elementwise work reaches in this run, within what the GPU can do.
  [[nodiscard]] std::optional<double> reached_bandwidth() const;  // bytes per s

  // --- the host ---
  [[nodiscard]] const CallKinds& calls() const;
  [[nodiscard]] const HostRanges& ranges() const;
  [[nodiscard]] const HostWork& host() const;
  [[nodiscard]] const GpuGaps& gaps() const;         // sums alone, of the whole trace, as recorded
  [[nodiscard]] const SyncCalls& syncs() const;      // of the whole trace
  [[nodiscard]] const QueueLengths& queues() const;  // the same
  // The call no longer waits, the op it is for takes no longer than this, its copy goes.
  void remove_wait(const SyncCall& sync, std::int64_t left_ns, PathEdit& edit) const;

  // --- places in the program ---
  // The innermost Python frame around an event that is the user's: neither built in nor PyTorch's.
  [[nodiscard]] std::string python_line(EventId event) const;
  [[nodiscard]] std::string module_of(EventId event) const;  // "nn.Module: Linear_12"; may be empty
  [[nodiscard]] std::string shape_of(EventId op) const;      // "[[8, 4], [4, 2]]"; may be empty

 private:
  struct Uses {
    std::vector<OpUse> uses;
    std::vector<EventId> kernels;
    std::vector<std::optional<Roof>> roofs;  // by answer
    std::vector<OpGroup> groups;
  };
  [[nodiscard]] OpInput& ops() const;  // for one thread: it remembers what is asked
  [[nodiscard]] const Uses& uses() const;
  [[nodiscard]] Uses make_uses() const;
  [[nodiscard]] std::vector<EventId> launched_in_window() const;
  [[nodiscard]] DeviceTimes make_gpu_times() const;

  const Interval time_;
  const JobFacts* const job_;
  const std::optional<Gpu> gpu_;
  const perf::UserModels own_models_;
  TakenEvents taken_;
  mutable Once<PathModel> path_;
  mutable Once<std::vector<EventId>> gpu_events_;
  mutable Once<std::vector<std::int64_t>> launch_times_;  // ascending
  mutable Once<DeviceTimes> gpu_times_;
  mutable Once<Communication> communication_;
  mutable Once<ServingRun> serving_;
  mutable Once<DiagnoseOptions> other_options_;
  mutable Once<std::unique_ptr<DiagnosisContext>> other_;
  mutable Once<std::vector<CmpChange>> changes_;
  mutable Once<OpInput> ops_;
  mutable Once<Uses> uses_;
  mutable Once<OpPlaces> places_;
  mutable Once<FusionInput> fusion_;
  mutable Once<std::vector<DeviceMemory>> memory_;
  mutable Once<HostWork> host_;
  mutable Once<GpuGaps> gaps_;
  mutable Once<SyncCalls> syncs_;
  mutable Once<QueueLengths> queues_;
};

}  // namespace tracelens
