#include "analysis/diff/summary.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/diff/op_map.hpp"
#include "analysis/kit/cells.hpp"

namespace tracelens {
namespace {

// Not part of what makes a group: times, and the numbers of single events.
constexpr std::string_view kNotKeys[] = {"kernel_time", "lowest_common_ancestor_id", "gpu_op_uid"};

struct Group {
  std::size_t first_row = 0;
  std::int64_t count = 0;
  double sum = 0;
};

// The texts of a column as printed. Rows are grouped and sorted by numbers: a text is made once.
class PrintedColumn {
 public:
  PrintedColumn(const Table& table, std::size_t column) : table_{table}, column_{column} {
    number_of("nan");
    for (std::size_t row = 0; row < table.rows(); ++row)
      numbers_.push_back(number_of(plain_text(table.columns()[column], row)));
    std::vector<std::uint32_t> order(texts_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::sort(order, {}, [&](std::uint32_t number) { return texts_[number]; });
    ranks_.resize(order.size());
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) ranks_[order[rank]] = rank;
  }

  [[nodiscard]] const ColumnSpec& spec() const { return table_.columns()[column_].spec(); }
  [[nodiscard]] Cell cell(std::size_t row) const { return table_.cell(row, column_); }
  [[nodiscard]] std::string_view text(std::size_t row) const { return texts_[numbers_[row]]; }
  // Equal for equal texts.
  [[nodiscard]] std::uint32_t number(std::size_t row) const { return numbers_[row]; }
  // Where the text stands among all of them. What is missing prints as nothing, and stands at "nan".
  [[nodiscard]] std::uint32_t rank(std::size_t row) const {
    return ranks_[table_.columns()[column_].is_missing(row) ? kNan : numbers_[row]];
  }

 private:
  static constexpr std::uint32_t kNan = 0;  // its number: it is the first

  std::uint32_t number_of(std::string text) {
    const auto number = static_cast<std::uint32_t>(texts_.size());
    const auto [found, is_new] = known_.try_emplace(std::move(text), number);
    if (is_new) texts_.emplace_back(found->first);
    return found->second;
  }

  const Table& table_;
  std::size_t column_;
  std::unordered_map<std::string, std::uint32_t> known_;
  std::vector<std::string_view> texts_;  // of known_
  std::vector<std::uint32_t> numbers_;   // by row
  std::vector<std::uint32_t> ranks_;     // by number
};

class Summary {
 public:
  Summary(const Table& stats, const DiffSummaryOptions& options)
      : stats_{stats}, options_{options} {
    for (std::size_t i = 0; i < stats.columns().size(); ++i)
      if (std::ranges::find(kNotKeys, stats.columns()[i].spec().name) == std::end(kNotKeys))
        keys_.emplace_back(stats, i);
  }

  DiffSummary make() {
    group();
    sort();
    const std::vector<OpMention> events = mentions_of_rows();
    std::vector<OpMention> mentions;  // of the summary's rows
    for (const Group& each : groups_) mentions.push_back(events[each.first_row]);
    OpRenaming renaming = unify_op_names(events, options_.edition);

    DiffSummary result{
        table(renaming), kernels_by_op_json(mentions, 0),
        options_.identical ? kernels_by_op_json(mentions, 0) : kernels_by_op_json(mentions, 1), "",
        std::move(renaming.notes)};
    for (OpMention& each : mentions) each.op = renaming.of(each.op);
    result.op_map = unified_op_json(mentions, options_.identical);
    return result;
  }

 private:
  // A column at a time: rows of one group so far part where their texts differ.
  void group() {
    std::vector<std::uint32_t> group_of(stats_.rows());
    std::unordered_map<std::uint64_t, std::uint32_t> parts;
    for (const PrintedColumn& column : keys_) {
      parts.clear();
      for (std::size_t row = 0; row < group_of.size(); ++row) {
        const std::uint64_t part = std::uint64_t{group_of[row]} << 32 | column.number(row);
        group_of[row] =
            parts.try_emplace(part, static_cast<std::uint32_t>(parts.size())).first->second;
      }
    }
    const Table::Column& times = stats_.column("kernel_time");
    for (std::size_t row = 0; row < group_of.size(); ++row) {
      if (group_of[row] == groups_.size()) groups_.push_back({.first_row = row});
      Group& its = groups_[group_of[row]];
      ++its.count;
      its.sum += times.reals()[row];
    }
  }

  // By time; groups of equal time by the text of their cells, from left to right as printed.
  void sort() {
    std::ranges::stable_sort(groups_, [&](const Group& a, const Group& b) {
      if (a.sum != b.sum) return a.sum > b.sum;
      for (const PrintedColumn& column : keys_) {
        const std::uint32_t of_a = column.rank(a.first_row), of_b = column.rank(b.first_row);
        if (of_a != of_b) return of_a < of_b;
        if (&column == &keys_.front() && a.count != b.count)
          return std::to_string(a.count) < std::to_string(b.count);
      }
      return false;
    });
  }

  [[nodiscard]] const PrintedColumn& key(std::string_view name) const {
    return *std::ranges::find_if(keys_, [&](const auto& key) { return key.spec().name == name; });
  }

  [[nodiscard]] std::vector<OpMention> mentions_of_rows() const {
    const PrintedColumn &ops = key("cpu_op_name"), &kernels = key("name"),
                        &modules = key("nn_module_parent");
    const PrintedColumn* const sources = options_.identical ? nullptr : &key("source");
    const Table::Column& ancestors = stats_.column("lowest_common_ancestor_id");
    std::vector<OpMention> mentions;
    for (std::size_t row = 0; row < stats_.rows(); ++row) {
      mentions.push_back({ops.text(row), kernels.text(row), modules.text(row)});
      if (sources != nullptr) mentions.back().side = sources->text(row) == "trace1" ? 0 : 1;
      if (!ancestors.is_missing(row)) mentions.back().ancestor = ancestors.integers()[row];
    }
    return mentions;
  }

  [[nodiscard]] Table table(const OpRenaming& renaming) const {
    std::vector<ColumnSpec> columns;
    for (const PrintedColumn& key : keys_) {
      columns.push_back(key.spec());
      if (&key == &keys_.front())
        columns.push_back({"operation_count", Kind::kInteger, "", "GPU events in the group"});
    }
    columns.push_back({"kernel_time_mean", Kind::kReal, "µs", "mean duration of a GPU event"});
    columns.push_back({"kernel_time_sum", Kind::kReal, "µs", "sum of their durations"});
    Table result{"diff_stats_unique_args_summary",
                 "GPU work where the traces part, by op and kernel", columns};
    RowCells row;
    for (const Group& each : groups_) {
      row.clear();
      for (const PrintedColumn& key : keys_) {
        if (key.spec().name == "cpu_op_name")
          row.add(renaming.of(key.text(each.first_row)));
        else if (key.spec().name == "nn_module_parent")
          row.add(without_blanks(key.text(each.first_row)));
        else
          row.add(key.cell(each.first_row));
        if (&key == &keys_.front()) row.add(each.count);
      }
      row.add(each.sum / static_cast<double>(each.count));
      row.add(each.sum);
      result.append(row.cells());
    }
    return result;
  }

  const Table& stats_;
  const DiffSummaryOptions& options_;
  std::vector<PrintedColumn> keys_;
  std::vector<Group> groups_;
};

}  // namespace

DiffSummary summarize_diff(const Table& diff_stats, const DiffSummaryOptions& options) {
  return Summary{diff_stats, options}.make();
}

}  // namespace tracelens
