// given_parents.hpp: a tree in which the trace's word on who called whom counts, not the times.
//   tree = GivenParents{trace, nested_with_python_frames}.apply(options);
// Nodes are written anew in tree order. Python frames are left out here when they are not wanted:
// what was given may hang from them.
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

class GivenParents {
 public:
  // The trace must outlive this; `nested` is a tree by times, with Python frames.
  GivenParents(const Trace& trace, Tree nested);
  // Roots and autograd links are left for the caller to list.
  [[nodiscard]] Tree apply(const TreeOptions& options) &&;

 private:
  void take_nodes();
  void take_given_parents();
  void cut_rings();
  void order_siblings();
  void place(std::uint32_t root, bool python_frames);
  void add(EventId event, NodeId parent);
  void list_op_roots();

  [[nodiscard]] bool is_node(std::uint32_t row) const { return flags_[row] != kNoNode; }

  const Trace& trace_;
  Tree nested_, tree_;
  static constexpr std::uint8_t kNoNode = 0xff;
  // By event row.
  std::vector<std::uint8_t> flags_;
  std::vector<EventId> parents_;
  std::vector<std::uint64_t> places_;  // order among siblings
  std::vector<std::uint32_t> first_child_, next_sibling_;
};

}  // namespace tracelens
