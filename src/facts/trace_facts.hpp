// trace_facts.hpp: what several analyses ask of one trace, each found out once, when first asked.
//   const TraceFacts facts{trace, {.python_frames = true}};
//   for (const EventId event : facts.gpu_events(false).events) facts.work().of(event);
// Several threads may ask at the same time. The trace must outlive the facts.
#pragma once

#include <optional>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "facts/calls.hpp"
#include "facts/gpu_work.hpp"
#include "facts/host_ranges.hpp"
#include "facts/once.hpp"
#include "facts/steps.hpp"
#include "facts/trace_kind.hpp"
#include "tree/category_rows.hpp"
#include "tree/host_rows.hpp"

namespace tracelens {

class TraceFacts {
 public:
  explicit TraceFacts(const Trace& trace, const TreeOptions& tree_options = {})
      : trace_{trace}, tree_options_{tree_options} {}
  // With a tree that is there already, or that no options would give; it must outlive the facts.
  TraceFacts(const Trace& trace, const Tree& tree) : trace_{trace}, given_tree_{&tree} {}

  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] int threads() const { return tree_options_.threads; }  // that find things out
  [[nodiscard]] TraceKind kind() const;
  [[nodiscard]] const Tree& tree() const;  // built with the options given
  // Steps the profiler marked; else the iterations that the Python frames show, whether frames take
  // part in tree() or not.
  [[nodiscard]] std::span<const Step> steps() const;

  // --- host events ---
  // Of every thread in order of time, with Python frames whether they take part in tree() or not; and of
  // these, those that have a place in a tree with Python frames.
  [[nodiscard]] const HostRows& host_rows() const;
  [[nodiscard]] const HostRows& called_rows() const;
  [[nodiscard]] const CategoryRows& rows() const;
  [[nodiscard]] const CallKinds& calls() const;
  [[nodiscard]] const HostRanges& host_ranges() const;

  // --- GPU events ---
  [[nodiscard]] const GpuSelection& gpu_events(bool include_unlinked) const;
  [[nodiscard]] const GpuWorkKinds& work() const;
  // Of the GPU time, what has no launch in the trace.
  [[nodiscard]] double unlinked_percent() const;
  // So much that what the rest does says little of the whole. Tables of PyTorch traces are about the
  // rest alone, and so is all else that is said of such a trace.
  [[nodiscard]] bool is_mostly_unlinked() const;
  // The ops that tree().linked_gpu_events() are charged to, in the same order; see launchers.hpp.
  [[nodiscard]] std::span<const NodeId> launchers() const;

 private:
  const Trace& trace_;
  TreeOptions tree_options_ = {};
  const Tree* given_tree_ = nullptr;
  mutable Once<TraceKind> kind_;
  mutable Once<CategoryRows> rows_;
  mutable Once<HostRows> host_rows_;
  mutable Once<std::optional<HostRows>> called_rows_;  // none: all of host_rows_
  mutable Once<CallKinds> calls_;
  mutable Once<HostRanges> host_ranges_;
  mutable Once<Tree> tree_;
  mutable Once<std::vector<Step>> steps_;
  mutable Once<GpuSelection> linked_, all_;
  mutable Once<GpuWorkKinds> work_;
  mutable Once<double> unlinked_percent_;
  mutable Once<std::vector<NodeId>> launchers_;
};

}  // namespace tracelens
