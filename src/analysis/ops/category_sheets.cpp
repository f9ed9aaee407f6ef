#include "analysis/ops/category_sheets.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_rows.hpp"
#include "analysis/kit/group_stats.hpp"
#include "analysis/ops/kernel_stats.hpp"
#include "analysis/ops/rates.hpp"
#include "table/cell_text.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

using Stat = std::optional<double> GroupStats::*;
constexpr Stat kStats[] = {&GroupStats::mean, &GroupStats::median, &GroupStats::std,
                           &GroupStats::min, &GroupStats::max};
constexpr const char* kStatNames[] = {"mean", "median", "std", "min", "max"};

// Families whose backward ops are ordinary ops of the family: one sheet instead of two.
constexpr std::array<std::string_view, 4> kSingleSheets = {"GEMM", "UnaryElementwise",
                                                           "BinaryElementwise", "Normalization"};
// Recorded backward ops that belong on the backward sheet. The reference knows only these; its
// other ones stay on the forward sheet (its oddity O7), the extended edition goes by category.
constexpr std::array<std::string_view, 4> kBackwardOps = {
    "flash_attn::_flash_attn_varlen_backward", "aten::convolution_backward", "ConvBias_Backward",
    "ConvBiasReLU_Backward"};
// Forward ops whose backward op is recorded, and so listed, itself.
constexpr std::array<std::string_view, 5> kBackwardRecorded = {
    "aten::convolution", "aten::miopen_convolution", "aten::cudnn_convolution", "ConvBias_",
    "ConvBiasReLU_"};
// Serves inference only; nothing is linked to it.
constexpr std::string_view kForwardOnly = "vllm::unified_attention_with_output";

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The events of each family, in file order, from one pass over the trace.
// Families that only the user's own models know come last.
struct Population {
  std::string_view family;
  std::vector<EventId> events;
};

std::vector<Population> find_population(OpInput& input) {
  const Trace& trace = input.trace;
  std::vector<Population> families;
  for (const std::string_view sheet : perf::sheet_order(input.options.edition))
    families.push_back({sheet, {}});
  constexpr std::uint32_t kUnknown = 0, kNone = 1, kFirst = 2;
  std::vector<std::uint32_t> family_of(trace.string_count(), kUnknown);  // by StringId
  const auto family = [&](EventId event) -> std::uint32_t {
    const perf::OpInfo* op = input.models.info(event);
    if (op == nullptr || op->model.empty() || op->sheet.empty()) return kNone;
    const auto index =
        std::ranges::find(families, op->sheet, &Population::family) - families.begin();
    if (index == std::ssize(families)) families.push_back({op->sheet, {}});
    return static_cast<std::uint32_t>(index) + kFirst;
  };
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    std::uint32_t& known = family_of[trace.names()[row].row];
    if (known == kUnknown) known = family({row});
    if (known >= kFirst && trace.phases()[row] == Phase::kComplete)
      families[known - kFirst].events.push_back({row});
  }
  return families;
}

// A parameter's value for telling groups apart: 16 and 16.0 are one, as are null and absent.
std::string param_text(const Value& value) {
  constexpr double kExact = 1e15;
  if (value.kind() == Value::Kind::kReal && std::abs(value.as_real()) < kExact &&
      value.as_real() == std::trunc(value.as_real()))
    return std::to_string(static_cast<std::int64_t>(value.as_real()));
  return python_repr(value);
}

// The rows of one pass over a family, grouped.
class Sheet {
 public:
  Sheet(OpInput& input, bool with_overlap) : input_{input}, with_overlap_{with_overlap} {}

  // Takes a row whose model answered.
  void add(const OpRow& row) {
    const perf::Work& work = *input_.models[row.answer];
    const std::uint32_t params = params_id(row.answer, work);
    if (with_overlap_) overlaps_.push_back(overlap_of(row));
    GroupKey key{input_.trace.names()[row.event.row].row,
                 params,
                 input_.options.group_by_kernel_count ? row.count : 0,
                 input_.is_recompute(row.node) ? 1U : 0U,
                 0,
                 0,
                 0,
                 0};
    if (with_overlap_) {
      calls_.push_back(call_index_.id_of(key));
      key[4] = overlaps_.back().names;
    }
    groups_.add(key);
    rows_.push_back(row);
  }

  // Groups by time, then position; with overlap those of one op and its parameters together.
  void close() {
    groups_.close();
    sums_.resize(groups_.size());
    for (std::size_t group = 0; group < groups_.size(); ++group)
      for (const std::uint32_t row : groups_.rows(group))
        sums_[group] = plus_ns(sums_[group], rows_[row].busy_ns);
    order_.resize(groups_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    const auto by_time = [&](std::uint32_t a, std::uint32_t b) {
      return sums_[a] != sums_[b] ? sums_[a] > sums_[b] : first(a).event < first(b).event;
    };
    if (!with_overlap_) {
      std::ranges::sort(order_, by_time);
      return;
    }
    struct Call {
      std::int64_t sum_ns = 0;
      std::uint32_t uid = std::numeric_limits<std::uint32_t>::max();
    };
    std::vector<Call> calls(call_index_.size());
    const auto call_of = [&](std::uint32_t group) { return calls_[groups_.rows(group).front()]; };
    for (std::uint32_t group = 0; group < groups_.size(); ++group) {
      Call& call = calls[call_of(group)];
      call.sum_ns = plus_ns(call.sum_ns, sums_[group]);
      call.uid = std::min(call.uid, first(group).event.row);
    }
    std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
      const Call &call_a = calls[call_of(a)], &call_b = calls[call_of(b)];
      if (call_a.sum_ns != call_b.sum_ns) return call_a.sum_ns > call_b.sum_ns;
      return call_a.uid != call_b.uid ? call_a.uid < call_b.uid : by_time(a, b);
    });
  }

  [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t group) const {
    return groups_.rows(group);
  }
  [[nodiscard]] const OpRow& row(std::uint32_t index) const { return rows_[index]; }
  [[nodiscard]] const OverlapFields& overlap(std::uint32_t index) const { return overlaps_[index]; }
  [[nodiscard]] const OpRow& first(std::uint32_t group) const {
    return rows_[groups_.rows(group).front()];
  }
  [[nodiscard]] std::string_view name(std::uint32_t group) const {
    return input_.trace.name(first(group).event);
  }
  // Parameters of all rows in the order they first appear.
  [[nodiscard]] const std::vector<std::string>& params() const { return params_; }

 private:
  std::uint32_t params_id(OpModels::Answer answer, const perf::Work& work) {
    constexpr std::uint32_t kNew = 0xffffffff;
    if (answer >= params_of_.size()) params_of_.resize(input_.models.size(), kNew);
    std::uint32_t& id = params_of_[answer];
    if (id != kNew) return id;
    std::string text;
    for (const perf::Param& param : work.params) {
      if (std::ranges::find(params_, param.name) == params_.end()) params_.push_back(param.name);
      if (!param.value.is_null()) text += param.name + '\0' + param_text(param.value) + '\0';
    }
    id = param_texts_.try_emplace(std::move(text), static_cast<std::uint32_t>(param_texts_.size()))
             .first->second;
    return id;
  }

  OverlapFields overlap_of(const OpRow& row) {
    const Launcher* launcher = input_.launches.launcher(row.node);
    if (launcher == nullptr) return {};
    const auto own = input_.launches.own(*launcher);
    std::vector<GpuPosition> kernels{own.begin(), own.end()};
    std::ranges::sort(kernels, {},
                      [&](GpuPosition at) { return input_.launches.gpu_events()[at].event; });
    return input_.overlaps->of(kernels);
  }

  OpInput& input_;
  bool with_overlap_;
  std::vector<OpRow> rows_;
  std::vector<OverlapFields> overlaps_;
  RowGroups groups_;
  KeyIndex call_index_;
  std::vector<std::uint32_t> calls_, order_;
  std::vector<std::int64_t> sums_;
  std::vector<std::string> params_;
  std::vector<std::uint32_t> params_of_;  // by answer
  std::unordered_map<std::string, std::uint32_t> param_texts_;
};

// A group and the sheet it comes from.
struct Entry {
  const Sheet* sheet;
  std::uint32_t group;
};

class SheetTable {
 public:
  SheetTable(OpInput& input, Rates& rates, bool with_overlap)
      : input_{input},
        trace_{input.trace},
        rates_{rates},
        with_overlap_{with_overlap},
        kernels_{trace_},
        partners_{trace_} {}

  Table make(const std::string& name, const std::vector<std::string>& params,
             std::span<const Entry> entries) {
    any_roof_ =
        rates_.has_gpu() && std::ranges::any_of(entries, [&](const Entry& entry) {
          return std::ranges::any_of(entry.sheet->members(entry.group), [&](std::uint32_t row) {
            return rates_.figures(entry.sheet->row(row).answer).roof.has_value();
          });
        });
    Table table{name + (with_overlap_ ? "_kl_overlap" : ""),
                "Work and rates of the " + name + " ops by parameters, the costliest first",
                columns(params)};
    RowCells row;
    for (const Entry& entry : entries) {
      row.clear();
      add_row(row, params, *entry.sheet, entry.group);
      table.append(row.cells());
    }
    return table;
  }

 private:
  std::vector<ColumnSpec> columns(const std::vector<std::string>& params) const {
    std::vector<ColumnSpec> columns{{"name", Kind::kText, "", "op name as traced"}};
    const auto add_stats = [&](const std::string& name, const char* unit, const char* what) {
      for (const char* stat : kStatNames)
        columns.push_back({name + "_" + stat, Kind::kReal, unit, std::string{stat} + what});
    };
    if (with_overlap_)
      columns.push_back({"overlapping_kernel_names_first", Kind::kNested, "",
                         "kernels of other streams that ran at the same time"});
    for (const std::string& param : params)
      columns.push_back({"param: " + param, Kind::kNested, "", "parameter of the model"});
    if (input_.options.group_by_kernel_count)
      columns.push_back({"num_kernels", Kind::kInteger, "", "GPU events of each call"});
    add_recompute_column(columns, input_);
    columns.insert(
        columns.end(),
        {{"GFLOPS_first", Kind::kReal, "GFLOP", "floating-point operations of one call, in 10^9"},
         {"Data Moved (MB)_first", Kind::kReal, "MiB", "bytes one call has to read and write"},
         {"FLOPS/Byte_first", Kind::kReal, "", "arithmetic intensity"}});
    add_stats("TB/s", "TB/s", " of the memory rate reached");
    add_stats("TFLOPS/s", "TFLOP/s", " of the compute rate reached");
    columns.insert(columns.end(),
                   {{"process_name_first", Kind::kText, "", "process of the first call"},
                    {"process_label_first", Kind::kText, "", "label of that process"},
                    {"thread_name_first", Kind::kText, "", "thread of the first call"},
                    {"Compute Spec", Kind::kText, "", "which peak rate of the GPU applies"}});
    if (any_roof_) {
      columns.insert(columns.end(),
                     {{"Roofline Time (µs)_first", Kind::kReal, "µs",
                       "best time the GPU could do one call in"},
                      {"Roofline Bound_first", Kind::kText, "", "what limits the call at best"}});
      add_stats("Pct Roofline", "%", " share of the best time in the time it took");
    }
    add_kernel_columns(columns, "kernel_details__summarize_kernel_stats");
    if (with_overlap_)
      add_overlap_detail_columns(columns, "overlapping_kernels_details__summarize_kernel_stats");
    columns.insert(
        columns.end(),
        {{"Input Dims_first", Kind::kNested, "", "shapes of the first call's arguments"},
         {"Input type_first", Kind::kNested, "", "element types of the first call's arguments"},
         {"Input Strides_first", Kind::kNested, "", "strides of the first call's arguments"},
         {"Concrete Inputs_first", Kind::kNested, "", "scalar arguments of the first call"}});
    add_stats("Kernel Time (µs)", "µs", " GPU busy time of a call");
    columns.insert(
        columns.end(),
        {{"Kernel Time (µs)_sum", Kind::kReal, "µs", "GPU busy time of all calls"},
         {"name_count", Kind::kInteger, "", "calls in the group"},
         {"UID_first", Kind::kInteger, "id", "position in the trace of the first call"}});
    return columns;
  }

  void add_row(RowCells& row, const std::vector<std::string>& params, const Sheet& sheet,
               std::uint32_t group) {
    const std::span<const std::uint32_t> members = sheet.members(group);
    const OpRow& example = sheet.first(group);
    busy_.clear();
    rates_.clear();
    shares_.clear();
    kernels_.clear();
    partners_.clear();
    for (const std::uint32_t at : members) {
      const OpRow& op = sheet.row(at);
      busy_.push_back(op.busy_ns);
      rates_.add(op);
      input_.ops.add_kernels(op, kernels_);
      if (with_overlap_) {
        partners_.add(sheet.overlap(at).partners);
        if (sheet.overlap(at).share) shares_.push_back(*sheet.overlap(at).share);
      }
    }
    const auto add_stats = [&](const GroupStats& stats) {
      for (const Stat stat : kStats) row.add(stats.*stat);
    };

    row.add(trace_.name(example.event));
    if (with_overlap_) row.add(input_.overlaps->names(sheet.overlap(members.front()).names));
    add_params(row, params, *input_.models[example.answer]);
    if (input_.options.group_by_kernel_count) row.add(std::int64_t{example.count});
    if (input_.recompute) row.add(input_.is_recompute(example.node));
    const Rates::Figures& figures = rates_.figures(example.answer);
    row.add(figures.gflops);
    row.add(figures.megabytes);
    row.add(figures.flops_per_byte);
    add_stats(rates_.terabytes());
    add_stats(rates_.tflops());
    TrackNames& tracks = input_.launches.track_names();
    const TrackNames::Names& names = tracks.names(tracks.id_of(trace_.tracks()[example.event.row]));
    row.add(names.process);
    row.add(names.process_label);
    row.add(names.thread);
    row.add(figures.compute_spec);
    if (any_roof_) {
      row.add(figures.roof ? std::optional{figures.roof->best_us} : std::nullopt);
      row.add(figures.roof ? std::optional{perf::bound_name(figures.roof->bound)} : std::nullopt);
      add_stats(rates_.percent_of_roof());
    }
    row.add(kernels_.cell());
    row.add(kernels_.short_cell());
    if (with_overlap_) {
      row.add(partners_.cell());
      row.add(partners_.short_cell());
      add_overlap_shares(row, shares_);
    }
    for (const auto part :
         {&Signature::dims, &Signature::types, &Signature::strides, &Signature::concrete})
      row.add(first_argument(sheet, members, part));
    const GroupStats busy = stats_of_ns(busy_);
    add_stats(busy);
    row.add(busy.sum);
    row.add(static_cast<std::int64_t>(members.size()));
    row.add(std::int64_t{example.event.row});
  }

  static void add_params(RowCells& row, const std::vector<std::string>& params,
                         const perf::Work& work) {
    for (const std::string& name : params) {
      const auto found = std::ranges::find(work.params, name, &perf::Param::name);
      row.add(found == work.params.end() ? Value{} : found->value);
    }
  }

  // Of the first call that has it.
  Value first_argument(const Sheet& sheet, std::span<const std::uint32_t> members,
                       Value Signature::*part) const {
    for (const std::uint32_t at : members) {
      const SignatureId id = trace_.signatures()[sheet.row(at).event.row];
      if (id.valid() && !(trace_.signature(id).*part).is_null())
        return as_list(trace_.signature(id).*part);
    }
    return {};
  }

  OpInput& input_;
  const Trace& trace_;
  Rates& rates_;
  bool with_overlap_, any_roof_ = false;
  KernelStats kernels_, partners_;
  std::vector<std::int64_t> busy_;
  std::vector<double> shares_;
};

bool belongs_on_backward_sheet(const OpInput& input, std::string_view name) {
  if (is_one_of(kBackwardOps, name)) return true;
  if (input.options.edition == Edition::kReference) return false;
  const perf::OpInfo* op = perf::find_op(name, input.options.edition);
  return op != nullptr && op->category.ends_with("_bwd");
}

class FamilySheets {
 public:
  FamilySheets(OpInput& input, Rates& rates, std::string_view family,
               std::span<const EventId> events)
      : input_{input},
        rates_{rates},
        family_{family},
        is_single_{is_one_of(kSingleSheets, family)} {
    for (const EventId event : events) {
      const OpRow row = input.ops.forward(event);
      if (input.models[row.answer]) forward_.push_back(row);
      if (is_single_ || input.trace.name(event) == kForwardOnly ||
          input.tree.backward_of(event).empty())
        continue;
      const OpRow backward = input.ops.backward(event);
      if (input.models[backward.answer]) backward_.push_back(backward);
    }
  }

  void add_to(std::vector<Table>& tables, bool with_overlap) {
    Sheet forward{input_, with_overlap}, backward{input_, with_overlap};
    for (const OpRow& row : forward_) forward.add(row);
    for (const OpRow& row : backward_) backward.add(row);
    forward.close();
    backward.close();

    std::vector<Entry> front, back;
    for (const std::uint32_t group : backward.order())
      if (!is_one_of(kBackwardRecorded, backward.name(group))) back.push_back({&backward, group});
    std::vector<std::string> back_params = backward.params();
    for (const std::uint32_t group : forward.order()) {
      const bool moves = !is_single_ && belongs_on_backward_sheet(input_, forward.name(group));
      (moves ? back : front).push_back({&forward, group});
      if (moves)
        for (const std::string& param : forward.params())
          if (std::ranges::find(back_params, param) == back_params.end())
            back_params.push_back(param);
    }
    const auto add = [&](const char* suffix, const std::vector<std::string>& params,
                         std::span<const Entry> entries) {
      if (entries.empty()) return;
      SheetTable maker{input_, rates_, with_overlap};
      tables.push_back(maker.make(std::string{family_} + suffix, params, entries));
      if (input_.options.top_sheet_rows) tables.back().keep_first(*input_.options.top_sheet_rows);
    };
    add(is_single_ ? "" : "_fwd", forward.params(), front);
    add("_bwd", back_params, back);
  }

 private:
  OpInput& input_;
  Rates& rates_;
  std::string_view family_;
  bool is_single_;
  std::vector<OpRow> forward_, backward_;
};

}  // namespace

std::vector<Table> category_sheets(OpInput& input) {
  std::vector<Table> tables;
  Rates rates{input.models, input.options.gpu, input.options.peaks};
  for (const Population& population : find_population(input)) {
    if (population.events.empty()) continue;
    FamilySheets sheets{input, rates, population.family, population.events};
    sheets.add_to(tables, false);
    if (input.options.overlap) sheets.add_to(tables, true);
  }
  return tables;
}

}  // namespace tracelens
