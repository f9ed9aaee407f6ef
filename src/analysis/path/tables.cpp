#include "analysis/path/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/column_set.hpp"
#include "analysis/path/graph.hpp"
#include "analysis/path/path.hpp"
#include "analysis/path/path_sums.hpp"
#include "facts/gpu_work.hpp"
#include "io/threads.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kNamesPerClass = 5;

// The nearest node above another, or itself, of a kind. Segments lie at every level of a deep tree: no
// stretch of it is climbed twice.
class Nearest {
 public:
  explicit Nearest(const Tree& tree) : tree_{tree}, known_(tree.size()) {}

  template <class IsWanted>
  NodeId of(NodeId node, const IsWanted& is_wanted) {
    climbed_.clear();
    while (node.valid() && !known_[node.row] && !is_wanted(node)) {
      climbed_.push_back(node);
      node = tree_.parent(node);
    }
    const NodeId found = node.valid() ? known_[node.row].value_or(node) : node;
    for (const NodeId passed : climbed_) known_[passed.row] = found;
    return found;
  }

 private:
  const Tree& tree_;
  std::vector<std::optional<NodeId>> known_;
  std::vector<NodeId> climbed_;
};

// Where a segment is in the program.
class Places {
 public:
  Places(const TraceFacts& facts, const PathGraph& graph)
      : trace_{facts.trace()},
        tree_{facts.tree()},
        graph_{graph},
        modules_{tree_},
        frames_{tree_} {}

  // The host event that the segment's time belongs to, or leads to.
  [[nodiscard]] NodeId node(const PathSegment& segment) const {
    const EventId event = segment.owner.valid() ? segment.owner : segment.to;
    if (!is_gpu(trace_.category(event))) return tree_.node(event);
    const PathPoint call = graph_.call_of(graph_.gpu_of(graph_.start_of(event)));
    return call == kNoPoint ? NodeId{} : tree_.node(graph_.event(call));
  }
  [[nodiscard]] std::string_view op(const PathSegment& segment) const {
    if (!segment.owner.valid()) return {};
    const NodeId at = node(segment);
    if (!at.valid()) return {};
    return name(tree_.is_op(at) ? at : tree_.nearest_op(at));
  }
  [[nodiscard]] std::string_view module(const PathSegment& segment) {
    const NodeId at = node(segment);
    if (!at.valid()) return {};
    return name(
        modules_.of(tree_.parent(at), [&](NodeId above) { return tree_.is_module(above); }));
  }
  [[nodiscard]] std::string_view python(const PathSegment& segment) {
    return name(frames_.of(node(segment), [&](NodeId at) {
      return trace_.category(tree_.event(at)) == Category::kPythonFunction;
    }));
  }

 private:
  [[nodiscard]] std::string_view name(NodeId node) const {
    return node.valid() ? trace_.name(tree_.event(node)) : std::string_view{};
  }

  const Trace& trace_;
  const Tree& tree_;
  const PathGraph& graph_;
  Nearest modules_, frames_;
};

std::optional<std::string_view> text_or_none(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional{text};
}

}  // namespace

Table critical_path_table(const TraceFacts& facts, const PathModel& model,
                          std::optional<Interval> window) {
  struct Row {
    const PathSegment& segment;
    std::int64_t number = 0, start_ns = 0;
    std::optional<std::string_view> name = {}, op = {}, module = {}, python = {}, step = {};
  };
  ColumnSet<Row> columns{
      {{"segment", Kind::kInteger, "id", "place on the path"}, &Row::number},
      {{"start_ms", Kind::kReal, "ms", "its start, from the first event of the path's graph on"},
       [](const Row& row) { return ms(row.start_ns); }},
      {{"dur_us", Kind::kReal, "µs", "its length; the segments fill the path without overlap"},
       [](const Row& row) { return us(row.segment.end_ns - row.segment.start_ns); }},
      {{"kind", Kind::kText, "",
        "host: inside an op or call; gap: outside of all; handoff: from one thread to the other; "
        "gpu: GPU work; kk: from one kernel to the next; launch: from launch call to kernel; event, xwait: "
        "from one stream to another; sync: from GPU work to the return of the call that waited"},
       [](const Row& row) { return text_of(row.segment.kind); }},
      {{"bound_by", Kind::kText, "", "what the segment counts as in critical_path_summary"},
       [](const Row& row) { return text_of(row.segment.bound_by); }},
      {{"inferred", Kind::kBool, "", "concluded from the times; the trace does not say it"},
       [](const Row& row) { return row.segment.kind == EdgeKind::kStreamGuess; }},
      {{"name", Kind::kText, "", "the kernel, call or op whose time it is; empty: nobody's"},
       &Row::name},
      {{"op", Kind::kText, "", "the op itself, or the one that made the call or launched the work"},
       &Row::op},
      {{"module", Kind::kText, "", "innermost nn.Module around it, or around what comes next"},
       &Row::module},
      {{"python", Kind::kText, "", "innermost Python frame around it, or around what comes next"},
       &Row::python},
      {{"step", Kind::kText, "", "step in which the segment begins"}, &Row::step}};
  Table table = columns.make_table("critical_path", "What had to wait for what, from end to end");
  const CriticalPath path = model.recorded_path(window);
  Places places{facts, model.graph()};
  const std::span<const Step> steps = facts.steps();
  for (const PathSegment& segment : path.segments) {
    Row row{segment};
    row.number = static_cast<std::int64_t>(table.rows());
    row.start_ns = segment.start_ns - path.time.start + path.unattributed_ns;
    if (segment.owner.valid()) row.name = facts.trace().name(segment.owner);
    row.op = text_or_none(places.op(segment));
    row.module = text_or_none(places.module(segment));
    row.python = text_or_none(places.python(segment));
    const auto after = std::ranges::upper_bound(steps, segment.start_ns, {}, &Step::ts_ns);
    if (after != steps.begin() && (after - 1)->ts_ns + (after - 1)->dur_ns > segment.start_ns)
      row.step = (after - 1)->name;
    columns.append(table, row);
  }
  return table;
}

PathSummary critical_path_summary(const TraceFacts& facts, const Stretches& find_stretches,
                                  std::optional<Interval> window) {
  struct Row {
    std::string_view bound_by;
    std::optional<std::string_view> name;
    std::int64_t ns = 0, segments = 0, window_ns = 0;
  };
  ColumnSet<Row> columns{
      {{"bound_by", Kind::kText, "",
        "what the way from the first event to the last was made of: GPU work, gaps between "
        "kernels, launches, waits, host time of ops, runtime calls, data loading and the rest, which is "
        "mostly Python; unattributed: before the path begins"},
       &Row::bound_by},
      {{"name", Kind::kText, "", "of these, the op, call or kernel; empty: all together"},
       &Row::name},
      {{"time_ms", Kind::kReal, "ms", "time on the path"},
       [](const Row& row) { return ms(row.ns); }},
      {{"pct_of_window", Kind::kReal, "%", "share of the time from the first event to the last"},
       [](const Row& row) { return percent_of(row.ns, row.window_ns); }},
      {{"segments", Kind::kInteger, "", "stretches of the path"}, &Row::segments}};
  Table table = columns.make_table("critical_path_summary",
                                   "What the run was bound by, along its critical path");
  const HostRanges& ranges = facts.host_ranges();
  const PathGraph graph{facts};
  if (!graph.has_launches()) return {std::move(table), {}};
  std::vector<Interval> stretches;
  if (find_stretches) stretches = find_stretches();
  PathSums sums{facts.trace(), stretches};
  const CriticalPath path = sum_critical_path(graph, BoundByClasses{graph, facts.work(), ranges},
                                              window, io::spare_threads(facts.threads()), sums);
  const std::int64_t length = path.time.end - path.time.start + path.unattributed_ns;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < kBoundByNames.size(); ++i)
    if (sums.of(i).segments > 0) order.push_back(i);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t i) { return sums.of(i).ns; });
  for (const std::size_t i : order) {
    columns.append(table, Row{kBoundByNames[i], {}, sums.of(i).ns, sums.of(i).segments, length});
    std::vector<std::pair<StringId, PathSums::Sum>> names = sums.names_of(i);
    std::ranges::stable_sort(names, std::ranges::greater{},
                             [](const auto& named) { return named.second.ns; });
    if (names.size() > kNamesPerClass) names.resize(kNamesPerClass);
    for (const auto& [name, sum] : names)
      columns.append(table,
                     Row{kBoundByNames[i], facts.trace().text(name), sum.ns, sum.segments, length});
  }
  if (path.unattributed_ns > 0)
    columns.append(table, Row{"unattributed", {}, path.unattributed_ns, 0, length});
  return {std::move(table), sums.in_stretches()};
}

Table what_if_table(const TraceFacts& facts, const PathModel& model,
                    std::span<const WhatIfGroup> groups) {
  struct Row {
    std::string edit;
    std::int64_t now_ns = 0, then_ns = 0;
  };
  ColumnSet<Row> columns{
      {{"edit", Kind::kText, "", "what takes no time, or less, or does not wait"}, &Row::edit},
      {{"saving_ms", Kind::kReal, "ms", "what the steps together would gain"},
       [](const Row& row) { return ms(row.now_ns - row.then_ns); }},
      {{"saving_pct", Kind::kReal, "%", "the same as a share of new_window_ms without edit"},
       [](const Row& row) { return percent_of(row.now_ns - row.then_ns, row.now_ns); }},
      {{"new_window_ms", Kind::kReal, "ms",
        "what the steps together would take, without the profiler's own cost"},
       [](const Row& row) { return ms(row.then_ns); }}};
  Table table = columns.make_table("what_if", "What the steps would gain if work took no time");
  if (!model.usable()) return table;
  const auto add = [&](std::string name, const PathEdit& edit) {
    columns.append(table, Row{std::move(name), model.length_ns(), model.length_with(edit)});
  };
  for (std::size_t i = 0; i < kBoundByNames.size(); ++i) {
    if (model.bound_by()[i] == 0) continue;
    PathEdit edit;
    edit.drop_class(static_cast<BoundBy>(i));
    add(fmt::format("{} = 0", kBoundByNames[i]), edit);
  }
  for (const WhatIfGroup& group : groups) {
    PathEdit edit;
    for (const EventId event : group.gpu_events) edit.set_gpu(event, 0);
    add(fmt::format("{} = 0", group.name), edit);
  }
  PathEdit host, sync, communication, launch;
  host.scale_all_host(0.5);
  add("host x 0.5", host);
  sync.drop_all_syncs();
  add("no sync", sync);
  for (const EventId event : facts.gpu_events(true).events)
    if (facts.work().of(event) == GpuWork::kCommunication) communication.set_gpu(event, 0);
  if (!communication.gpu().empty()) add("no communication", communication);
  launch.drop_launch_cost();
  add("launches free", launch);
  return table;
}

}  // namespace tracelens
