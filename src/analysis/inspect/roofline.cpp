#include "analysis/inspect/roofline.hpp"

#include <algorithm>
#include <utility>

#include "analysis/jax/roofline.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/ops/roofline.hpp"
#include "facts/trace_facts.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

const ColumnSpec kColumns[] = {
    {"op", Kind::kText, "", "op name as traced"},
    {"category", Kind::kText, "", "what kind of work the op does"},
    {"time share", Kind::kReal, "%", "share in the GPU time of all ops"},
    {"FLOPs/byte", Kind::kReal, "", "arithmetic intensity"},
    {"achieved", Kind::kReal, "TFLOP/s", "FLOPs of the calls by their GPU time"},
    {"% of roof", Kind::kReal, "%", "best possible time as a share of the time it took"},
    {"bound", Kind::kText, "", "what limits the op at best: compute or memory"},
    {"attainable", Kind::kReal, "TFLOP/s", "the roof at this intensity"},
    {"bandwidth", Kind::kReal, "TB/s", "bytes of the calls by their GPU time"},
    {"calls", Kind::kInteger, "", "calls with these arguments"},
    {"GPU time", Kind::kReal, "µs", "time in which the GPU worked for these calls"},
    {"best time", Kind::kReal, "µs", "time the GPU would take at its peak rates"},
    {"compute spec", Kind::kText, "", "which peak rate of the GPU applies"},
    {"FLOPs per call", Kind::kReal, "GFLOP", "floating-point operations of one call, in 10^9"},
    {"bytes per call", Kind::kReal, "MB", "bytes one call has to read and write, in 10^6"},
    {"Input Dims", Kind::kNested, "", "shapes of the arguments"},
    {"Input type", Kind::kNested, "", "element types of the arguments"},
};

// The limits that hold for the calls of a point taken together.
void find_roof(RooflinePoint& point, const Gpu& gpu, const RooflineOptions& options) {
  const Work work{.flops = point.flops, .bytes = point.bytes, .compute_spec = point.compute_spec};
  const auto roof = roofline(work, gpu, options.edition, options.peaks);
  if (!roof) return;
  point.best_us = roof->best_us;
  point.bound = roof->bound;
  if (point.flops > 0 && roof->best_us > 0)
    point.attainable_tflops = point.flops / roof->best_us / 1e6;
}

void complete(Roofline& roofline, const RooflineOptions& options) {
  for (RooflinePoint& point : roofline.points) {
    point.share = percent_of(point.busy_ns, roofline.all_ops_ns).value_or(0);
    find_roof(point, roofline.gpu, options);
  }
  std::ranges::stable_sort(roofline.points, std::ranges::greater{}, &RooflinePoint::busy_ns);
}

}  // namespace

Roofline op_roofline(OpInput& ops, const Gpu& gpu, const RooflineOptions& options) {
  Roofline roofline{.gpu = gpu, .points = {}, .all_ops_ns = 0};
  collect_op_points(ops, roofline);
  complete(roofline, options);
  return roofline;
}

Roofline hlo_roofline(const TraceFacts& facts, const Gpu& gpu, const RooflineOptions& options) {
  JaxRooflinePoints found = jax_roofline_points(facts.trace(), facts.tree());
  Roofline roofline{.gpu = gpu, .points = std::move(found.points), .all_ops_ns = found.all_ops_ns};
  complete(roofline, options);
  return roofline;
}

Roofline measure_roofline(const Trace& trace, const Gpu& gpu, const RooflineOptions& options) {
  const TraceFacts facts{trace};
  if (facts.kind() == TraceKind::kJax) return hlo_roofline(facts, gpu, options);
  OpInput ops{facts,
              {.edition = options.edition,
               .own_models = options.models == nullptr ? nullptr : &options.models->all()}};
  return op_roofline(ops, gpu, options);
}

std::string why_no_points(const Trace& trace) { return why_no_points(TraceFacts{trace}); }

std::string why_no_points(const TraceFacts& facts) {
  const Trace& trace = facts.trace();
  const Tree& tree = facts.tree();
  std::uint64_t ops = 0, with_shapes = 0, gpu = 0, in_graphs = 0;
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if (category == Category::kCpuOp) {
      ++ops;
      const SignatureId arguments = trace.signatures()[event.row];
      with_shapes += arguments.valid() && !trace.signature(arguments).dims.is_null() ? 1 : 0;
    } else if (is_gpu(category)) {
      ++gpu;
      const EventId launch = tree.launch_of(event);
      in_graphs += launch.valid() && is_graph_launch(trace.name(launch)) ? 1 : 0;
    }
  }
  if (gpu == 0) return "no roofline: the trace has no GPU events, so that no op has a time";
  if (facts.kind() == TraceKind::kJax)
    return "no roofline: the profile has no HLO op whose FLOPs are known";
  if (ops == 0)
    return "no roofline: the trace has GPU events but no ops, whose shapes tell FLOPs and bytes";
  if (with_shapes == 0)
    return "no roofline: no op has its argument shapes; profile with record_shapes=True";
  if (in_graphs > 0)
    return "no roofline: the GPU work was replayed by graph launches, which name no ops; record "
           "the "
           "capture too, or run without graphs";
  return "no roofline: no op with GPU time has a performance model";
}

Table roofline_table(const Roofline& roofline) {
  Table table{"roofline", "Ops with a model against the limits of " + roofline.gpu.name, kColumns};
  for (const RooflinePoint& point : roofline.points) {
    const auto calls = static_cast<double>(point.calls);
    std::optional<std::string_view> bound;
    if (point.bound) bound = *point.bound == Bound::kCompute ? "compute" : "memory";
    table.add_row(point.op, point.category, point.share, point.intensity(), point.tflops(),
                  point.percent_of_roof(), bound, point.attainable_tflops, point.terabytes(),
                  point.calls, us(point.busy_ns), point.best_us, point.compute_spec,
                  point.flops / calls / 1e9,
                  point.bytes ? std::optional{*point.bytes / calls / 1e6} : std::nullopt,
                  point.dims, point.types);
  }
  return table;
}

}  // namespace tracelens
