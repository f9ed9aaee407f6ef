// handle.hpp: what Python objects hold of the core: a trace that several of them share, and its trees.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tracelens/raw_events.hpp>
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
  // `bytes`: what a trace was read from that is in no file, as it was given.
  explicit TraceHandle(Trace trace, std::shared_ptr<const std::string> bytes = nullptr)
      : trace_{std::make_shared<const Trace>(std::move(trace))}, bytes_{std::move(bytes)} {}
  explicit TraceHandle(std::shared_ptr<const Trace> trace) : trace_{std::move(trace)} {}

  [[nodiscard]] const Trace& trace() const { return *trace_; }
  [[nodiscard]] const std::shared_ptr<const Trace>& shared_trace() const { return trace_; }

  // The events as they are written, by reading the file once more; nothing where events are no texts.
  // The caller must not hold the interpreter's lock.
  [[nodiscard]] std::optional<RawEvents> raw_events() const {
    if (bytes_ == nullptr && trace_->source().name == "-") return std::nullopt;  // read and gone
    if (bytes_ == nullptr) return read_raw_events(trace_->source().name);
    return read_raw_events_bytes(trace_->source().name, *bytes_);
  }
  [[nodiscard]] std::string text_head(std::size_t bytes) const {
    if (bytes_ == nullptr) return read_text_head(trace_->source().name, bytes);
    return read_text_head_bytes(trace_->source().name, *bytes_, bytes);
  }

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
  std::shared_ptr<const std::string> bytes_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<bool, bool>, std::shared_ptr<const Tree>> trees_;
};

}  // namespace tracelens::python
