#include "serving/captures.hpp"

#include <tracelens/tree.hpp>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "io/ascii.hpp"
#include "serving/pseudo_op_frames.hpp"
#include "trace/json_value.hpp"
#include "trace/string_table.hpp"
#include "trace/value_member.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct Window {
  std::int64_t begin = 0, end = 0;
};

bool is_timed(const Trace& trace, EventId event) {
  return trace.phase(event) == Phase::kComplete && trace.ts_ns()[event.row] != kAbsent;
}

bool says(std::string_view name, std::string_view word) {
  return name.find(word) != std::string_view::npos;
}

// The reference pairs the n-th begin of the file with the n-th end; we pair them by thread, in order
// of time.
std::vector<Window> find_windows(const Trace& trace, Edition edition, std::size_t& unfinished) {
  std::vector<EventId> begins, ends;
  for (const EventId event : trace.all_events()) {
    if (trace.category(event) != Category::kCudaRuntime || !is_timed(trace, event)) continue;
    if (says(trace.name(event), "StreamBeginCapture")) begins.push_back(event);
    if (says(trace.name(event), "StreamEndCapture")) ends.push_back(event);
  }
  std::vector<Window> windows;
  if (edition == Edition::kReference) {
    for (std::size_t i = 0; i < std::min(begins.size(), ends.size()); ++i)
      windows.push_back({end_of(trace, begins[i]), trace.ts_ns()[ends[i].row]});
  } else {
    const auto order = [&](EventId event) {
      return std::tuple{trace.tracks()[event.row], trace.ts_ns()[event.row], event};
    };
    std::ranges::sort(begins, {}, order);
    std::ranges::sort(ends, {}, order);
    auto end = ends.begin();
    for (std::size_t i = 0; i < begins.size(); ++i) {
      end = std::lower_bound(end, ends.end(), order(begins[i]),
                             [&](EventId a, const auto& b) { return order(a) < b; });
      if (end == ends.end() || trace.tracks()[end->row] != trace.tracks()[begins[i].row] ||
          (i + 1 < begins.size() && order(begins[i + 1]) < order(*end)))
        continue;
      windows.push_back({end_of(trace, begins[i]), trace.ts_ns()[end->row]});
    }
    std::ranges::sort(windows, {}, &Window::begin);
  }
  unfinished = begins.size() - std::min(begins.size(), windows.size());
  return windows;
}

bool puts_work_on_gpu(const Trace& trace, EventId event) {
  const std::string_view name = trace.name(event);
  return is_runtime(trace.category(event)) &&
         (io::contains_ignoring_case(name, "launch") ||
          io::contains_ignoring_case(name, "memcpy") || io::contains_ignoring_case(name, "memset"));
}

class Finder {
 public:
  Finder(Capture& capture, Edition edition, bool python_frames)
      : capture_{capture},
        trace_{capture.trace},
        edition_{edition},
        takes_frames_{python_frames || edition == Edition::kReference},
        tree_{build_tree(capture.trace, {.python_frames = true})} {
    for (std::uint32_t node = 0; node < tree_.size(); ++node) by_time_.push_back({node});
    std::ranges::stable_sort(by_time_, {}, [&](NodeId node) { return start(node); });
    depths_.reserve(tree_.size());
    for (const NodeId parent : tree_.parents())
      depths_.push_back(parent.valid() ? depths_[parent.row] + 1 : 0);
    places_.assign(tree_.size(), CapturedGraph::kTop);
    if (edition_ != Edition::kReference) learn_kernels();
  }

  // Returns the number of events it looked at.
  std::size_t add(const Window& window) {
    CapturedGraph graph{.ts_ns = window.begin, .dur_ns = window.end - window.begin};
    const std::vector<NodeId> nodes = nodes_of(window);
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const NodeId caller = caller_of(nodes[i]);
      graph.events.push_back(tree_.event(nodes[i]));
      graph.callers.push_back(caller.valid() ? places_[caller.row] : CapturedGraph::kTop);
      places_[nodes[i].row] = i;
      if (tree_.is_op(nodes[i]))
        graph.digest = mix_hash(graph.digest, digest_of(tree_.event(nodes[i])));
      if (!is_call(nodes[i])) continue;
      graph.call_places.push_back(i);
      graph.calls.push_back(call_of(nodes[i]));
    }
    for (const NodeId node : nodes) places_[node.row] = CapturedGraph::kTop;
    guess_kernels(graph);
    capture_.graphs.push_back(std::move(graph));
    return seen_;
  }

 private:
  [[nodiscard]] std::int64_t start(NodeId node) const {
    return trace_.ts_ns()[tree_.event(node).row];
  }
  [[nodiscard]] bool lies_in(const Window& window, NodeId node) const {
    return start(node) >= window.begin && end_of(trace_, tree_.event(node)) <= window.end;
  }
  // A call whose kernel ran while the capture was recorded is not part of it, nor is one for the
  // host; of a call within a call the outer one counts.
  [[nodiscard]] bool is_call(NodeId node) const {
    if (!puts_work_on_gpu(trace_, tree_.event(node))) return false;
    if (edition_ == Edition::kReference) return true;
    const NodeId caller = tree_.parent(node);
    return tree_.gpu_count(node) == 0 && !says(trace_.name(tree_.event(node)), "HostFunc") &&
           !(caller.valid() && puts_work_on_gpu(trace_, tree_.event(caller)));
  }
  [[nodiscard]] bool is_taken(NodeId node) const {
    const EventId event = tree_.event(node);
    return takes_frames_ || trace_.category(event) != Category::kPythonFunction ||
           tells_of_pseudo_op(trace_.name(event));
  }
  [[nodiscard]] NodeId caller_of(NodeId node) const {
    do node = tree_.parent(node);
    while (node.valid() && !is_taken(node));
    return node;
  }
  [[nodiscard]] bool can_be_top(NodeId node) const {
    const Category category = trace_.category(tree_.event(node));
    const bool is_op_or_frame =
        category == Category::kCpuOp || category == Category::kPythonFunction;
    if (edition_ == Edition::kReference) return is_op_or_frame && tree_.parent(node).valid();
    return is_op_or_frame || is_call(node);
  }

  // By time; of equal times the callers first.
  [[nodiscard]] std::vector<NodeId> nodes_of(const Window& window) {
    const auto first = std::ranges::lower_bound(by_time_, window.begin, {},
                                                [&](NodeId node) { return start(node); });
    std::vector<NodeId> nodes;
    seen_ = 1;
    for (auto at = first; at != by_time_.end() && start(*at) <= window.end; ++at, ++seen_) {
      const NodeId parent = tree_.parent(*at);
      if (!lies_in(window, *at) || !can_be_top(*at) || (parent.valid() && lies_in(window, parent)))
        continue;
      for (NodeId node = *at; node < tree_.end(*at); ++node.row)
        if (!is_gpu(trace_.category(tree_.event(node))) && is_taken(node)) nodes.push_back(node);
    }
    if (edition_ != Edition::kReference) keep_callers_of_calls(nodes);
    std::ranges::sort(nodes, {}, [&](NodeId node) {
      return std::tuple{start(node), depths_[node.row], node};
    });
    return nodes;
  }

  void keep_callers_of_calls(std::vector<NodeId>& nodes) const {
    std::vector<bool> wanted(tree_.size());
    for (const NodeId call : nodes)
      if (is_call(call))
        for (NodeId node = call; node.valid() && !wanted[node.row]; node = tree_.parent(node))
          wanted[node.row] = true;
    std::erase_if(nodes, [&](NodeId node) { return !wanted[node.row]; });
  }

  // What ops launched that ran, by signature; the last call counts, as the first may be a trial.
  void learn_kernels() {
    NodeId last;
    for (const EventId gpu : tree_.linked_gpu_events()) {
      const NodeId op = tree_.nearest_op(tree_.node(gpu));
      if (!op.valid()) continue;
      const SignatureId signature = trace_.signatures()[tree_.event(op).row];
      if (!signature.valid()) continue;
      std::vector<StringId>& kernels = launched_[signature.row];
      if (op != last) kernels.clear();
      kernels.push_back(trace_.names()[gpu.row]);
      last = op;
    }
  }

  void guess_kernels(CapturedGraph& graph) const {
    if (launched_.empty()) return;
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> calls_of;  // by op
    for (std::size_t i = 0; i < graph.calls.size(); ++i)
      if (!graph.calls[i].op.empty() && graph.calls[i].kernel.empty())
        calls_of[graph.calls[i].op_id].push_back(i);
    for (const auto& [op, calls] : calls_of) {
      const SignatureId signature = trace_.signatures()[tree_.event({op}).row];
      const auto known = signature.valid() ? launched_.find(signature.row) : launched_.end();
      if (known == launched_.end() || known->second.size() != calls.size()) continue;
      for (std::size_t i = 0; i < calls.size(); ++i)
        graph.calls[calls[i]].likely_kernel = trace_.text(known->second[i]);
    }
  }

  std::uint64_t digest_of(EventId op) {
    const SignatureId id = trace_.signatures()[op.row];
    if (!id.valid()) return hash_text(trace_.name(op));
    const auto [entry, added] = digests_.try_emplace(id.row, 0);
    if (added) {
      const Signature& signature = trace_.signature(id);
      entry->second =
          mix_hash(hash_text(trace_.name(op)), hash_text(canonical_text(signature.dims)));
      entry->second = mix_hash(entry->second, hash_text(canonical_text(signature.types)));
    }
    return entry->second;
  }

  CapturedCall call_of(NodeId node) {
    const EventId event = tree_.event(node);
    CapturedCall call{.call = trace_.name(event)};
    if (const auto details = trace_.detail_texts().at(event)) {
      const auto [entry, added] = capture_.kernel_names.try_emplace(details->row);
      if (added) entry->second = member(trace_.details(event), "kernel").as_text();
      call.kernel = entry->second;
    }
    if (const NodeId op = tree_.nearest_op(node); op.valid()) {
      call.op = trace_.name(tree_.event(op));
      call.op_id = op.row;
    }
    return call;
  }

  Capture& capture_;
  const Trace& trace_;
  Edition edition_;
  bool takes_frames_;
  Tree tree_;
  std::vector<NodeId> by_time_;
  std::vector<std::uint32_t> depths_, places_;  // by node
  std::size_t seen_ = 0;                        // events in the time of the window at hand
  std::unordered_map<std::uint32_t, std::uint64_t> digests_;           // by signature
  std::unordered_map<std::uint32_t, std::vector<StringId>> launched_;  // by signature
};

}  // namespace

Capture find_captures(Trace trace, Edition edition, bool python_frames) {
  Capture capture{.trace = std::move(trace), .graphs = {}};
  const std::vector<Window> windows = find_windows(capture.trace, edition, capture.unfinished);
  if (windows.empty()) return capture;
  Finder finder{capture, edition, python_frames};
  // Captures hardly overlap; where a damaged file says so, it ends here.
  std::size_t taken = 0;
  for (const Window& window : windows) {
    if (taken > 4 * capture.trace.size()) break;
    if (window.end >= window.begin) taken += finder.add(window);
  }
  return capture;
}

}  // namespace tracelens
