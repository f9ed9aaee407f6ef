// tree_text.hpp: the call tree with GPU time, as text for people or JSON for programs.
//   write_tree_text(trace, tree, {.layers = TreeLayers::only_modules()}, print);
//     nn.Module: DeepseekV2DecoderLayer_2 ................. (10233.51)
//       nn.Module: DeepseekV2MoE_2 .......................... (4711.02)
// A node's figure is the sum of the durations of the GPU events below it, in microseconds. Output
// goes to the sink piece by piece, so that a tree of any size needs no memory of its own. In
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
};

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
