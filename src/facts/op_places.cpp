#include "facts/op_places.hpp"

namespace tracelens {

std::string_view phase_name(ProgramPhase phase) {
  switch (phase) {
    case ProgramPhase::kForward:
      return "forward";
    case ProgramPhase::kBackward:
      return "backward";
    case ProgramPhase::kOptimizer:
      break;
  }
  return "optimizer";
}

OpPlaces::OpPlaces(const Trace& trace, const Tree& tree, const HostRanges& ranges)
    : trace_{trace}, tree_{tree}, ranges_{ranges}, places_(tree.size()) {
  for (std::uint32_t row = 0; row < tree.size(); ++row) {
    const NodeId node{row}, parent = tree.parent(node);
    Place& place = places_[row];
    if (parent.valid()) place = places_[parent.row];
    if (tree.is_module(node)) place.module = node;
    if (!tree.is_op(node)) continue;
    place.op = node;
    if (!place.top_op.valid()) place.top_op = node;
    if (trace.name(tree.event(node)).starts_with("autograd::engine::evaluate_function"))
      place.autograd = node;
  }
}

NodeId OpPlaces::module(NodeId node) const {
  const Place& place = places_[node.row];
  if (!place.autograd.valid()) return place.module;
  if (place.module.valid() && place.module.row > place.autograd.row) return place.module;
  const EventId forward = tree_.forward_of(tree_.event(place.autograd));
  if (!forward.valid() || !tree_.node(forward).valid()) return place.module;
  return places_[tree_.node(forward).row].module;
}

ProgramPhase OpPlaces::phase(NodeId node) const {
  if (places_[node.row].autograd.valid()) return ProgramPhase::kBackward;
  const EventId event = tree_.event(node);
  return in_ranges(ranges_.optimizer(), trace_.tracks()[event.row], trace_.ts_ns()[event.row])
             ? ProgramPhase::kOptimizer
             : ProgramPhase::kForward;
}

}  // namespace tracelens
