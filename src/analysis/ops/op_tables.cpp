#include "analysis/ops/op_tables.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_rows.hpp"
#include "analysis/kit/group_stats.hpp"
#include "analysis/ops/kernel_stats.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

struct Totals {
  std::string key;
  bool is_recompute = false;
  std::int64_t count = 0, direct_ns = 0, subtree_ns = 0;
  std::vector<std::uint32_t> categories = {};  // distinct
};

// Sums launchers by `key_of` (an integer) and is_recompute; the costliest first, ties by key.
template <class KeyOf, class TextOf>
std::vector<Totals> totals_by(OpInput& input, KeyOf key_of, TextOf text_of) {
  KeyIndex index;
  std::vector<Totals> totals;
  for (const Launcher& op : input.launches.launchers()) {
    const bool is_recompute = input.is_recompute(op.node);
    const std::uint32_t id = index.id_of({key_of(op), is_recompute ? 1U : 0U, 0, 0, 0, 0, 0, 0});
    if (id == totals.size())
      totals.push_back({.key = std::string{text_of(op)}, .is_recompute = is_recompute});
    Totals& total = totals[id];
    ++total.count;
    total.direct_ns = plus_ns(total.direct_ns, op.direct_ns);
    total.subtree_ns = plus_ns(total.subtree_ns, op.subtree_ns);
    if (std::ranges::find(total.categories, op.category) == total.categories.end())
      total.categories.push_back(op.category);
  }
  std::ranges::sort(totals, [](const Totals& a, const Totals& b) {
    if (a.direct_ns != b.direct_ns) return a.direct_ns > b.direct_ns;
    return std::pair{std::string_view{a.key}, a.is_recompute} <
           std::pair{std::string_view{b.key}, b.is_recompute};
  });
  return totals;
}

double summed_ms(const std::vector<Totals>& totals) {
  std::int64_t ns = 0;
  for (const Totals& total : totals) ns = plus_ns(ns, total.direct_ns);
  return ms(ns);
}

constexpr const char* kDirectTime = "GPU time of the ops' own kernels";

std::optional<Table> unique_args(OpInput& input, bool with_overlap) {
  const std::span<const Launcher> launchers = input.launches.launchers();
  if (launchers.empty()) return std::nullopt;
  const Trace& trace = input.trace;
  TrackNames& tracks = input.launches.track_names();

  std::vector<OverlapFields> overlaps;
  std::vector<GpuPosition> in_file_order;
  RowGroups groups;
  for (const Launcher& op : launchers) {
    if (with_overlap) {
      in_file_order.assign(input.launches.own(op).begin(), input.launches.own(op).end());
      std::ranges::sort(in_file_order, {},
                        [&](GpuPosition at) { return input.launches.gpu_events()[at].event; });
      overlaps.push_back(input.overlaps->of(in_file_order));
    }
    groups.add({trace.names()[op.event.row].row, trace.signatures()[op.event.row].row, op.category,
                tracks.id_of(trace.tracks()[op.event.row]), input.is_recompute(op.node) ? 1U : 0U,
                input.options.group_by_kernel_count ? op.count : 0,
                with_overlap ? overlaps.back().names : 0, 0});
  }
  groups.close();

  std::vector<std::int64_t> sums(groups.size());
  std::int64_t all_ns = 0, first_ns = trace.ts_ns()[launchers.front().event.row];
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const std::uint32_t row : groups.rows(group))
      sums[group] = plus_ns(sums[group], launchers[row].direct_ns);
    all_ns = plus_ns(all_ns, sums[group]);
  }
  std::vector<std::uint32_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto example = [&](std::uint32_t group) -> const Launcher& {
    return launchers[groups.rows(group).front()];
  };
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return sums[a] != sums[b] ? sums[a] > sums[b] : example(a).event < example(b).event;
  });
  if (input.options.top_ops) order.resize(std::min(order.size(), *input.options.top_ops));

  std::vector<ColumnSpec> columns;
  add_call_columns(columns, with_overlap);
  if (input.options.group_by_kernel_count)
    columns.push_back({"num_kernels", Kind::kInteger, "", "GPU events each call launched"});
  add_recompute_column(columns, input);
  columns.push_back({"operation_count", Kind::kInteger, "", "calls in the group"});
  if (input.options.first_occurrence)
    columns.push_back({"first_occurrence_time", Kind::kReal, "µs",
                       "start of the first call after the start of the first op of the table"});
  for (const char* what : {"mean", "median", "std", "min", "max", "sum"}) {
    columns.push_back({std::string{"total_direct_kernel_time_"} + what, Kind::kReal, "µs",
                       std::string{what} + " of the GPU time of each call's own kernels"});
    columns.push_back({std::string{"total_subtree_kernel_time_"} + what, Kind::kReal, "µs",
                       std::string{what} + " of the GPU time of all kernels below each call"});
  }
  columns.push_back({"ex_UID", Kind::kInteger, "id", "position in the trace of the first call"});
  add_kernel_columns(columns, "kernel_details_summary");
  if (with_overlap) add_overlap_detail_columns(columns, "overlapping_kernels_details_summary");
  RunningShare::add_columns(columns, kDirectTime);
  Table table{with_overlap ? "ops_unique_args_kl_overlap" : "ops_unique_args",
              with_overlap ? "GPU time by op, arguments and the kernels that ran beside it"
                           : "GPU time by op and arguments, the costliest first",
              columns};

  KernelStats kernels{trace}, partners{trace};
  std::vector<KernelUse> uses;
  std::vector<std::int64_t> direct, subtree;
  std::vector<double> shares;
  RunningShare share{us(all_ns)};
  RowCells row;
  for (const std::uint32_t group : order) {
    const Launcher& first = example(group);
    row.clear();
    kernels.clear();
    partners.clear();
    direct.clear();
    subtree.clear();
    shares.clear();
    std::int64_t starts_ns = trace.ts_ns()[first.event.row];
    for (const std::uint32_t at : groups.rows(group)) {
      const Launcher& op = launchers[at];
      direct.push_back(op.direct_ns);
      subtree.push_back(op.subtree_ns);
      starts_ns = std::min(starts_ns, trace.ts_ns()[op.event.row]);
      uses.clear();
      for (const GpuPosition position : input.launches.own(op))
        uses.push_back(input.launches.gpu_events()[position].use());
      kernels.add(uses);
      if (!with_overlap) continue;
      partners.add(overlaps[at].partners);
      if (overlaps[at].share) shares.push_back(*overlaps[at].share);
    }
    add_call_cells(row, input, trace.name(first.event), first.event, first.category,
                   with_overlap ? &overlaps[groups.rows(group).front()] : nullptr);
    if (input.options.group_by_kernel_count) row.add(std::int64_t{first.count});
    if (input.recompute) row.add(input.is_recompute(first.node));
    row.add(static_cast<std::int64_t>(groups.rows(group).size()));
    if (input.options.first_occurrence) row.add(us(minus_ns(starts_ns, first_ns)));
    const bool nothing_below = direct == subtree;  // the usual case
    const GroupStats own = stats_of_ns(direct);
    const GroupStats below = nothing_below ? own : stats_of_ns(subtree);
    for (const auto what : {&GroupStats::mean, &GroupStats::median, &GroupStats::std,
                            &GroupStats::min, &GroupStats::max}) {
      row.add(own.*what);
      row.add(below.*what);
    }
    row.add(own.sum);
    row.add(below.sum);
    row.add(std::int64_t{first.event.row});
    row.add(kernels.cell());
    row.add(kernels.short_cell());
    if (with_overlap) {
      row.add(partners.cell());
      row.add(partners.short_cell());
      const GroupStats overlap = stats_of(shares);
      for (const auto what : {&GroupStats::mean, &GroupStats::median, &GroupStats::std,
                              &GroupStats::min, &GroupStats::max})
        row.add(overlap.*what);
    }
    share.add_to(row, own.sum);
    table.append(row.cells());
  }
  return table;
}

}  // namespace

std::optional<Table> ops_summary_by_category(OpInput& input) {
  const std::vector<Totals> totals = totals_by(
      input, [](const Launcher& op) { return op.category; },
      [&](const Launcher& op) { return input.launches.categories().text(op.category); });
  if (totals.empty()) return std::nullopt;
  std::vector<ColumnSpec> columns{{"op category", Kind::kText, "", "what kind of work the ops do"}};
  add_recompute_column(columns, input);
  columns.insert(columns.end(), {{"Count", Kind::kInteger, "", "ops that launched GPU work"},
                                 {"total_direct_kernel_time_ms", Kind::kReal, "ms", kDirectTime}});
  RunningShare::add_columns(columns, kDirectTime);
  Table table{"ops_summary_by_category", "GPU time by category of op, the costliest first",
              columns};
  RunningShare share{summed_ms(totals)};
  RowCells row;
  for (const Totals& total : totals) {
    row.clear();
    row.add(total.key);
    if (input.recompute) row.add(total.is_recompute);
    row.add(total.count);
    row.add(ms(total.direct_ns));
    share.add_to(row, ms(total.direct_ns));
    table.append(row.cells());
  }
  return table;
}

std::optional<Table> ops_summary(OpInput& input) {
  const Trace& trace = input.trace;
  const std::vector<Totals> totals = totals_by(
      input, [&](const Launcher& op) { return trace.names()[op.event.row].row; },
      [&](const Launcher& op) { return trace.name(op.event); });
  if (totals.empty()) return std::nullopt;
  std::vector<ColumnSpec> columns{{"name", Kind::kText, "", "op name as traced"}};
  add_recompute_column(columns, input);
  columns.insert(columns.end(), {{"total_direct_kernel_time_sum", Kind::kReal, "µs", kDirectTime},
                                 {"total_subtree_kernel_time_sum", Kind::kReal, "µs",
                                  "GPU time of all kernels below the ops; nested ops count again"},
                                 {"total_direct_kernel_time_ms", Kind::kReal, "ms", kDirectTime},
                                 {"total_subtree_kernel_time_ms", Kind::kReal, "ms",
                                  "GPU time of all kernels below the ops; nested ops count again"},
                                 {"Count", Kind::kInteger, "", "calls that launched GPU work"},
                                 {"Categories", Kind::kNested, "",
                                  "categories of these calls, in alphabetical order"}});
  RunningShare::add_columns(columns, kDirectTime);
  Table table{"ops_summary", "GPU time by op, the costliest first", columns};
  RunningShare share{summed_ms(totals)};
  RowCells row;
  for (const Totals& total : totals) {
    row.clear();
    row.add(total.key);
    if (input.recompute) row.add(total.is_recompute);
    row.add(us(total.direct_ns));
    row.add(us(total.subtree_ns));
    row.add(ms(total.direct_ns));
    row.add(ms(total.subtree_ns));
    row.add(total.count);
    std::vector<std::string> texts;
    for (const std::uint32_t category : total.categories)
      texts.push_back(input.launches.categories().text(category));
    std::ranges::sort(texts);
    row.add(Value::list({texts.begin(), texts.end()}));
    share.add_to(row, ms(total.direct_ns));
    table.append(row.cells());
  }
  return table;
}

std::optional<Table> ops_unique_args(OpInput& input) { return unique_args(input, false); }
std::optional<Table> ops_unique_args_kl_overlap(OpInput& input) { return unique_args(input, true); }

}  // namespace tracelens
