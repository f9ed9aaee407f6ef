#include "analysis/page/page.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <string>
#include <utility>

#include "analysis/page/histograms.hpp"
#include "analysis/page/lanes.hpp"
#include "analysis/page/names.hpp"
#include "analysis/page/ops.hpp"
#include "analysis/page/spans.hpp"
#include "analysis/page/strips.hpp"
#include "analysis/page/times.hpp"
#include "analysis/page/tree.hpp"

namespace tracelens {
namespace {

// From the first event to the end of the last, on the page's scale.
std::int64_t span_of(const Trace& trace, std::int64_t origin_ns) {
  std::int64_t span = 0;
  for (const EventId event : trace.recorded_events())
    if (trace.phase(event) == Phase::kComplete && trace.category(event) != Category::kTraceSpan &&
        trace.ts_ns()[event.row] != kAbsent)
      span = std::max(span, page_time(end_of(trace, event), origin_ns));
  return span;
}

}  // namespace

Page make_page(std::span<const PageSource> runs, const PageOptions& options) {
  Page page;
  PageNames texts;
  PageOps ops;
  const WorkClasses classes{runs};
  PageTree tree{texts, classes};
  // Each run's parts stay where they are: the sources of lanes refer to them.
  std::deque<TraceNames> names;
  std::deque<TraceOps> trace_ops;
  std::deque<HostSpans> modules;
  std::vector<LaneSource> sources;
  page.origin_ns = runs.empty() ? 0 : runs.front().host.origin_ns();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Trace& trace = runs[run].facts.trace();
    names.emplace_back(trace, texts);
    trace_ops.emplace_back(trace, names.back(), ops);
    modules.push_back(module_spans(trace));
    tree.add(run, runs[run], modules.back(), annotation_spans(trace), names.back(),
             trace_ops.back());
    sources.push_back({runs[run], modules.back(), run, runs[run].host.origin_ns(), names.back(),
                       trace_ops.back()});
    page.span_ns = std::max(page.span_ns, span_of(trace, runs[run].host.origin_ns()));
    if (runs.size() > 1) page.groups.push_back(runs[run].name);
  }
  page.nodes = tree.finish();
  page.lanes = page_lanes(sources, classes, tree, options);
  for (const PageSource& run : runs) {
    std::ranges::move(busy_strips(run, page.span_ns), std::back_inserter(page.strips));
    if (runs.size() == 1) page.histograms = page_histograms(run);
  }
  page.classes = classes.all();
  page.ops = std::move(ops).take();
  page.names = std::move(texts).take();
  return page;
}

namespace {

PageSource source_of(TableContext& context, std::string name = {}) {
  return {context.facts, context.host_work(), gpu_categories(context), std::move(name)};
}

}  // namespace

Page make_page(TableContext& context, const PageOptions& options) {
  const PageSource run = source_of(context);
  return make_page({&run, 1}, options);
}

Page make_page(std::span<const NamedTrace> runs, const PageOptions& options) {
  const ReportOptions report;
  std::deque<Selection> selections;  // the contexts refer to them
  std::deque<TableContext> contexts;
  std::vector<PageSource> sources;
  for (const NamedTrace& run : runs) {
    selections.emplace_back(trace_kind(run.trace), report);
    contexts.emplace_back(run.trace, report, selections.back());
    sources.push_back(source_of(contexts.back(), run.name));
  }
  return make_page(sources, options);
}

}  // namespace tracelens
