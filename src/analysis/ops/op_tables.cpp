#include "analysis/ops/op_tables.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/kit/group_rows.hpp"
#include "analysis/kit/timed_groups.hpp"
#include "analysis/ops/group_columns.hpp"
#include "analysis/ops/row_makers.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// A row of the summaries.
struct Totals {
  std::string key, module;
  bool is_recompute = false;
  std::int64_t count = 0, direct_ns = 0, subtree_ns = 0;
  std::vector<std::uint32_t> categories = {};  // distinct
  Value first_stack = {};
  RunningShare::Cells share = {};

  [[nodiscard]] double direct_us() const { return us(direct_ns); }
  [[nodiscard]] double subtree_us() const { return us(subtree_ns); }
  [[nodiscard]] double direct_ms() const { return ms(direct_ns); }
  [[nodiscard]] double subtree_ms() const { return ms(subtree_ns); }
};

void add_category(Totals& total, std::uint32_t category) {
  if (std::ranges::find(total.categories, category) == total.categories.end())
    total.categories.push_back(category);
}

// Sums `launchers` by `key_of` (an integer), class of module where asked for, and is_recompute; the
// costliest first, ties by key.
template <class KeyOf, class TextOf>
std::vector<Totals> totals_by(OpInput& input, std::span<const Launcher> launchers, KeyOf key_of,
                              TextOf text_of) {
  Grouped<Totals> grouped;
  std::int64_t all_ns = 0;
  const bool by_module = input.options.group_by_module;
  const auto total_of = [&](const Launcher& op) -> Totals& {
    const bool is_recompute = input.is_recompute(op.node);
    const std::uint32_t module = by_module ? input.modules.around(op.node) : 0;
    return grouped.at({key_of(op), is_recompute ? 1U : 0U, module}, [&] {
      return Totals{.key = std::string{text_of(op)},
                    .module = by_module ? input.modules.text(module) : "",
                    .is_recompute = is_recompute,
                    .first_stack = by_module ? input.modules.stack(op.node) : Value{}};
    });
  };
  for (const Launcher& op : launchers) {
    Totals& total = total_of(op);
    ++total.count;
    total.direct_ns = plus_ns(total.direct_ns, op.direct_ns);
    total.subtree_ns = plus_ns(total.subtree_ns, op.subtree_ns);
    add_category(total, op.category);
    all_ns = plus_ns(all_ns, op.direct_ns);
  }
  if (const auto parts = input.launches.parts(); parts.data() != launchers.data())
    for (const Launcher& part : parts) add_category(total_of(part), part.category);
  std::vector<Totals> totals = std::move(grouped).take();
  std::ranges::sort(totals, [](const Totals& a, const Totals& b) {
    if (a.direct_ns != b.direct_ns) return a.direct_ns > b.direct_ns;
    return std::tie(a.key, a.module, a.is_recompute) < std::tie(b.key, b.module, b.is_recompute);
  });
  RunningShare share{ms(all_ns)};
  for (Totals& total : totals) total.share = share.next(total.direct_ms());
  return totals;
}

constexpr const char* kDirectTime = "GPU time of the ops' own kernels";
constexpr const char* kSubtreeTime =
    "GPU time of all kernels below the ops; nested ops count again";
const ColumnSpec kFirstStack{"call_stack_first", Kind::kNested, "",
                             "the first op, and the nn.Modules around it, the innermost first"};

struct UniqueArgsRow : OpGroupRow {
  using OpGroupRow::OpGroupRow;
  std::int64_t kernel_count = 0;
  double first_start_us = 0;
  GroupStats own = {}, below = {};
};

ColumnSet<UniqueArgsRow> unique_args_columns(const OpInput& input, bool with_overlap) {
  using Row = UniqueArgsRow;
  ColumnSet<Row> columns;
  add_call_columns(columns, with_overlap, input.options.group_by_module);
  columns.add({"num_kernels", Kind::kInteger, "", "GPU events each call launched"},
              &Row::kernel_count, input.options.group_by_kernel_count);
  add_recompute_column(columns, input);
  columns.add({{{"operation_count", Kind::kInteger, "", "calls in the group"}, &Row::calls},
               {{"first_occurrence_time", Kind::kReal, "µs",
                 "start of the first call after the start of the first op of the table"},
                &Row::first_start_us,
                input.options.first_occurrence}});
  const std::string direct = "total_direct_kernel_time", subtree = "total_subtree_kernel_time";
  const std::string of_own = " of the GPU time of each call's own kernels",
                    of_all = " of the GPU time of all kernels below each call";
  for (const Stat& stat : kAllStats) {
    add_stat_columns(columns, &Row::own, std::span{&stat, 1}, direct, "µs", of_own);
    add_stat_columns(columns, &Row::below, std::span{&stat, 1}, subtree, "µs", of_all);
  }
  columns.add({{{direct + "_sum", Kind::kReal, "µs", "sum" + of_own},
                [](const Row& row) { return row.own.sum; }},
               {{subtree + "_sum", Kind::kReal, "µs", "sum" + of_all},
                [](const Row& row) { return row.below.sum; }},
               {{"ex_UID", Kind::kInteger, "id", "position in the trace of the first call"},
                &Row::position},
               {{"call_stack", Kind::kNested, "",
                 "the first call, and the nn.Modules around it, the innermost first"},
                &Row::module_stack,
                input.options.group_by_module}});
  add_kernel_columns(columns, "kernel_details_summary");
  add_overlap_columns(columns, "overlapping_kernels_details_summary", with_overlap);
  add_share_columns(columns, kDirectTime);
  return columns;
}

class UniqueArgsTable {
 public:
  UniqueArgsTable(OpInput& input, bool with_overlap)
      : input_{input},
        trace_{input.trace},
        launchers_{input.launches.parts()},
        with_overlap_{with_overlap} {}

  std::optional<Table> make() {
    if (launchers_.empty()) return std::nullopt;
    group();
    ColumnSet<UniqueArgsRow> columns = unique_args_columns(input_, with_overlap_);
    Table table = columns.make_table(
        with_overlap_ ? "ops_unique_args_kl_overlap" : "ops_unique_args",
        with_overlap_ ? "GPU time by op, arguments and the kernels that ran beside it"
                      : "GPU time by op and arguments, the costliest first");
    list_rows();
    // What overlaps, and classes of modules, are remembered when first asked for: by one thread.
    const bool is_plain = !with_overlap_ && !input_.options.group_by_module;
    append_rows(table, columns, listed_.size(), launchers_.size(), is_plain ? input_.threads : 1,
                [this] { return Maker{*this}; });
    return table;
  }

 private:
  // Makes rows, one at a time.
  class Maker {
   public:
    explicit Maker(const UniqueArgsTable& table) : table_{table}, row_{table.input_} {}
    UniqueArgsRow& make(std::size_t i);

   private:
    const UniqueArgsTable& table_;
    UniqueArgsRow row_;
    std::vector<std::int64_t> direct_, subtree_;
  };

  void group() {
    for (const Launcher& op : launchers_) {
      if (with_overlap_)
        overlaps_.push_back(input_.overlaps->of(input_.launches.own_in_file_order(op)));
      groups_.add({trace_.names()[op.event.row].row, trace_.signatures()[op.event.row].row,
                   op.category, input_.tracks.id_of(trace_.tracks()[op.event.row]),
                   input_.is_recompute(op.node) ? 1U : 0U,
                   input_.options.group_by_kernel_count ? op.count : 0U,
                   with_overlap_ ? overlaps_.back().names : 0U,
                   input_.options.group_by_module ? input_.modules.around(op.node) : 0U});
    }
    groups_.close([&](std::uint32_t row) { return launchers_[row].direct_ns; },
                  [&](std::uint32_t row) { return launchers_[row].event.row; });
  }

  void list_rows() {
    RunningShare share{us(groups_.all_ns())};
    KernelRoom room{input_.kernels_per_table()};
    for (const std::uint32_t group : groups_.order()) {
      if (listed_.size() == input_.options.top_ops) break;
      listed_.push_back({group, share.next(us(groups_.ns(group))),
                         room.next(groups_.rows(group), [this](std::uint32_t row) {
                           return std::size_t{launchers_[row].count};
                         })});
    }
  }

  OpInput& input_;
  const Trace& trace_;
  std::span<const Launcher> launchers_;
  bool with_overlap_;
  TimedGroups groups_;
  std::vector<OverlapFields> overlaps_;  // by launcher
  std::vector<ListedGroup> listed_;      // the rows of the table
};

UniqueArgsRow& UniqueArgsTable::Maker::make(std::size_t i) {
  const ListedGroup& listed = table_.listed_[i];
  const std::span<const Launcher> launchers = table_.launchers_;
  const std::span<const std::uint32_t> members = table_.groups_.rows(listed.group);
  const std::span<const std::int64_t> ts_ns = table_.trace_.ts_ns();
  const LaunchTable& launches = table_.input_.launches;
  const Launcher& first = launchers[members.front()];
  row_.start(first.event, first.node, first.category);
  row_.kernels.set_room(listed.kernel_room);
  row_.share = listed.share;
  direct_.clear();
  subtree_.clear();
  std::int64_t starts_ns = ts_ns[first.event.row];
  for (const std::uint32_t at : members) {
    const Launcher& op = launchers[at];
    direct_.push_back(op.direct_ns);
    subtree_.push_back(op.subtree_ns);
    starts_ns = std::min(starts_ns, ts_ns[op.event.row]);
    const std::span<const GpuPosition> own = launches.own(op);
    row_.kernels.add(own.size(),
                     [&](std::size_t k) { return launches.gpu_events()[own[k]].use(); });
    if (table_.with_overlap_) row_.add_overlap(table_.overlaps_[at]);
  }
  row_.kernel_count = first.count;
  row_.calls = std::ssize(members);
  row_.first_start_us = us(minus_ns(starts_ns, ts_ns[launchers.front().event.row]));
  const bool nothing_below = direct_ == subtree_;  // the usual case
  row_.own = stats_of_ns(direct_);
  row_.below = nothing_below ? row_.own : stats_of_ns(subtree_);
  row_.overlap_pct = stats_of(row_.overlap_shares);
  return row_;
}

}  // namespace

std::optional<Table> ops_summary_by_category(OpInput& input) {
  std::vector<Totals> totals = totals_by(
      input, input.launches.parts(), [](const Launcher& op) { return op.category; },
      [&](const Launcher& op) { return input.categories.text(op.category); });
  if (totals.empty()) return std::nullopt;
  ColumnSet<Totals> columns{
      {{"op category", Kind::kText, "", "what kind of work the ops do"}, &Totals::key},
      {kParentModule, &Totals::module, input.options.group_by_module}};
  add_recompute_column(columns, input);
  columns.add(
      {{{"Count", Kind::kInteger, "", "ops that launched GPU work"}, &Totals::count},
       {kFirstStack, &Totals::first_stack, input.options.group_by_module},
       {{"total_direct_kernel_time_ms", Kind::kReal, "ms", kDirectTime}, &Totals::direct_ms}});
  add_share_columns(columns, kDirectTime);
  Table table = columns.make_table("ops_summary_by_category",
                                   "GPU time by category of op, the costliest first");
  for (Totals& total : totals) columns.append(table, total);
  return table;
}

std::optional<Table> ops_summary(OpInput& input) {
  const Trace& trace = input.trace;
  std::vector<Totals> totals = totals_by(
      input, input.launches.launchers(),
      [&](const Launcher& op) { return trace.names()[op.event.row].row; },
      [&](const Launcher& op) { return trace.name(op.event); });
  if (totals.empty()) return std::nullopt;
  ColumnSet<Totals> columns{{{"name", Kind::kText, "", "op name as traced"}, &Totals::key},
                            {kParentModule, &Totals::module, input.options.group_by_module}};
  add_recompute_column(columns, input);
  columns.add(
      {{{"total_direct_kernel_time_sum", Kind::kReal, "µs", kDirectTime}, &Totals::direct_us},
       {{"total_subtree_kernel_time_sum", Kind::kReal, "µs", kSubtreeTime}, &Totals::subtree_us},
       {{"total_subtree_kernel_time_count", Kind::kInteger, "", "calls that launched GPU work"},
        &Totals::count,
        input.options.inference},
       {{"total_direct_kernel_time_ms", Kind::kReal, "ms", kDirectTime}, &Totals::direct_ms},
       {{"total_subtree_kernel_time_ms", Kind::kReal, "ms", kSubtreeTime},
        &Totals::subtree_ms,
        !input.options.inference},
       {{"Count", Kind::kInteger, "", "calls that launched GPU work"}, &Totals::count},
       {{"Categories", Kind::kNested, "", "categories of these calls, in alphabetical order"},
        [&input](const Totals& total) { return input.categories.sorted_texts(total.categories); }},
       {kFirstStack, &Totals::first_stack, input.options.group_by_module}});
  add_share_columns(columns, kDirectTime);
  Table table = columns.make_table("ops_summary", "GPU time by op, the costliest first");
  for (Totals& total : totals) columns.append(table, total);
  return table;
}

std::optional<Table> ops_unique_args(OpInput& input) {
  return UniqueArgsTable{input, false}.make();
}
std::optional<Table> ops_unique_args_kl_overlap(OpInput& input) {
  return UniqueArgsTable{input, true}.make();
}

}  // namespace tracelens
