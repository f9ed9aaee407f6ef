#include "analysis/ops/roofline.hpp"

#include "analysis/kit/group_rows.hpp"
#include "analysis/ops/unified_ops.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional{*a + *b} : std::nullopt;
}

void add_call(RooflinePoint& point, const UnifiedOp& op, const Work& work) {
  ++point.calls;
  point.busy_ns = plus_ns(point.busy_ns, op.row.busy_ns);
  point.flops += work.flops;
  point.bytes = sum(point.bytes, work.bytes);
}

}  // namespace

void collect_op_points(OpInput& input, Roofline& roofline) {
  const Trace& trace = input.trace;
  Grouped<RooflinePoint> points;
  for (const UnifiedOp& op : collect_unified_ops(input)) {
    roofline.all_ops_ns = plus_ns(roofline.all_ops_ns, op.row.busy_ns);
    const SignatureId arguments = trace.signatures()[op.row.event.row];
    if (!op.answered || !arguments.valid()) continue;
    const Work& work = *input.models[op.row.answer];
    const auto new_point = [&] {
      return RooflinePoint{.op = unified_name(trace, op),
                           .category = input.categories.text(op.category),
                           .compute_spec = work.compute_spec,
                           .dims = trace.signature(arguments).dims,
                           .types = trace.signature(arguments).types,
                           .bytes = 0};
    };
    add_call(points.at({op.name.row, op.kernel.row, arguments.row, op.category}, new_point), op,
             work);
  }
  roofline.points = std::move(points).take();
}

}  // namespace tracelens
