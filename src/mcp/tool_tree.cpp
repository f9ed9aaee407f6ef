// tree: where an event comes from and what is below it.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "mcp/clean_text.hpp"
#include "mcp/event_of_row.hpp"
#include "mcp/sql_rows.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::string_view kLayers[] = {"module", "python", "annotation", "op", "call", "gpu"};

constexpr Argument kTreeArguments[] = {
    {.name = "event", .kind = ArgumentKind::kInteger},
    {.name = "row", .kind = ArgumentKind::kObject, .members = kRowArguments},
    {.name = "find", .description = "a name"},
    {.name = "up", .kind = ArgumentKind::kInteger, .least = 0, .most = 200, .otherwise = 20},
    {.name = "down", .kind = ArgumentKind::kInteger, .least = 0, .most = 100, .otherwise = 2},
    {.name = "min_us", .kind = ArgumentKind::kNumber},
    {.name = "layers", .kind = ArgumentKind::kChoice, .is_list = true, .words = kLayers},
};

std::string_view layer_of(const Trace& trace, const Tree& tree, NodeId node) {
  if (tree.is_module(node)) return "module";
  if (tree.is_op(node)) return "op";
  const Category category = trace.category(tree.event(node));
  if (is_gpu(category)) return "gpu";
  if (is_runtime(category)) return "call";
  return category == Category::kPythonFunction ? "python" : "annotation";
}

// The costliest node of this name, else of one that has it in it.
NodeId node_named(const Trace& trace, const Tree& tree, const std::string& name) {
  for (const bool is_exact : {true, false}) {
    NodeId best;
    for (std::uint32_t row = 0; row < tree.size(); ++row) {
      const NodeId node{row};
      const std::string_view text = trace.name(tree.event(node));
      const bool fits = is_exact ? text == name : text.find(name) != text.npos;
      if (fits && (!best.valid() || tree.gpu_sum_ns(node) > tree.gpu_sum_ns(best))) best = node;
    }
    if (best.valid()) return best;
  }
  throw ToolError{fmt::format("no call or GPU event has {} in its name", in_quotes(name))};
}

class TreeAnswer {
 public:
  TreeAnswer(Call& call, TraceDesk& desk)
      : call_{call},
        desk_{desk},
        trace_{desk.trace()},
        tree_{desk.tree()},
        layers_{call.texts("layers")} {}

  Answer around(NodeId node) {
    answer_.grid.columns = {{.name = "part"},
                            {.name = "depth"},
                            {.name = "kind"},
                            {.name = "name", .from_trace = true},
                            {.name = "gpu_us", .unit = "us"},
                            {.name = "gpu_events"},
                            {.name = "dur_us", .unit = "us"},
                            {.name = "event", .unit = "id"}};
    answer_.row_line = line_of;
    answer_.fewest_columns = answer_.grid.columns.size();
    answer_.title = "GPU time in us, calls from the root down, then what is below";
    tell_ranges(node);
    add_path(node);
    add_below(node);
    answer_.more.emplace_back("event", static_cast<std::int64_t>(tree_.event(node).row));
    const std::size_t offset = call_.offset();
    answer_.total = answer_.grid.rows.size();
    answer_.offset = offset;
    answer_.grid.rows.erase(answer_.grid.rows.begin(),
                            answer_.grid.rows.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                            offset, answer_.grid.rows.size())));
    return std::move(answer_);
  }

 private:
  static std::string line_of(const std::vector<Value>& row) {
    const auto us = [](const Value& value) {
      return value.is_null() ? std::string{} : fmt::format("{:.3f}", value.as_real());
    };
    std::string name;
    for (const char c : row[3].as_text()) name += c == '`' ? '\'' : c;
    return fmt::format("{:>12} {}{} [{} event {}]", us(row[4]),
                       std::string(static_cast<std::size_t>(row[1].as_int()) * 2, ' '), name,
                       row[2].as_text(), row[7].as_int());
  }

  [[nodiscard]] bool is_shown(NodeId node) const {
    return layers_.empty() ||
           std::ranges::find(layers_, layer_of(trace_, tree_, node)) != layers_.end();
  }

  void add(NodeId node, const char* part, std::size_t depth) {
    const EventId event = tree_.event(node);
    const std::int64_t dur = trace_.dur_ns()[event.row];
    answer_.grid.rows.push_back(
        {part, count_value(depth), text_value(layer_of(trace_, tree_, node)),
         text_value(trace_.name(event)), static_cast<double>(tree_.gpu_sum_ns(node)) / 1e3,
         static_cast<std::int64_t>(tree_.gpu_count(node)),
         dur == kAbsent ? Value{} : Value{static_cast<double>(dur) / 1e3},
         static_cast<std::int64_t>(event.row)});
  }

  // The step and the ranges of the program around it, which are no part of the call tree.
  void tell_ranges(NodeId node) {
    EventId event = tree_.event(node);
    if (is_gpu(trace_.category(event))) event = tree_.launch_of(event);
    const SqlRows found = run_sql(
        desk_,
        fmt::format(
            "SELECT name FROM ancestor_slice({}) WHERE category = 'user_annotation' ORDER BY "
            "depth",
            event.row),
        {}, {.rows = 20}, call_.control());
    std::vector<Value> names;
    std::string text;
    for (const std::vector<Value>& row : found.grid.rows) {
      names.emplace_back(clean_text(row[0].as_text()));
      text += (text.empty() ? "In ranges " : ", ") + in_quotes(row[0].as_text());
    }
    if (!text.empty()) answer_.lead = text + "\n\n";
    answer_.more.emplace_back("ranges", array(std::move(names)));
  }

  // Python frames are many and say least: they go first when there are too many.
  void add_path(NodeId node) {
    std::vector<NodeId> path;
    for (NodeId at = tree_.parent(node); at.valid(); at = tree_.parent(at))
      if (is_shown(at)) path.push_back(at);
    const std::size_t all = path.size(), most = static_cast<std::size_t>(call_.integer("up"));
    if (path.size() > most)
      std::erase_if(path, [&](NodeId at) { return layer_of(trace_, tree_, at) == "python"; });
    if (path.size() > most) path.resize(most);
    if (path.size() < all)
      answer_.notes.push_back(fmt::format(
          "{} of the {} calls above are left out, Python frames first: a higher `up` shows them",
          all - path.size(), all));
    std::ranges::reverse(path);
    for (const NodeId at : path) add(at, "path", depth_++);
    add(node, "event", depth_);
  }

  void add_below(NodeId top) {
    const auto most = static_cast<std::size_t>(call_.integer("down"));
    const double least_ns = call_.value("min_us").as_real() * 1e3;
    // Ends of the shown nodes around the current one: their number is its depth.
    std::vector<std::uint32_t> ends;
    constexpr std::size_t kMostRows = 2000;
    for (std::uint32_t row = top.row + 1; row < tree_.end(top).row; ++row) {
      const NodeId node{row};
      while (!ends.empty() && ends.back() <= row) ends.pop_back();
      if (!is_shown(node)) continue;
      if (static_cast<double>(tree_.gpu_sum_ns(node)) < least_ns || ends.size() >= most) {
        row = tree_.end(node).row - 1;
        continue;
      }
      ends.push_back(tree_.end(node).row);
      add(node, "below", depth_ + ends.size());
      if (answer_.grid.rows.size() < kMostRows) continue;
      answer_.notes.emplace_back(
          "more than 2000 nodes: a higher min_us or a lower down shows what matters");
      return;
    }
  }

  Call& call_;
  TraceDesk& desk_;
  const Trace& trace_;
  const Tree& tree_;
  std::vector<std::string> layers_;
  Answer answer_;
  std::size_t depth_ = 0;
};

Value run_tree(Call& call) {
  const TraceStore::Lease desk = call.open_trace();
  const int given = (call.value("event").is_null() ? 0 : 1) +
                    (call.value("row").is_null() ? 0 : 1) + (call.text("find").empty() ? 0 : 1);
  if (given != 1) throw ToolError{"give one of event, row {table, key} and find"};
  const Trace& trace = desk->trace();
  const Tree& tree = desk->tree();
  NodeId node;
  if (!call.text("find").empty()) {
    node = node_named(trace, tree, call.text("find"));
  } else {
    const EventId event = call.value("row").is_null()
                              ? checked_event(trace, call.integer("event"))
                              : event_of_row(*desk, call.value("row"), call.control());
    node = tree.node(event);
    if (!node.valid())
      throw ToolError{fmt::format(
          "event {} is not in the call tree: no call in the trace launched it, or it has no duration",
          event.row)};
  }
  return call.result(TreeAnswer{call, *desk}.around(node), &*desk);
}

Members tree_output() {
  return {{"event", type_schema("integer")}, {"ranges", type_schema("array")}};
}

}  // namespace

const Tool kTreeTool{
    .name = "tree",
    .title = "Call tree around an event",
    .description =
        "Calls above and below an event with GPU time. Give event, row or find (a name). Use "
        "it to see where a kernel comes from or what a module runs; not for totals.",
    .arguments = {kTreeArguments, trace_arguments()},
    .more_output = tree_output,
    .run = run_tree};

}  // namespace tracelens::mcp
