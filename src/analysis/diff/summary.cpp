#include "analysis/diff/summary.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tracelens/table_text.hpp>
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

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

class Summary {
 public:
  Summary(const Table& stats, const DiffSummaryOptions& options)
      : stats_{stats}, options_{options} {
    for (std::size_t i = 0; i < stats.columns().size(); ++i)
      if (std::ranges::find(kNotKeys, stats.columns()[i].spec().name) == std::end(kNotKeys))
        keys_.push_back(i);
  }

  DiffSummary make() {
    group();
    sort();
    std::vector<OpMention> mentions;  // of the summary's rows
    for (const Group& each : groups_) mentions.push_back(mention(each.first_row));
    std::vector<OpMention> events;
    for (std::size_t row = 0; row < stats_.rows(); ++row) events.push_back(mention(row));
    OpRenaming renaming = unify_op_names(events, options_.edition);

    DiffSummary result{
        table(renaming), kernels_by_op_json(mentions, 0),
        options_.identical ? kernels_by_op_json(mentions, 0) : kernels_by_op_json(mentions, 1), "",
        std::move(renaming.notes)};
    for (OpMention& each : mentions) {
      each.op = renaming.of(each.op);
      each.module = without_blanks(std::move(each.module));
    }
    result.op_map = unified_op_json(mentions, options_.identical);
    return result;
  }

 private:
  [[nodiscard]] std::string text(std::size_t column, std::size_t row) const {
    return plain_text(stats_.columns()[column], row);
  }

  void group() {
    std::map<std::vector<std::string>, std::size_t> index;
    const Table::Column& times = stats_.column("kernel_time");
    for (std::size_t row = 0; row < stats_.rows(); ++row) {
      std::vector<std::string> key;
      for (const std::size_t column : keys_) key.push_back(text(column, row));
      const auto [found, is_new] = index.try_emplace(std::move(key), groups_.size());
      if (is_new) groups_.push_back({.first_row = row});
      ++groups_[found->second].count;
      groups_[found->second].sum += times.reals()[row];
    }
  }

  // By time; groups of equal time by the text of their cells, from left to right as printed.
  void sort() {
    const auto cells = [&](const Group& each) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        const bool is_missing = stats_.columns()[keys_[i]].is_missing(each.first_row);
        texts.push_back(is_missing ? "nan" : text(keys_[i], each.first_row));
        if (i == 0) texts.push_back(std::to_string(each.count));
      }
      return texts;
    };
    std::ranges::stable_sort(groups_, [&](const Group& a, const Group& b) {
      return a.sum != b.sum ? a.sum > b.sum : cells(a) < cells(b);
    });
  }

  [[nodiscard]] OpMention mention(std::size_t row) const {
    OpMention result{.op = plain_text(stats_.column("cpu_op_name"), row),
                     .kernel = plain_text(stats_.column("name"), row),
                     .module = plain_text(stats_.column("nn_module_parent"), row)};
    if (!options_.identical)
      result.side = plain_text(stats_.column("source"), row) == "trace1" ? 0 : 1;
    const Table::Column& ids = stats_.column("lowest_common_ancestor_id");
    if (!ids.is_missing(row)) result.ancestor = ids.integers()[row];
    return result;
  }

  [[nodiscard]] Table table(const OpRenaming& renaming) const {
    std::vector<ColumnSpec> columns;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      columns.push_back(stats_.columns()[keys_[i]].spec());
      if (i == 0)
        columns.push_back({"operation_count", Kind::kInteger, "", "GPU events in the group"});
    }
    columns.push_back({"kernel_time_mean", Kind::kReal, "µs", "mean duration of a GPU event"});
    columns.push_back({"kernel_time_sum", Kind::kReal, "µs", "sum of their durations"});
    Table result{"diff_stats_unique_args_summary",
                 "GPU work where the traces part, by op and kernel", columns};
    RowCells row;
    for (const Group& each : groups_) {
      row.clear();
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        const std::string& name = stats_.columns()[keys_[i]].spec().name;
        if (name == "cpu_op_name")
          row.add(renaming.of(text(keys_[i], each.first_row)));
        else if (name == "nn_module_parent")
          row.add(without_blanks(text(keys_[i], each.first_row)));
        else
          row.add(stats_.cell(each.first_row, keys_[i]));
        if (i == 0) row.add(each.count);
      }
      row.add(each.sum / static_cast<double>(each.count));
      row.add(each.sum);
      result.append(row.cells());
    }
    return result;
  }

  const Table& stats_;
  const DiffSummaryOptions& options_;
  std::vector<std::size_t> keys_;
  std::vector<Group> groups_;
};

}  // namespace

DiffSummary summarize_diff(const Table& diff_stats, const DiffSummaryOptions& options) {
  return Summary{diff_stats, options}.make();
}

}  // namespace tracelens
