// launch_calls.hpp: the runtime call that launched a GPU event, whatever the kind of trace.
//   LaunchCalls calls{trace, tree};
//   if (const EventId call = calls.of(kernel); call.valid()) ...
// As the tree has it, or else (the tree of a JAX profile has HLO ops in the place of calls, ROCm
// traces have no flows) the first call with the same correlation id. Of a kernel below captured ops:
// the launch of the graph, which is what the host did.
#pragma once

#include <cstdint>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <unordered_map>

namespace tracelens {

class LaunchCalls {
 public:
  LaunchCalls(const Trace& trace, const Tree& tree) : trace_{trace}, tree_{tree} {}
  [[nodiscard]] EventId of(EventId gpu_event);  // invalid: it is not in the trace

 private:
  void index();

  const Trace& trace_;
  const Tree& tree_;
  std::unordered_map<std::int64_t, EventId> first_by_id_;
  bool is_indexed_ = false;
};

}  // namespace tracelens
