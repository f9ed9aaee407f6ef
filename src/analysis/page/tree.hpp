// tree.hpp: what the GPU work of a run was for: modules, the ops in them, their kernels.
//   PageTree tree{names, ops, classes};
//   tree.add(run, host, ...);
//   page.nodes = tree.finish();
//   slice.module = tree.place(run, job).module;
// Work outside of modules stands below the user's annotations around it, else below its op alone.
// Backward work stands in the module of its forward op. What has the same path in every step is one
// node. The roots together have the time of all GPU events whose launch is in the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <tracelens/page.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/page/names.hpp"
#include "analysis/page/ops.hpp"
#include "analysis/page/spans.hpp"
#include "analysis/page/work_classes.hpp"

namespace tracelens {

// Of a slice: 1 + the place of its op, and of the module it belongs to; 0: none.
struct WorkPlace {
  std::uint32_t op = 0, module = 0;
};

class PageTree {
 public:
  PageTree(PageNames& names, const WorkClasses& classes) : names_{names}, classes_{classes} {}

  // The run with this number; several of them get a root each, which is called like the run.
  void add(std::size_t run, const PageSource& source, const HostSpans& modules,
           const HostSpans& annotations, TraceNames& names, TraceOps& ops);

  // Small nodes of a parent become one, "rest of N", until no more than this are left. In tree order.
  [[nodiscard]] std::vector<PageNode> finish(std::size_t most_nodes = 20'000);

  // --- once it is finished ---
  [[nodiscard]] WorkPlace place(std::size_t run, std::size_t job) const;
  // 1 + the node of a module of the run, or of the nearest one above it that has GPU work.
  [[nodiscard]] std::uint32_t module(std::size_t run, const HostSpans& modules,
                                     std::uint32_t span) const;

 private:
  struct Key {
    std::uint32_t parent, name, op;
    PageLevel level;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };
  struct Leaf {  // a GPU event
    std::uint32_t node = 0;
    std::uint8_t kind = 0;
    std::int64_t ns = 0;
  };
  struct Run {
    std::vector<WorkPlace> places;            // by job
    std::vector<std::uint32_t> module_nodes;  // by span
  };

  std::uint32_t node(const Key& key);  // 1 + its place
  std::uint32_t node_of(const HostSpans& spans, std::uint32_t span, std::uint32_t root,
                        PageLevel level, TraceNames& names, std::vector<std::uint32_t>& nodes);
  void sum_up();
  [[nodiscard]] std::vector<std::uint32_t> fold(std::size_t most_nodes);
  void order_by_tree(std::vector<std::uint32_t>& new_places);
  void name_kinds();

  PageNames& names_;
  const WorkClasses& classes_;
  std::vector<PageNode> nodes_;
  std::unordered_map<Key, std::uint32_t, KeyHash> places_;
  std::vector<Leaf> leaves_;
  std::vector<Run> runs_;
};

}  // namespace tracelens
