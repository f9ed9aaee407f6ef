#include "analysis/diff/inline.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/ops/group_columns.hpp"
#include "analysis/ops/unified_ops.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kAfter = "Kernel Time (µs)_sum";
const ColumnSpec kColumns[] = {
    {"speedup (trace2/trace1)", Kind::kReal, "",
     "time there over time here: below 1 the other trace is faster"},
    {"delta_us (trace2 - trace1)", Kind::kReal, "µs",
     "time of the other trace at these points minus the calls' kernel time"},
    {"lca_count_trace2", Kind::kReal, "", "points at which the other trace has GPU work"},
    {"lca_id", Kind::kText, "", "merged nodes where the traces part, see diff_stats"},
    {"lca_name", Kind::kText, "", "their names"},
    {"lca_total_kernel_time_trace1_us", Kind::kReal, "µs", "busy time of this trace there"},
    {"lca_total_kernel_time_trace2_us", Kind::kReal, "µs", "busy time of the other trace there"},
};

// What the points of divergence say about one row of the summary.
struct Totals {
  std::string ids, names;
  std::int64_t first_ns = 0, second_ns = 0, with_second = 0;
};

class InlineComparison {
 public:
  InlineComparison(const Table& summary, OpInput& ops, const DiffStats& stats)
      : summary_{summary}, ops_{ops}, stats_{stats} {
    add_call_columns(call_columns_, false);
    const Table calls = call_columns_.make_table("", "");
    for (const Table::Column& column : calls.columns())
      if (summary.has_column(column.spec().name)) key_columns_.push_back(column.spec().name);
  }

  Table make() {
    if (!summary_.has_column(kAfter)) return summary_;
    map_kernels();
    std::map<std::size_t, Totals> totals = collect();
    return totals.empty() ? summary_ : widened(totals);
  }

 private:
  using Key = std::vector<std::string>;

  [[nodiscard]] Key key_of(const Table& table, std::size_t row) const {
    Key key;
    for (const std::string& column : key_columns_)
      key.push_back(plain_text(table.column(column), row));
    return key;
  }

  // Calls of the trace and rows of the summary meet by the text of the columns that tell calls
  // apart.
  void map_kernels() {
    std::map<Key, std::size_t> row_of;
    for (std::size_t row = 0; row < summary_.rows(); ++row) {
      row_of[key_of(summary_, row)] = row;
    }
    for (const UnifiedOp& op : collect_unified_ops(ops_)) {
      OpGroupRow call{ops_};
      call.start(op.row.event, op.row.node, op.category);
      call.name = unified_name(ops_.trace, op);
      Table one = call_columns_.make_table("", "");
      call_columns_.append(one, call);
      const auto row = row_of.find(key_of(one, 0));
      if (row == row_of.end()) continue;
      for (const GpuPosition position : ops_.ops.kernels(op.row))
        summary_row_[ops_.tree.linked_gpu_events()[position].row] = row->second;
    }
  }

  std::map<std::size_t, Totals> collect() {
    struct Point {
      std::vector<const DiffStatsRow*> rows[2];
    };
    std::map<std::uint32_t, Point> points;
    for (const DiffStatsRow& row : stats_.rows)
      if (row.ancestor != MergedTree::kNone) points[row.ancestor].rows[row.side].push_back(&row);
    std::map<std::size_t, Totals> totals;
    for (const auto& [id, point] : points) {
      std::set<std::size_t> hit;
      for (const DiffStatsRow* row : point.rows[0])
        if (const auto found = summary_row_.find(row->gpu.row); found != summary_row_.end())
          hit.insert(found->second);
      for (const std::size_t row : hit) {
        Totals& into = totals[row];
        const DiffStatsRow& first = *point.rows[0].front();
        into.ids += (into.ids.empty() ? "" : "; ") + std::to_string(id);
        const std::string& name = stats_.ancestor_names[first.ancestor_name];
        if (!name.empty()) into.names += (into.names.empty() ? "" : "; ") + name;
        into.first_ns = plus_ns(into.first_ns, first.busy_ns);
        if (point.rows[1].empty()) continue;
        into.second_ns = plus_ns(into.second_ns, point.rows[1].front()->busy_ns);
        ++into.with_second;
      }
    }
    return totals;
  }

  [[nodiscard]] Table widened(const std::map<std::size_t, Totals>& totals) const {
    std::vector<ColumnSpec> specs;
    std::size_t place = 0;
    for (const Table::Column& column : summary_.columns()) {
      specs.push_back(column.spec());
      if (column.spec().name == kAfter) {
        place = specs.size();
        specs.insert(specs.end(), std::begin(kColumns), std::end(kColumns));
      }
    }
    Table table{summary_.name(), summary_.description(), specs};
    RowCells row;
    for (std::size_t r = 0; r < summary_.rows(); ++r) {
      row.clear();
      for (std::size_t i = 0; i < summary_.columns().size(); ++i) {
        row.add(summary_.cell(r, i));
        if (i + 1 == place) add_cells(row, totals, r);
      }
      table.append(row.cells());
    }
    return table;
  }

  void add_cells(RowCells& row, const std::map<std::size_t, Totals>& totals, std::size_t r) const {
    const auto found = totals.find(r);
    if (found == totals.end()) {
      for (std::size_t i = 0; i < std::size(kColumns); ++i) row.add(kMissing);
      return;
    }
    const Totals& total = found->second;
    row.add(total.first_ns == 0 ? std::nullopt
                                : std::optional{us(total.second_ns) / us(total.first_ns)});
    row.add(us(total.second_ns) - summary_.column(kAfter).reals()[r]);
    row.add(static_cast<double>(total.with_second));
    row.add(total.ids);
    row.add(total.names);
    row.add(us(total.first_ns));
    row.add(us(total.second_ns));
  }

  const Table& summary_;
  OpInput& ops_;
  const DiffStats& stats_;
  ColumnSet<OpGroupRow> call_columns_;
  std::vector<std::string> key_columns_;  // those of the calls that the summary has
  std::unordered_map<std::uint32_t, std::size_t> summary_row_;  // by GPU event
};

}  // namespace

Table with_other_trace(const Table& summary, OpInput& ops, const DiffStats& stats) {
  return InlineComparison{summary, ops, stats}.make();
}

}  // namespace tracelens
