// tree_summary.hpp: the calls of a tree added up by name and place, with the GPU time below them.
//   const TreeSummary summary = summarize_tree(trace, tree, options);
//   for (const std::uint32_t child : summary.branches[kTopBranch].children) ...
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/tree_text.hpp>
#include <vector>

namespace tracelens {

inline constexpr std::uint32_t kTopBranch = 0;  // holds all others

enum class BranchKind : std::uint8_t { kHeading, kModule, kPython, kOp, kCall, kGpu };

// All calls of one name below one branch.
struct Branch {
  std::uint32_t parent = kTopBranch;
  std::size_t depth = 0;
  BranchKind kind = BranchKind::kHeading;
  std::string_view name = {};            // of modules: the first of them
  std::int64_t calls = 0, modules = 0;   // how often; how many different modules
  std::int64_t ns = 0, backward_ns = 0;  // below it; the part of it that is backward work
  bool is_in_module = false;
  std::vector<std::uint32_t> children = {};  // the costliest first
};

struct TreeSummary {
  std::vector<Branch> branches;  // parents before their children
  std::int64_t all_ns = 0;       // of all GPU events of the trace
  std::int64_t shown_ns = 0;     // of those in a branch; the rest has a heading of its own
  std::size_t gpu_events = 0;
};

// What the options choose. Names are those of the trace, which must outlive the summary. Throws
// Error when the root is not a regular expression.
[[nodiscard]] TreeSummary summarize_tree(const Trace& trace, const Tree& tree,
                                         const TreeTextOptions& options);

// "nn.Module: Block_12" -> "nn.Module: Block"
[[nodiscard]] std::string_view without_instance(std::string_view module);

}  // namespace tracelens
