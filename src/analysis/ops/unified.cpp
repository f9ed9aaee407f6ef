#include "analysis/ops/unified.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/kit/timed_groups.hpp"
#include "analysis/ops/call_stacks.hpp"
#include "analysis/ops/group_columns.hpp"
#include "analysis/ops/rates.hpp"
#include "analysis/ops/row_makers.hpp"

namespace tracelens {
namespace {

constexpr Stat kMeanAndStd[] = {{"mean", &GroupStats::mean}, {"std", &GroupStats::std}};
constexpr Stat kMedianAndRange[] = {
    {"median", &GroupStats::median}, {"min", &GroupStats::min}, {"max", &GroupStats::max}};

struct UnifiedRow : OpGroupRow {
  using OpGroupRow::OpGroupRow;
  std::int64_t uid = 0;
  bool has_model = false;
  const Figures* figures = nullptr;  // of the first call a model answered for; null: none
  GroupStats host = {}, busy = {}, terabytes = {}, tflops = {}, percent_of_roof = {};
  Value params = {};
  CallStackCells call_stack = {};

  // A member of the figures, where there are any.
  template <class T>
  [[nodiscard]] std::optional<T> figure(T Figures::*member) const {
    return figures == nullptr ? std::nullopt : std::optional{figures->*member};
  }
  [[nodiscard]] const Roof* roof() const {
    return figures != nullptr && figures->roof ? &*figures->roof : nullptr;
  }
};

class UnifiedTable {
 public:
  UnifiedTable(OpInput& input, std::span<const UnifiedOp> ops, bool with_overlap)
      : input_{input},
        trace_{input.trace},
        ops_{ops},
        with_overlap_{with_overlap},
        has_call_stack_{input.options.call_stack && !with_overlap},
        figures_{input.models, input.options.gpu, input.options.peaks} {}

  std::optional<Table> make() {
    if (ops_.empty()) return std::nullopt;
    group();
    any_answer_ = std::ranges::any_of(ops_, &UnifiedOp::answered);
    for (const UnifiedOp& op : ops_)
      if (op.answered && figures_.of(op.row.answer).roof) any_roof_ = true;
    ColumnSet<UnifiedRow> columns = make_columns();
    Table table = columns.make_table(
        with_overlap_ ? "unified_perf_summary_kl_overlap" : "unified_perf_summary",
        with_overlap_ ? "GPU time, work and rates by distinct call and what ran beside it"
                      : "GPU time, work and rates by distinct call, the costliest first");
    list_rows();
    // What overlaps, and the names of frames, are remembered when first asked for: by one thread.
    const bool is_plain = !with_overlap_ && !input_.recompute && !input_.options.call_stack;
    append_rows(table, columns, listed_.size(), ops_.size(), is_plain ? input_.threads : 1,
                [this] { return Maker{*this}; });
    return table;
  }

 private:
  // Makes rows, one at a time.
  class Maker {
   public:
    explicit Maker(const UnifiedTable& table)
        : table_{table},
          input_{table.input_},
          trace_{table.trace_},
          rates_{table.input_.models, table.figures_},
          row_{table.input_},
          frames_{table.trace_} {}

    UnifiedRow& make(std::size_t i);

   private:
    [[nodiscard]] std::vector<Value> stacks_in_kernel_cells(const UnifiedOp* op);
    [[nodiscard]] Value params_of(const UnifiedOp& op) const;

    const UnifiedTable& table_;
    OpInput& input_;
    const Trace& trace_;
    Rates rates_;
    UnifiedRow row_;
    FrameNames frames_;
    std::vector<std::int64_t> durations_, busy_;
  };

  void group() {
    TrackNames& tracks = input_.tracks;
    for (const UnifiedOp& op : ops_) {
      const std::uint32_t row = op.row.event.row;
      const GroupKey key{op.name.row,
                         op.kernel.row,
                         trace_.signatures()[row].row,
                         op.category,
                         tracks.id_of(trace_.tracks()[row]),
                         input_.is_recompute(op.row.node) ? 1U : 0U};
      if (with_overlap_) {
        overlaps_.push_back(input_.overlaps->of(input_.ops.kernels(op.row)));
        groups_.add(key, overlaps_.back().names);
      } else {
        groups_.add(key);
      }
    }
    groups_.close([&](std::uint32_t row) { return ops_[row].row.busy_ns; },
                  [&](std::uint32_t row) { return ops_[row].uid; });
  }

  void list_rows() {
    RunningShare share{us(groups_.all_ns())};
    KernelRoom room{input_.kernels_per_table()};
    const auto kernels_of = [this](std::uint32_t op) {
      return input_.ops.kernels(ops_[op].row).size();
    };
    for (const std::uint32_t group : groups_.order())
      listed_.push_back(
          {group, share.next(us(groups_.ns(group))), room.next(groups_.rows(group), kernels_of)});
  }

  [[nodiscard]] ColumnSet<UnifiedRow> make_columns() const {
    using Row = UnifiedRow;
    const std::string of_memory = " of the memory rate reached",
                      of_compute = " of the compute rate reached";
    ColumnSet<Row> columns;
    add_call_columns(columns, with_overlap_);
    add_recompute_column(columns, input_);
    columns.add(
        {{{"ex_UID", Kind::kInteger, "id", "position in the trace of the first call"}, &Row::uid},
         {{"operation_count", Kind::kInteger, "", "calls in the group"}, &Row::calls},
         {{"total_duration_us", Kind::kReal, "µs", "host time of the calls"},
          [](const Row& row) { return row.host.sum; }},
         {{"mean_duration_us", Kind::kReal, "µs", "mean host time of a call"},
          [](const Row& row) { return row.host.mean; }},
         {{"std_duration_us", Kind::kReal, "µs", "standard deviation of the host time"},
          [](const Row& row) { return row.host.std; }},
         {{"GFLOPS", Kind::kReal, "GFLOP", "floating-point operations of one call, in 10^9"},
          [](const Row& row) { return row.figure(&Figures::gflops); },
          any_answer_},
         {{"Data Moved (MB)", Kind::kReal, "MiB", "bytes one call has to read and write"},
          [](const Row& row) { return row.figure(&Figures::megabytes); },
          any_answer_},
         {{"FLOPS/Byte", Kind::kReal, "", "arithmetic intensity"},
          [](const Row& row) { return row.figure(&Figures::flops_per_byte); },
          any_answer_},
         {{"Compute Spec", Kind::kText, "", "which peak rate of the GPU applies"},
          [](const Row& row) { return row.figure(&Figures::compute_spec); },
          any_answer_},
         {{"Roofline Bound", Kind::kText, "", "what limits the call at best"},
          [](const Row& row) { return bound_of(row.roof()); },
          any_roof_}});
    add_stat_columns(columns, &Row::terabytes, kMeanAndStd, "TB/s", "TB/s", of_memory, any_answer_);
    add_stat_columns(columns, &Row::tflops, kMeanAndStd, "TFLOPS/s", "TFLOP/s", of_compute,
                     any_answer_);
    columns.add({{{"Kernel Time (µs)_mean", Kind::kReal, "µs", "mean GPU busy time of a call"},
                  [](const Row& row) { return row.busy.mean; }},
                 {{"Kernel Time (µs)_std", Kind::kReal, "µs", "its standard deviation"},
                  [](const Row& row) { return row.busy.std; }},
                 {{"Kernel Time (µs)_sum", Kind::kReal, "µs", "GPU busy time of all calls"},
                  [](const Row& row) { return row.busy.sum; }}});
    add_stat_columns(columns, &Row::host, kMedianAndRange, "duration_us", "µs",
                     " host time of a call");
    add_stat_columns(columns, &Row::terabytes, kMedianAndRange, "TB/s", "TB/s", of_memory,
                     any_answer_);
    add_stat_columns(columns, &Row::tflops, kMedianAndRange, "TFLOPS/s", "TFLOP/s", of_compute,
                     any_answer_);
    columns.add(
        {"Roofline Time (µs)_first", Kind::kReal, "µs", "best time the GPU could do one call in"},
        [](const Row& row) { return best_us_of(row.roof()); }, any_roof_);
    add_stat_columns(columns, &Row::percent_of_roof, kAllStats, "Pct Roofline", "%",
                     " share of the best time in the time it took", any_roof_);
    add_stat_columns(columns, &Row::busy, kMedianAndRange, "Kernel Time (µs)", "µs",
                     " GPU busy time of a call");
    add_kernel_columns(columns, "kernel_details_summary");
    add_overlap_columns(columns, "overlapping_kernels_details_summary", with_overlap_);
    columns.add({{{"perf_params", Kind::kNested, "", "what the model read from the arguments"},
                  [](Row& row) { return std::move(row.params); }},
                 {{"has_perf_model", Kind::kBool, "",
                   "a model knows the op, or the forward op it is the backward of"},
                  &Row::has_model},
                 {{"entry_point", Kind::kText, "", "the Python frame to look at for this op"},
                  [](const Row& row) { return row.call_stack.entry_point; },
                  has_call_stack_},
                 {{"call_stack_full", Kind::kNested, "",
                   "frames and ops from the outermost down to the kernels"},
                  [](Row& row) { return std::move(row.call_stack.full); },
                  has_call_stack_}});
    add_share_columns(columns, "GPU time of the ops");
    return columns;
  }

  OpInput& input_;
  const Trace& trace_;
  std::span<const UnifiedOp> ops_;
  bool with_overlap_, has_call_stack_, any_answer_ = false, any_roof_ = false;
  WorkFigures figures_;
  TimedGroups groups_;
  std::vector<OverlapFields> overlaps_;  // by op
  std::vector<ListedGroup> listed_;      // the rows of the table
};

UnifiedRow& UnifiedTable::Maker::make(std::size_t i) {
  const ListedGroup& listed = table_.listed_[i];
  const std::span<const std::uint32_t> members = table_.groups_.rows(listed.group);
  const UnifiedOp& first = table_.ops_[members.front()];
  row_.start(first.row.event, first.row.node, first.category);
  row_.kernels.set_room(listed.kernel_room);
  row_.name = unified_name(trace_, first);
  row_.uid = first.uid;
  row_.calls = std::ssize(members);
  row_.has_model = first.has_model;
  row_.share = listed.share;
  durations_.clear();
  busy_.clear();
  rates_.clear();
  const UnifiedOp* answered = nullptr;   // the first that a model answered for
  const UnifiedOp* launching = nullptr;  // the first with GPU events: the pattern of the kernels
  for (const std::uint32_t at : members) {
    const UnifiedOp& op = table_.ops_[at];
    if (const std::int64_t dur = trace_.dur_ns()[op.row.event.row]; dur != kAbsent)
      durations_.push_back(dur);
    busy_.push_back(op.row.busy_ns);
    input_.ops.add_kernels(op.row, row_.kernels);
    if (launching == nullptr && op.row.count > 0) launching = &op;
    if (op.answered) {
      if (answered == nullptr) answered = &op;
      rates_.add(op.row);
    }
    if (table_.with_overlap_) row_.add_overlap(table_.overlaps_[at]);
  }
  row_.host = stats_of_ns(durations_);
  row_.busy = stats_of_ns(busy_);
  row_.terabytes = rates_.terabytes();
  row_.tflops = rates_.tflops();
  if (table_.any_roof_) row_.percent_of_roof = rates_.percent_of_roof();
  if (table_.with_overlap_) row_.overlap_pct = rounded_stats(row_.overlap_shares);
  row_.figures = answered == nullptr ? nullptr : &table_.figures_.known(answered->row.answer);
  row_.params = answered == nullptr ? Value{} : params_of(*answered);
  row_.stacks = stacks_in_kernel_cells(launching);
  if (table_.has_call_stack_)
    row_.call_stack = call_stack_cells(input_, frames_, launching, row_.kernels);
  return row_;
}

// The reference, and so spreadsheets that are compared with its own, leaves the call stacks in
// these cells unless it makes columns of them (its oddity O13).
std::vector<Value> UnifiedTable::Maker::stacks_in_kernel_cells(const UnifiedOp* op) {
  const bool has_stacks = input_.recompute || input_.options.call_stack;
  if (op == nullptr || !has_stacks || table_.has_call_stack_ ||
      input_.options.edition != Edition::kReference)
    return {};
  std::vector<Value> stacks;
  for (CallChain& stack : kernel_call_stacks(input_, frames_, *op))
    stacks.push_back(Value::list(std::move(stack)));
  return stacks;
}

Value UnifiedTable::Maker::params_of(const UnifiedOp& op) const {
  const Work& work = *input_.models[op.row.answer];
  if (work.params.empty()) return {};
  std::vector<std::string> names;
  std::vector<Value> values;
  for (const Param& param : work.params) {
    names.push_back(param.name);
    values.push_back(param.value);
  }
  return Value::dict(std::move(names), std::move(values));
}

}  // namespace

std::optional<Table> unified_perf_summary(OpInput& input, std::span<const UnifiedOp> ops) {
  return UnifiedTable{input, ops, false}.make();
}

std::optional<Table> unified_perf_summary_kl_overlap(OpInput& input,
                                                     std::span<const UnifiedOp> ops) {
  return UnifiedTable{input, ops, true}.make();
}

}  // namespace tracelens
