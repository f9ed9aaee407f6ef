// nesting.hpp: host events of a thread, nested by time, and the GPU events they launched, written as nodes.
//   Nesting nesting{trace, launches, flags, &module_names};
//   const NestingCounts counts = nesting.count(rows);            // how many nodes they become
//   nesting.write(rows, before, out, notes);                     // into their place, behind `before`
// In one pass over the events in order of time: an event is a child of the innermost event still open.
// Since an event never gets a child after it was closed, the order of placement already is tree order. The
// GPU events of a runtime call are placed when the call closes, behind its host children.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "tree/call_stack.hpp"
#include "tree/links.hpp"

namespace tracelens {

// Which names are those of modules: each text is looked at once, by any thread.
class ModuleNames {
 public:
  explicit ModuleNames(const Trace& trace) : trace_{trace}, known_(trace.string_count()) {}
  [[nodiscard]] bool contains(StringId name) {
    std::atomic<Known>& known = known_[name.row];
    if (const Known before = known.load(std::memory_order_relaxed); before != Known::kNothing)
      return before == Known::kYes;
    const bool is_module = is_module_name(trace_.text(name));
    known.store(is_module ? Known::kYes : Known::kNo, std::memory_order_relaxed);
    return is_module;
  }

 private:
  enum class Known : std::uint8_t { kNothing, kNo, kYes };
  const Trace& trace_;
  std::vector<std::atomic<Known>> known_;
};

// Nodes and GPU events so far, and the time of the latter.
struct NestingCounts {
  std::uint32_t nodes = 0, gpu_events = 0;
  std::int64_t gpu_ns = 0;
};

// What nesting finds out besides the nodes.
struct NestingNotes {
  std::vector<EventId> op_roots;
  std::vector<EventId> discarded_launches;  // calls without a place that launched something
  std::uint64_t discarded = 0, discarded_ops = 0, bleed_pops = 0;
};

// What a node is told to be.
struct NodeFlags {
  std::uint8_t op, module;
};

// The columns of a tree. Those of nodes have room for all; `nodes` is by event row.
struct NodeColumns {
  EventId* events;
  NodeId* parents;
  std::uint32_t* ends;
  std::uint8_t* flags;
  std::uint32_t* gpu_before;
  EventId* gpu_events;
  std::int64_t* gpu_ns_before;  // that before the first GPU event is written by others
  NodeId* nodes;
};

class Nesting {
 public:
  // `modules` may be null: Python frames are passed over.
  Nesting(const Trace& trace, const Launches& launches, NodeFlags flags, ModuleNames* modules)
      : trace_{trace}, launches_{launches}, flags_{flags}, modules_{modules} {}

  // Rows in order of time, of one thread. Nothing that came before is open any more.
  [[nodiscard]] NestingCounts count(std::span<const std::uint32_t> rows) const;
  // The nodes of the rows stand behind those of `before`; gives what then are there.
  NestingCounts write(std::span<const std::uint32_t> rows, const NestingCounts& before,
                      const NodeColumns& out, NestingNotes& notes) const;
  // One call that has no place among the others, and what it launched.
  NestingCounts write_alone(EventId call, const NestingCounts& before,
                            const NodeColumns& out) const;

 private:
  const Trace& trace_;
  const Launches& launches_;
  NodeFlags flags_;
  ModuleNames* modules_;
};

}  // namespace tracelens
