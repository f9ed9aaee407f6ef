#include "facts/trace_facts.hpp"

#include "facts/launchers.hpp"

namespace tracelens {

TraceKind TraceFacts::kind() const {
  return kind_.get([&] { return trace_kind(trace_); });
}

const Tree& TraceFacts::tree() const {
  if (given_tree_ != nullptr) return *given_tree_;
  return tree_.get([&] { return build_tree(trace_, tree_options_); });
}

std::span<const Step> TraceFacts::steps() const {
  return steps_.get([&] {
    std::vector<Step> steps = find_steps(trace_, tree());
    if (steps.empty()) steps = find_steps(trace_, build_tree(trace_, {.python_frames = true}));
    return steps;
  });
}

const GpuSelection& TraceFacts::gpu_events(bool include_unlinked) const {
  return (include_unlinked ? all_ : linked_).get([&] {
    return select_gpu_events(trace_, tree(), include_unlinked);
  });
}

const GpuWorkKinds& TraceFacts::work() const {
  return work_.get([&] { return GpuWorkKinds{trace_}; });
}

std::span<const NodeId> TraceFacts::launchers() const {
  return launchers_.get([&] { return find_launchers(trace_, tree()); });
}

}  // namespace tracelens
