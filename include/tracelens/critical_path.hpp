// critical_path.hpp: what had to wait for what, and what a run would take if parts of it were faster.
//   const CriticalPathAnswer path = find_critical_path(trace);    // of the steady steps
//   for (const std::string& sentence : path.sentences) print(sentence);
//   write_path_overlay(trace, "overlay.json.gz");
//
//   WhatIfOptions what{.scales = {{"aten::mm", 0.5}}};
//   print(what_if(trace, what).then_ms);
// Implemented in src/analysis/inspect and src/report/convert.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/gpu.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct CriticalPathAnswer {
  std::vector<Table> tables;           // critical_path_summary, critical_path
  std::vector<std::string> sentences;  // what the run is bound by, and how long its steps take
};

// Which steps a question is about: "steady", without those that warm up, "all" of the trace, or their
// numbers: "3-5". As DiagnoseOptions::steps. A trace without steps is taken whole.
inline constexpr const char* kSteadySteps = "steady";
void check_step_choice(std::string_view steps);  // throws Error about the text alone

// Throws Error when the trace has no host events to follow, or no such steps.
[[nodiscard]] CriticalPathAnswer find_critical_path(const Trace& trace,
                                                    std::string_view steps = kSteadySteps);

// The same as Holistic Trace Analysis finds it, to compare with it: of the events in the first
// annotation whose name holds the text, or from one such annotation to another. The whole trace
// where the text is empty. Tables: critical_path_bound_by, critical_path_by_edge_type.
struct HtaPathOptions {
  std::string annotation = "ProfilerStep";
  std::size_t first = 0, last = 0;  // of the annotations, from 0, in the order of the file
};
[[nodiscard]] CriticalPathAnswer find_hta_path(const Trace& trace,
                                               const HtaPathOptions& options = {});

// --- the path in the trace itself, for a trace viewer ---
struct OverlayOptions {
  bool only_critical = false;  // leave other events out, but for annotations and Python frames
  bool counters = false;       // add waiting launches per stream and copy rates over time
  std::string steps = kSteadySteps;  // whose path is marked
};
struct OverlayCounts {
  std::uint64_t events = 0, critical = 0, arrows = 0;
};
// Copies the trace's file, which must be Chrome JSON and still be there: events of the path get the
// argument critical = 1, and arrows go where it changes the thread or stream. Packed when the name
// ends in .gz. Throws Error when the file cannot be read or written.
OverlayCounts write_path_overlay(const Trace& trace, const std::string& output,
                                 const OverlayOptions& options = {});

// --- what if ---
struct WhatIfOptions {
  struct Scale {
    // An op, module, Python frame or annotation by its whole name, a call, or part of a kernel's
    // name; "host" and "gpu" are all there is.
    std::string name;
    double factor = 1;     // of GPU time; of host time where there is none below it
    bool is_gone = false;  // no GPU time, and no host time either
  };
  std::vector<Scale> scales = {};
  bool no_sync = false;           // no call waits for the GPU
  bool no_communication = false;  // collectives take no time
  bool no_launch_cost = false;    // launches take no time, neither on the host nor on the way
  GpuChoice gpu = {};             // kernels as fast as this GPU would be, by their roofs
  bool correct_overhead = true;   // without what the profiler itself costs
  std::string steps = kSteadySteps;
};

struct WhatIfAnswer {
  std::size_t steps = 0;                            // that the times are the mean of; 0: none known
  double recorded_ms = 0, now_ms = 0, then_ms = 0;  // per step; now: without the profiler
  Table edits;                                      // each alone, and all together
  std::vector<std::string> assumptions;             // sentences
};

// Throws Error when a name is not in the trace, or the trace has no launches to follow.
[[nodiscard]] WhatIfAnswer what_if(const Trace& trace, const WhatIfOptions& options);

}  // namespace tracelens
