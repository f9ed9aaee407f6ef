#include "analysis/ops/unified.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_rows.hpp"
#include "analysis/kit/group_stats.hpp"
#include "analysis/ops/call_stacks.hpp"
#include "analysis/ops/kernel_stats.hpp"
#include "analysis/ops/rates.hpp"
#include "table/cell_text.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using Stat = std::optional<double> GroupStats::*;
constexpr Stat kAllStats[] = {&GroupStats::mean, &GroupStats::median, &GroupStats::std,
                              &GroupStats::min, &GroupStats::max};
constexpr const char* kAllStatNames[] = {"mean", "median", "std", "min", "max"};

void add_stat_columns(std::vector<ColumnSpec>& columns, const std::string& name, const char* unit,
                      std::span<const char* const> stats, const std::string& description) {
  for (const char* stat : stats)
    columns.push_back({name + "_" + stat, Kind::kReal, unit, std::string{stat} + description});
}

class UnifiedTable {
 public:
  UnifiedTable(OpInput& input, std::span<const UnifiedOp> ops, bool with_overlap)
      : input_{input},
        trace_{input.trace},
        ops_{ops},
        with_overlap_{with_overlap},
        rates_{input.models, input.options.gpu, input.options.peaks},
        kernels_{trace_},
        partners_{trace_} {}

  std::optional<Table> make() {
    if (ops_.empty()) return std::nullopt;
    group();
    any_answer_ = std::ranges::any_of(ops_, &UnifiedOp::answered);
    any_roof_ = rates_.has_gpu() && std::ranges::any_of(ops_, [&](const UnifiedOp& op) {
                  return op.answered && rates_.figures(op.row.answer).roof.has_value();
                });
    Table table{with_overlap_ ? "unified_perf_summary_kl_overlap" : "unified_perf_summary",
                with_overlap_ ? "GPU time, work and rates by distinct call and what ran beside it"
                              : "GPU time, work and rates by distinct call, the costliest first",
                columns()};
    std::int64_t all_ns = 0;
    for (const std::int64_t sum : sums_) all_ns = plus_ns(all_ns, sum);
    RunningShare share{us(all_ns)};
    RowCells row;
    for (const std::uint32_t group : sorted_groups()) {
      row.clear();
      add_row(row, group);
      share.add_to(row, us(sums_[group]));
      table.append(row.cells());
    }
    return table;
  }

 private:
  void group() {
    TrackNames& tracks = input_.launches.track_names();
    for (const UnifiedOp& op : ops_) {
      const std::uint32_t row = op.row.event.row;
      if (with_overlap_) overlaps_.push_back(input_.overlaps->of(input_.ops.kernels(op.row)));
      GroupKey key{op.name.row,
                   op.kernel.row,
                   trace_.signatures()[row].row,
                   op.category,
                   tracks.id_of(trace_.tracks()[row]),
                   input_.is_recompute(op.row.node) ? 1U : 0U,
                   0,
                   0};
      if (with_overlap_) {
        calls_.push_back(call_index_.id_of(key));
        key[6] = overlaps_.back().names;
      }
      groups_.add(key);
    }
    groups_.close();
    sums_.resize(groups_.size());
    for (std::size_t group = 0; group < groups_.size(); ++group)
      for (const std::uint32_t row : groups_.rows(group))
        sums_[group] = plus_ns(sums_[group], ops_[row].row.busy_ns);
  }

  [[nodiscard]] const UnifiedOp& first(std::uint32_t group) const {
    return ops_[groups_.rows(group).front()];
  }

  // By time, then position. With overlap: rows of one call stand together, calls by their time.
  std::vector<std::uint32_t> sorted_groups() {
    std::vector<std::uint32_t> order(groups_.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto by_time = [&](std::uint32_t a, std::uint32_t b) {
      return sums_[a] != sums_[b] ? sums_[a] > sums_[b] : first(a).uid < first(b).uid;
    };
    if (!with_overlap_) {
      std::ranges::sort(order, by_time);
      return order;
    }
    struct Call {
      std::int64_t sum_ns = 0, uid = std::numeric_limits<std::int64_t>::max();
    };
    std::vector<Call> calls(call_index_.size());
    const auto call_of = [&](std::uint32_t group) { return calls_[groups_.rows(group).front()]; };
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      Call& call = calls[call_of(group)];
      call.sum_ns = plus_ns(call.sum_ns, sums_[group]);
      call.uid = std::min(call.uid, first(group).uid);
    }
    std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
      const std::uint32_t call_a = call_of(a), call_b = call_of(b);
      if (call_a == call_b) return by_time(a, b);
      if (calls[call_a].sum_ns != calls[call_b].sum_ns)
        return calls[call_a].sum_ns > calls[call_b].sum_ns;
      return calls[call_a].uid < calls[call_b].uid;
    });
    return order;
  }

  std::vector<ColumnSpec> columns() {
    std::vector<ColumnSpec> columns;
    add_call_columns(columns, with_overlap_);
    add_recompute_column(columns, input_);
    columns.insert(columns.end(),
                   {{"ex_UID", Kind::kInteger, "id", "position in the trace of the first call"},
                    {"operation_count", Kind::kInteger, "", "calls in the group"},
                    {"total_duration_us", Kind::kReal, "µs", "host time of the calls"},
                    {"mean_duration_us", Kind::kReal, "µs", "mean host time of a call"},
                    {"std_duration_us", Kind::kReal, "µs", "standard deviation of the host time"}});
    if (any_answer_) {
      columns.insert(
          columns.end(),
          {{"GFLOPS", Kind::kReal, "GFLOP", "floating-point operations of one call, in 10^9"},
           {"Data Moved (MB)", Kind::kReal, "MiB", "bytes one call has to read and write"},
           {"FLOPS/Byte", Kind::kReal, "", "arithmetic intensity"},
           {"Compute Spec", Kind::kText, "", "which peak rate of the GPU applies"}});
      if (any_roof_)
        columns.push_back({"Roofline Bound", Kind::kText, "", "what limits the call at best"});
      constexpr const char* kSpread[] = {"mean", "std"};
      add_stat_columns(columns, "TB/s", "TB/s", kSpread, " of the memory rate reached");
      add_stat_columns(columns, "TFLOPS/s", "TFLOP/s", kSpread, " of the compute rate reached");
    }
    columns.insert(columns.end(),
                   {{"Kernel Time (µs)_mean", Kind::kReal, "µs", "mean GPU busy time of a call"},
                    {"Kernel Time (µs)_std", Kind::kReal, "µs", "its standard deviation"},
                    {"Kernel Time (µs)_sum", Kind::kReal, "µs", "GPU busy time of all calls"}});
    constexpr const char* kRange[] = {"median", "min", "max"};
    add_stat_columns(columns, "duration_us", "µs", kRange, " host time of a call");
    if (any_answer_) {
      add_stat_columns(columns, "TB/s", "TB/s", kRange, " of the memory rate reached");
      add_stat_columns(columns, "TFLOPS/s", "TFLOP/s", kRange, " of the compute rate reached");
    }
    if (any_roof_) {
      columns.push_back({"Roofline Time (µs)_first", Kind::kReal, "µs",
                         "best time the GPU could do one call in"});
      add_stat_columns(columns, "Pct Roofline", "%", kAllStatNames,
                       " share of the best time in the time it took");
    }
    add_stat_columns(columns, "Kernel Time (µs)", "µs", kRange, " GPU busy time of a call");
    add_kernel_columns(columns, "kernel_details_summary");
    if (with_overlap_) add_overlap_detail_columns(columns, "overlapping_kernels_details_summary");
    columns.push_back({"perf_params", Kind::kNested, "", "what the model read from the arguments"});
    columns.push_back({"has_perf_model", Kind::kBool, "",
                       "a model knows the op, or the forward op it is the backward of"});
    if (has_call_stack()) add_call_stack_columns(columns);
    RunningShare::add_columns(columns, "GPU time of the ops");
    return columns;
  }

  [[nodiscard]] bool has_call_stack() const { return input_.options.call_stack && !with_overlap_; }

  void add_row(RowCells& row, std::uint32_t group) {
    const std::span<const std::uint32_t> members = groups_.rows(group);
    const UnifiedOp& example = first(group);
    durations_.clear();
    busy_.clear();
    rates_.clear();
    shares_.clear();
    kernels_.clear();
    partners_.clear();
    const UnifiedOp* answered = nullptr;   // the first that a model answered for
    const UnifiedOp* launching = nullptr;  // the first with GPU events: the pattern of the kernels
    for (const std::uint32_t at : members) {
      const UnifiedOp& op = ops_[at];
      if (const std::int64_t dur = trace_.dur_ns()[op.row.event.row]; dur != kAbsent)
        durations_.push_back(dur);
      busy_.push_back(op.row.busy_ns);
      input_.ops.add_kernels(op.row, kernels_);
      if (launching == nullptr && op.row.count > 0) launching = &op;
      if (op.answered) {
        if (answered == nullptr) answered = &op;
        rates_.add(op.row);
      }
      if (with_overlap_) {
        partners_.add(overlaps_[at].partners);
        if (overlaps_[at].share) shares_.push_back(*overlaps_[at].share);
      }
    }
    const GroupStats host = stats_of_ns(durations_), busy = stats_of_ns(busy_);
    const GroupStats terabytes = rates_.terabytes(), tflops = rates_.tflops();

    add_call_cells(row, input_, unified_name(trace_, example), example.row.event, example.category,
                   with_overlap_ ? &overlaps_[members.front()] : nullptr);
    if (input_.recompute) row.add(input_.is_recompute(example.row.node));
    row.add(example.uid);
    row.add(static_cast<std::int64_t>(members.size()));
    row.add(host.sum);
    row.add(host.mean);
    row.add(host.std);
    if (any_answer_) {
      add_figures(row, answered);
      row.add(terabytes.mean);
      row.add(terabytes.std);
      row.add(tflops.mean);
      row.add(tflops.std);
    }
    row.add(busy.mean);
    row.add(busy.std);
    row.add(busy.sum);
    constexpr Stat kRange[] = {&GroupStats::median, &GroupStats::min, &GroupStats::max};
    for (const Stat stat : kRange) row.add(host.*stat);
    if (any_answer_) {
      for (const Stat stat : kRange) row.add(terabytes.*stat);
      for (const Stat stat : kRange) row.add(tflops.*stat);
    }
    if (any_roof_) {
      const auto roof = answered ? rates_.figures(answered->row.answer).roof : std::nullopt;
      row.add(roof ? std::optional{roof->best_us} : std::nullopt);
      const GroupStats percent = rates_.percent_of_roof();
      for (const Stat stat : kAllStats) row.add(percent.*stat);
    }
    for (const Stat stat : kRange) row.add(busy.*stat);
    row.add(kernels_.cell(stacks_in_kernel_cells(launching)));
    row.add(kernels_.short_cell());
    if (with_overlap_) {
      row.add(partners_.cell());
      row.add(partners_.short_cell());
      add_overlap_shares(row, shares_);
    }
    row.add(answered ? params_of(*answered) : Value{});
    row.add(example.has_model);
    if (has_call_stack()) add_call_stack_cells(row, input_, launching, kernels_);
  }

  // The reference leaves the call stacks in these cells when it looks for recomputation (its oddity
  // O13), and so do spreadsheets that are compared with its own.
  std::span<const Value> stacks_in_kernel_cells(const UnifiedOp* op) {
    stacks_.clear();
    if (op == nullptr || !input_.recompute || input_.options.call_stack ||
        input_.options.edition != Edition::kReference)
      return {};
    for (const CallChain& stack : kernel_call_stacks(input_, *op))
      stacks_.push_back(Value::list({stack.begin(), stack.end()}));
    return stacks_;
  }

  void add_figures(RowCells& row, const UnifiedOp* answered) {
    if (answered == nullptr) {
      for (int i = 0; i < (any_roof_ ? 5 : 4); ++i) row.add(kMissing);
      return;
    }
    const Rates::Figures& figures = rates_.figures(answered->row.answer);
    row.add(figures.gflops);
    row.add(figures.megabytes);
    row.add(figures.flops_per_byte);
    row.add(figures.compute_spec);
    if (!any_roof_) return;
    row.add(figures.roof ? std::optional{perf::bound_name(figures.roof->bound)} : std::nullopt);
  }

  [[nodiscard]] Value params_of(const UnifiedOp& op) const {
    const perf::Work& work = *input_.models[op.row.answer];
    if (work.params.empty()) return {};
    std::vector<std::string> names;
    std::vector<Value> values;
    for (const perf::Param& param : work.params) {
      names.push_back(param.name);
      values.push_back(param.value);
    }
    return Value::dict(std::move(names), std::move(values));
  }

  OpInput& input_;
  const Trace& trace_;
  std::span<const UnifiedOp> ops_;
  bool with_overlap_, any_answer_ = false, any_roof_ = false;
  Rates rates_;
  RowGroups groups_;
  KeyIndex call_index_;
  std::vector<std::uint32_t> calls_;  // with overlap, by row: the group without regard to it
  std::vector<OverlapFields> overlaps_;
  std::vector<std::int64_t> sums_;  // by group
  KernelStats kernels_, partners_;
  std::vector<std::int64_t> durations_, busy_;
  std::vector<double> shares_;
  std::vector<Value> stacks_;
};

}  // namespace

std::optional<Table> unified_perf_summary(OpInput& input, std::span<const UnifiedOp> ops) {
  return UnifiedTable{input, ops, false}.make();
}

std::optional<Table> unified_perf_summary_kl_overlap(OpInput& input,
                                                     std::span<const UnifiedOp> ops) {
  return UnifiedTable{input, ops, true}.make();
}

}  // namespace tracelens
