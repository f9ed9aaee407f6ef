// handle.hpp: what Python objects hold of the core: a trace that several of them share, and its trees.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <utility>

namespace tracelens::python {

// A tree and the trace it is about, bound as `_native.Tree`. Never changes.
struct TreeHandle {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const Tree> tree;
};

// Bound as `_native.Trace`. Never changes once made, except that a tree is built when it is first asked for; from any thread.
class TraceHandle {
 public:
  explicit TraceHandle(Trace trace) : trace_{std::make_shared<const Trace>(std::move(trace))} {}
  explicit TraceHandle(std::shared_ptr<const Trace> trace) : trace_{std::move(trace)} {}

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const std::shared_ptr<const Trace>& shared_trace() const { return trace_; }

  // Builds it the first time: the caller must not hold the interpreter's lock.
  [[nodiscard]] std::shared_ptr<const Tree> tree(const TreeOptions& options = {}) const {
    const std::scoped_lock lock{mutex_};
    std::shared_ptr<const Tree>& tree =
        trees_[{options.python_frames, options.link_by_correlation}];
    if (tree == nullptr) tree = std::make_shared<const Tree>(build_tree(*trace_, options));
    return tree;
  }

 private:
  std::shared_ptr<const Trace> trace_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<bool, bool>, std::shared_ptr<const Tree>> trees_;
};

}  // namespace tracelens::python
