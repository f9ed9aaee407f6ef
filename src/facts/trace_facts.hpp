// trace_facts.hpp: what several analyses ask of one trace, each found out once, when first asked.
//   const TraceFacts facts{trace, {.python_frames = true}};
//   for (const EventId event : facts.gpu_events(false).events) facts.work().of(event);
// Several threads may ask at the same time. The trace must outlive the facts.
#pragma once

#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "facts/gpu_work.hpp"
#include "facts/once.hpp"
#include "facts/steps.hpp"
#include "facts/trace_kind.hpp"

namespace tracelens {

class TraceFacts {
 public:
  explicit TraceFacts(const Trace& trace, const TreeOptions& tree_options = {})
      : trace_{trace}, tree_options_{tree_options} {}
  // With a tree that is there already, or that no options would give; it must outlive the facts.
  TraceFacts(const Trace& trace, const Tree& tree) : trace_{trace}, given_tree_{&tree} {}

  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] TraceKind kind() const;
  [[nodiscard]] const Tree& tree() const;  // built with the options given
  // Steps the profiler marked; else the iterations that the Python frames show, whether frames take
  // part in tree() or not.
  [[nodiscard]] std::span<const Step> steps() const;

  // --- GPU events ---
  [[nodiscard]] const GpuSelection& gpu_events(bool include_unlinked) const;
  [[nodiscard]] const GpuWorkKinds& work() const;
  // The ops that tree().linked_gpu_events() are charged to, in the same order; see launchers.hpp.
  [[nodiscard]] std::span<const NodeId> launchers() const;

 private:
  const Trace& trace_;
  TreeOptions tree_options_ = {};
  const Tree* given_tree_ = nullptr;
  mutable Once<TraceKind> kind_;
  mutable Once<Tree> tree_;
  mutable Once<std::vector<Step>> steps_;
  mutable Once<GpuSelection> linked_, all_;
  mutable Once<GpuWorkKinds> work_;
  mutable Once<std::vector<NodeId>> launchers_;
};

}  // namespace tracelens
