#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>

#include "analysis/kit/cells.hpp"
#include "analysis/path/hta.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

std::optional<Interval> window_of(const Trace& trace, const HtaPathOptions& options) {
  if (options.annotation.empty()) return std::nullopt;
  std::optional<Interval> window;
  std::size_t seen = 0;
  for (const EventId event : trace.recorded_events()) {
    if (trace.phase(event) != Phase::kComplete || trace.ts_ns()[event.row] == kAbsent ||
        trace.name(event).find(options.annotation) == std::string_view::npos)
      continue;
    const std::size_t number = seen++;
    if (number < options.first || number > options.last) continue;
    const Interval own{trace.ts_ns()[event.row], end_of(trace, event)};
    window =
        window ? Interval{std::min(window->start, own.start), std::max(window->end, own.end)} : own;
  }
  if (!window)
    throw Error{trace.source().name, fmt::format("has no event number {} whose name holds \"{}\"",
                                                 options.first, options.annotation)};
  return window;
}

struct EdgeSum {
  std::int64_t ns = 0, count = 0;
};

}  // namespace

CriticalPathAnswer find_hta_path(const Trace& trace, const HtaPathOptions& options) {
  const HtaPath path = find_hta_critical_path(trace, window_of(trace, options));
  std::map<std::string_view, EdgeSum> by_bound, by_kind;
  std::map<std::pair<StringId, std::string_view>, EdgeSum> by_event;
  for (const HtaEdge& edge : path.edges) {
    const std::string_view bound_by = edge.bound_by(trace);
    for (EdgeSum* sum :
         {&by_bound[bound_by], &by_kind[kHtaEdgeNames[static_cast<std::size_t>(edge.kind)]],
          &by_event[{edge.owner.valid() ? trace.names()[edge.owner.row] : StringId{}, bound_by}]}) {
      sum->ns += edge.weight_ns;
      ++sum->count;
    }
  }
  CriticalPathAnswer answer;
  const ColumnSpec bound_columns[] = {
      {"bound_by", Kind::kText, "", "what the edges of the path count as; empty: waits"},
      {"sum", Kind::kReal, "µs", "their weight"},
      {"count", Kind::kInteger, "", "their number"},
      {"pct", Kind::kReal, "%", "share of the path"}};
  Table bound{"critical_path_bound_by", "The path as HTA finds it, by what it is bound by",
              bound_columns};
  for (const auto& [name, sum] : by_bound)
    bound.add_row(name, us(sum.ns), sum.count, percent_of(sum.ns, path.length_ns));
  const ColumnSpec kind_columns[] = {{"type", Kind::kText, "", "kind of edge"},
                                     {"sum", Kind::kReal, "µs", "weight of those on the path"},
                                     {"count", Kind::kInteger, "", "how many are on the path"},
                                     {"in graph", Kind::kInteger, "", "how many there are"}};
  Table kinds{"critical_path_by_edge_type", "The path as HTA finds it, by kind of edge",
              kind_columns};
  for (std::size_t i = 0; i < kHtaEdgeNames.size(); ++i) {
    if (path.edges_by_kind[i] == 0) continue;
    const EdgeSum sum = by_kind[kHtaEdgeNames[i]];
    kinds.add_row(kHtaEdgeNames[i], us(sum.ns), sum.count, path.edges_by_kind[i]);
  }
  const ColumnSpec event_columns[] = {{"name", Kind::kText, "", "op, call or kernel"},
                                      {"bound_by", Kind::kText, "", "what it counts as"},
                                      {"sum", Kind::kReal, "µs", "its weight on the path"},
                                      {"count", Kind::kInteger, "", "edges"}};
  Table events{"critical_path_by_event", "The path as HTA finds it, by name", event_columns};
  for (const auto& [key, sum] : by_event)
    events.add_row(key.first.valid() ? trace.text(key.first) : std::string_view{}, key.second,
                   us(sum.ns), sum.count);
  events.sort_by("sum", Order::kDescending);
  answer.tables = {std::move(bound), std::move(kinds), std::move(events)};
  answer.sentences.push_back(
      fmt::format("{:.3f} µs along {} nodes of {} events; the graph has {} nodes and {} edges",
                  us(path.length_ns), path.nodes, path.events, path.graph_nodes, path.graph_edges));
  return answer;
}

}  // namespace tracelens
