#include "analysis/jax/roofline.hpp"

#include <unordered_map>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/jax/kernels.hpp"
#include "analysis/jax/ops.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

JaxRooflinePoints jax_roofline_points(const Trace& trace, const Tree& tree) {
  JaxRooflinePoints found;
  const JaxOps ops{trace};
  std::unordered_map<std::uint32_t, std::size_t> index;  // by signature
  for (const EventId event : trace.all_events()) {
    const SignatureId signature = trace.signatures()[event.row];
    const NodeId node = tree.node(event);
    if (!is_jax_span(trace, event) || !signature.valid() || !node.valid()) continue;
    const std::int64_t ns = busy_ns(trace, tree.gpu_events(node));
    found.all_ops_ns = plus_ns(found.all_ops_ns, ns);
    const JaxOp* const op = ops.of(signature);
    if (op == nullptr || !op->work) continue;
    const auto [entry, is_new] = index.try_emplace(signature.row, found.points.size());
    if (is_new)
      found.points.push_back({.op = op->name,
                              .category = op->kind,
                              .compute_spec = op->work->compute_spec,
                              .dims = op->dims,
                              .types = op->types,
                              .bytes = 0});
    RooflinePoint& point = found.points[entry->second];
    ++point.calls;
    point.busy_ns = plus_ns(point.busy_ns, ns);
    point.flops += op->work->flops;
    if (point.bytes && op->work->bytes)
      *point.bytes += *op->work->bytes;
    else
      point.bytes.reset();
  }
  return found;
}

}  // namespace tracelens
