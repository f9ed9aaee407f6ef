// autograd.hpp: which backward op belongs to which forward op, by sequence number.
//   for (const AutogradLink& link : find_autograd_links(trace)) ...
// Of the events that share a number, the first "autograd::engine::evaluate_function: ..." is the
// backward op; its forward op is the latest one on another thread. PyTorch counts per forward
// thread, so forwards on several threads may be confused; a backward that runs on the forward's
// own thread is not linked.
#pragma once

#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct AutogradLink {
  EventId backward, forward;
};

// In order of the first appearance of the sequence number.
[[nodiscard]] std::vector<AutogradLink> find_autograd_links(const Trace& trace);

}  // namespace tracelens
