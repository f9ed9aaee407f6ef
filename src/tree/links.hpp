// links.hpp: which runtime call launched which GPU event.
//   const Launches launches = find_launches(trace, {});
//   for (EventId gpu = launches.first(call); gpu.valid(); gpu = launches.next(gpu)) ...
// An ordinary call owns the GPU event at the head of its "ac2g" flow; a graph launch owns every GPU
// event of its correlation. Each GPU event has at most one launch: the last in the file that claims
// it. Where the reader already knows the op of a GPU event (JAX), the event carries the op's
// signature and belongs to that op on its own track; the op takes the place of the call.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <tracelens/column.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>

#include "tree/category_rows.hpp"

namespace tracelens {

class Launches {
 public:
  // The GPU events of a runtime call in file order; invalid at the end of the list.
  [[nodiscard]] EventId first(EventId call) const { return {next_[call.row]}; }
  [[nodiscard]] EventId next(EventId gpu_event) const { return {next_[gpu_event.row]}; }
  [[nodiscard]] std::size_t linked() const { return linked_; }
  [[nodiscard]] std::uint64_t without_launch() const { return without_launch_; }
  [[nodiscard]] std::uint64_t without_flow() const { return without_flow_; }
  [[nodiscard]] bool by_external_id() const { return by_external_id_; }

 private:
  friend Launches find_launches(const Trace& trace, const TreeOptions& options,
                                const CategoryRows& rows);

  // One list per call, threaded through the rows: a call's row holds its first GPU event, a GPU
  // event's row the one after it.
  Column<std::uint32_t> next_;
  std::size_t linked_ = 0;
  std::uint64_t without_launch_ = 0, without_flow_ = 0;
  bool by_external_id_ = false;
};

[[nodiscard]] Launches find_launches(const Trace& trace, const TreeOptions& options,
                                     const CategoryRows& rows);
[[nodiscard]] Launches find_launches(const Trace& trace, const TreeOptions& options);

// The same without lists: `use` is told of every pair, GPU events in reverse file order.
using UseLaunch = std::function<void(EventId gpu_event, EventId call)>;
void for_each_launch(const Trace& trace, const TreeOptions& options, const CategoryRows& rows,
                     const UseLaunch& use);

// Calls that replay a captured graph: "cudaGraphLaunch", "hipGraphLaunch", "cuGraphLaunch" and
// their per-thread-stream variants ("_ptsz", "_spt").
[[nodiscard]] bool is_graph_launch(std::string_view runtime_call);

}  // namespace tracelens
