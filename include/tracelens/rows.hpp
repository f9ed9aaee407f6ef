// rows.hpp: tables with a row per op, per kernel or per event, where a report has one per group.
//   const Tree tree = build_tree(trace);
//   OpRows rows{trace, tree};
//   const Table launchers = rows.launchers({.ids = true, .kernels = true});
//   const Table gemms = rows.perf(events_named("aten::mm"), {.kernels = true});
// They work on any tree of the trace: one with Python frames, or one of an edited trace. A column
// "UID" is an event's position in the trace. In src/analysis/rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <tracelens/edition.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/model.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

struct RowOptions {
  Edition edition = Edition::kExtended;
  const ModelSet* models = nullptr;  // one's own, asked first; not owned
  const Gpu* gpu = nullptr;          // adds roofline columns; not owned
  bool communication = false;        // ops that launch communication kernels alone are rows, too
  // GPU events whose launch is not in the trace count among those that ran at the same time.
  bool include_unlinked = false;
  bool recompute = false;  // column is_recompute; needs a tree with Python frames
};

struct LauncherColumns {
  bool start = false;    // ts
  bool ids = false;      // pid, tid, external_id
  bool kernels = false;  // kernel_details, num_kernels
  // call_stack, parent_module: the nn.Modules around it; needs a tree with Python frames
  bool modules = false;
};

struct KernelColumns {
  bool launch = false;  // the call that launched it
  bool op = true;       // the nearest op above, its arguments and GPU time
  bool module = false;  // the nearest nn.Module above; needs a tree with Python frames
};

struct UnifiedColumns {
  bool arguments = true;
  bool metrics = true;       // work, GPU time, rates
  bool kernels = true;       // kernel_details
  bool call_stacks = false;  // in kernel_details; needs a tree with Python frames
  bool callers = false;      // event: of a synthetic op the position of the call it stands for
};

struct PerfColumns {
  Pass pass = Pass::kForward;
  // Also the GPU time without kernels that only copy or transpose.
  bool without_data_movement = false;
  bool arguments = false;
  bool kernels = false;  // kernel_details, num_kernels
};

// What the rows of one trace and tree have in common is found out once. Not for several threads at
// a time. Trace, tree, models and GPU must outlive it.
class OpRows {
 public:
  OpRows(const Trace& trace, const Tree& tree, const RowOptions& options = {});
  OpRows(OpRows&&) noexcept;
  OpRows& operator=(OpRows&&) noexcept;
  ~OpRows();

  // Table gpu_timeline of the tree's GPU events; gaps shorter than `micro_idle_us` in a row of their
  // own.
  [[nodiscard]] Table timeline(std::optional<std::int64_t> micro_idle_us = {});

  // One row per op that launched GPU work itself, by start.
  [[nodiscard]] Table launchers(const LauncherColumns& columns = {});

  // One row per kernel, linked to a launch or not, in file order; no copies, no fills. What no
  // kernel has (a launch, an op, a module) has no columns.
  [[nodiscard]] Table kernels(const KernelColumns& columns = {});

  // One row per op of those that together account for every GPU event once; see
  // unified_perf_summary of docs/tables.md. A kernel that ends up with no op has a synthetic one,
  // whose UID follows the last event.
  [[nodiscard]] Table unified(const UnifiedColumns& columns = {});

  // One row per event given, in that order: the work that a model says it is and the GPU time of
  // all below it, or of the backward ops linked to it. Column `problem` says why a row has no
  // answer; `problem_kind` is "no model", "not implemented" or "failed".
  [[nodiscard]] Table perf(std::span<const EventId> events, const PerfColumns& columns = {});

  // An nn.Module and those below it, callers before callees: GPU time, and what of it is in no
  // module below. Needs a tree with Python frames; no rows when the event is no module of the tree.
  [[nodiscard]] Table modules(EventId root);

  // How long at least one of the GPU events below an event ran; 0 when it is not in the tree.
  [[nodiscard]] std::int64_t busy_ns(EventId event);

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

// The nn.Modules right below an event, others in between or not, by time. Needs a tree with Python
// frames.
[[nodiscard]] std::vector<EventId> module_children(const Tree& tree, EventId event);

}  // namespace tracelens
