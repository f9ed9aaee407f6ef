// tree_text.hpp: the call tree with GPU time, as text for people or JSON for programs.
//   write_tree_summary(trace, tree, {.layers = TreeLayers::only_modules()}, print);
//      share      ms  forward  backward  calls
//      74.6%  17.310    6.114    11.196      2  nn.Module: GPT_0
//      61.2%  14.201    4.788     9.413     12    6 x nn.Module: Block
//      ...
//   write_tree_text(trace, tree, {.layers = TreeLayers::only_modules()}, print);
//     nn.Module: DeepseekV2DecoderLayer_2 ................. (10233.51)
//       nn.Module: DeepseekV2MoE_2 .......................... (4711.02)
// The summary is what matters, by time; the text is every call, in the order of the calls. A node's
// figure is the sum of the durations of the GPU events below it, in the text in microseconds. Output
// goes to the sink piece by piece; the text of a tree of any size needs no memory of its own. In
// src/analysis/inspect.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>

namespace tracelens {

using TextSink = std::function<void(std::string_view)>;

// Which nodes are shown. The children of a hidden node are shown in its place.
struct TreeLayers {
  bool modules = true, python = true, ops = true, calls = true, gpu = true;
  static TreeLayers only_modules() {
    return {.modules = true, .python = false, .ops = false, .calls = false, .gpu = false};
  }
};

struct TreeTextOptions {
  TreeLayers layers = {};
  std::size_t depth = std::numeric_limits<std::size_t>::max();  // levels shown
  double min_us = 0;              // nodes with less GPU time are left out
  bool without_gpu_work = false;  // also show nodes that launched nothing
  // Regular expression (RE2): only the outermost nodes whose name it finds, and below.
  std::string root = {};
  std::size_t max_name = 120;  // longer names are cut (text only)
  std::size_t width = 0;       // longer lines are cut (summary only); 0: none is
};

// All calls of one name in one place are one line, and so are modules of one class that stand side
// by side; the longest first, with their share of all GPU time of the trace. Backward work counts
// for the module of its forward op. What is below `min_us`, or without it below 1%, is folded into
// a line that says how much it is; so is all work that the choices leave out, so that the lines
// at the top add up to all GPU time. Nothing is written when nothing is left. `without_gpu_work`
// has no effect. Throws Error when `root` is not a regular expression.
void write_tree_summary(const Trace& trace, const Tree& tree, const TreeTextOptions& options,
                        const TextSink& sink);

// Throws Error when `root` is not a regular expression.
void write_tree_text(const Trace& trace, const Tree& tree, const TreeTextOptions& options,
                     const TextSink& sink);

// {"roots": [{"uid": 7, "category": "cpu_op", "name": "aten::mm", "gpu_us": 12.5, "gpu_events": 2,
//             "children": [...]}]}
void write_tree_json(const Trace& trace, const Tree& tree, const TreeTextOptions& options,
                     const TextSink& sink);

// Into a file: JSON when its name ends in .json, text otherwise. Throws Error when it cannot be
// written; it is replaced only when the new one is complete.
void write_tree(const Trace& trace, const Tree& tree, const TreeTextOptions& options,
                const std::string& output);

// From one event up to its root, one line each: where a kernel comes from. When one of them is a
// backward op, the way up from its forward op follows. Throws Error when the event is not in the
// tree.
void write_path_text(const Trace& trace, const Tree& tree, EventId event, const TextSink& sink);

}  // namespace tracelens
