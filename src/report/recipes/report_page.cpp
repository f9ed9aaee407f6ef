#include "report/recipes/report_page.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "analysis/inspect/roofline.hpp"
#include "analysis/page/page.hpp"
#include "analysis/page/roofline_layout.hpp"

namespace tracelens {
namespace {

std::optional<Roofline> roofline_of(TableContext& context) {
  if (context.gpu() == nullptr) return std::nullopt;
  const RooflineOptions options{.edition = context.options.edition, .peaks = context.peaks()};
  if (context.kind == TraceKind::kJax) return hlo_roofline(context.facts, *context.gpu(), options);
  if (context.kind != TraceKind::kPyTorch || context.tree().stats().gpu_only) return std::nullopt;
  return op_roofline(context.ops(), *context.gpu(), options);
}

std::string why_no_roofline(const TableContext& context) {
  if (context.kind != TraceKind::kPyTorch && context.kind != TraceKind::kJax)
    return "the trace has no ops, whose shapes tell FLOPs and bytes";
  if (context.gpu() == nullptr)
    return "the trace names no GPU whose figures are known: choose one with --gpu";
  return why_no_points(context.facts);
}

std::string why_no_memory(TraceKind kind) {
  return kind == TraceKind::kPyTorch ? "no memory events: record with profile_memory=True"
                                     : "this kind of trace does not tell what the allocator did";
}

void add_gaps(const TableContext& context, const Report& report, Page& page) {
  const auto add = [&page](bool is_there, std::string view, std::string why) {
    if (!is_there) page.gaps.push_back({std::move(view), std::move(why)});
  };
  const bool is_pytorch = context.kind == TraceKind::kPyTorch;
  const auto nodes_of = [&page](PageLevel level) {
    return std::ranges::count(page.nodes, level, &PageNode::level);
  };
  const bool has_gpu =
      std::ranges::find(page.lanes, PageLaneKind::kGpu, &PageLane::kind) != page.lanes.end();
  add(!page.lanes.empty(), "timeline", "the trace has no events with a time");
  add(has_gpu, "kernels",
      is_pytorch ? "no GPU events: record with ProfilerActivity.CUDA"
                 : "no GPU events: the device was not traced");
  // One range around everything, such as a JAX module, tells nothing that the ops do not.
  const std::ptrdiff_t modules = nodes_of(PageLevel::kModule),
                       ranges = nodes_of(PageLevel::kAnnotation);
  if (page.nodes.empty())
    add(false, "tree",
        "no GPU event is linked to the call that launched it: record the host as well");
  else if (!is_pytorch)
    add(modules + ranges > 1, "tree", "this kind of trace has no modules");
  else if (modules == 0)
    add(false, ranges > 1 ? "modules" : "tree",
        "no nn.Modules: record with with_stack=True or with_modules=True");
  const bool has_ops =
      report.find("ops_unique_args") != nullptr || report.find("hlo_ops") != nullptr;
  add(has_ops, "ops",
      is_pytorch
          ? "no ops with GPU work: record with ProfilerActivity.CPU, and graph launches with "
            "their capture"
          : "this kind of trace has no ops");
  if (!page.roofline) add(false, "roofline", why_no_roofline(context));
  add(report.find("memory_timeline") != nullptr, "memory", why_no_memory(context.kind));
  add(false, "ranks", "one trace: `tracelens collectives` shows the ranks of a job");
  add(false, "diff", "one run: `tracelens diff` shows what changed between two");
}

}  // namespace

Page add_page_parts(TableContext& context, Report& report) {
  Page page = make_page(context, *context.options.page);
  if (const std::optional<Roofline> roofline = roofline_of(context);
      roofline && std::ranges::any_of(roofline->points, &RooflinePoint::has_place)) {
    page.roofline = page_roofline(*roofline);
    report.tables.push_back(roofline_table(*roofline));
  }
  add_gaps(context, report, page);
  return page;
}

}  // namespace tracelens
