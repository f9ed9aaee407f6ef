// builder.hpp: makes a Tree out of a Trace; use build_tree() of <tracelens/tree.hpp>.
// Host events nest by time, thread by thread, in one pass over the events in order of time: an
// event is a child of the innermost event still open. Since an event never gets a child after it
// was closed, the order of placement already is tree order. The GPU events of a runtime call are
// placed when the call closes, behind its host children. Where the trace says who called an event,
// GivenParents writes the tree anew.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "tree/call_stack.hpp"
#include "tree/category_rows.hpp"
#include "tree/host_rows.hpp"
#include "tree/links.hpp"

namespace tracelens {

class TreeBuilder {
 public:
  // `host`: the host events in order of time, with Python frames or, where the tree has none, without.
  TreeBuilder(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
              const HostRows& host);
  [[nodiscard]] Tree build() &&;

 private:
  // An event on the call stack of the thread at hand.
  struct Call {
    NodeId node;
    Category category;
  };
  enum class IsModule : std::uint8_t { kUnknown, kNo, kYes };

  [[nodiscard]] bool is_module(std::uint32_t row);
  void reserve(std::size_t nodes);
  void place_track(std::span<const std::uint32_t> rows);  // rows in order of time
  void place_discarded_launches();
  NodeId add(EventId event, NodeId parent, std::uint8_t flags);
  void add_gpu_events(EventId call, NodeId node);
  void close(const Call& call);
  void list_roots();
  void link_autograd();

  const Trace& trace_;
  const HostRows& host_;
  TreeOptions options_;  // of nesting by time
  bool wants_frames_;
  Launches launches_;
  std::vector<IsModule> module_names_;  // by StringId: the text is looked at once
  CallStack<Call> stack_;
  std::uint32_t open_ops_ = 0;  // cpu_ops on the stack
  std::vector<EventId> discarded_launches_;
  std::vector<std::uint32_t> scratch_;
  Tree tree_;
};

// Whether Python frames take part in the nesting by time: what the trace says of parents may hang from
// them, even if the tree is to have none.
[[nodiscard]] inline bool nests_frames(const Trace& trace, const TreeOptions& options) {
  return options.python_frames || !trace.given_parents().empty();
}

// build_tree() where the rows are known already.
[[nodiscard]] Tree build_tree(const Trace& trace, const TreeOptions& options,
                              const CategoryRows& rows, const HostRows& host);

}  // namespace tracelens
