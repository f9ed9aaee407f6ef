#include "analysis/ops/category_sheets.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <unordered_map>
#include <utility>

#include "analysis/kit/timed_groups.hpp"
#include "analysis/ops/group_columns.hpp"
#include "analysis/ops/rates.hpp"
#include "analysis/ops/row_makers.hpp"
#include "io/parallel.hpp"
#include "perf/registry/sheets.hpp"

namespace tracelens {
namespace {

// Where backward work is listed is a fact of the op, whether the user has a model of their own or
// not.
perf::BackwardWork backward_work(const OpInput& input, std::string_view name) {
  const perf::OpInfo* op = perf::find_op(name, input.options.edition);
  return op == nullptr ? perf::BackwardWork::kLinked : op->backward_work;
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
  for (const perf::SheetInfo& sheet : perf::sheets(input.options.edition))
    families.push_back({sheet.name, {}});
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

// The rows of one pass over a family, grouped; the groups of one op and its parameters together.
class Sheet {
 public:
  Sheet(OpInput& input, bool with_overlap) : input_{input}, with_overlap_{with_overlap} {}

  // Takes a row whose model answered.
  void add(const OpRow& row) {
    const GroupKey key{input_.trace.names()[row.event.row].row,
                       params_id(row.answer, *input_.models[row.answer]),
                       input_.options.group_by_kernel_count ? row.count : 0U,
                       input_.is_recompute(row.node) ? 1U : 0U};
    if (with_overlap_) {
      const Launcher* launcher = input_.launches.launcher(row.node);
      overlaps_.push_back(launcher == nullptr
                              ? OverlapFields{}
                              : input_.overlaps->of(input_.launches.own_in_file_order(*launcher)));
      groups_.add(key, overlaps_.back().names);
    } else {
      groups_.add(key);
    }
    rows_.push_back(row);
  }

  void close() {
    groups_.close([&](std::uint32_t row) { return rows_[row].busy_ns; },
                  [&](std::uint32_t row) { return rows_[row].event.row; });
  }

  [[nodiscard]] std::span<const std::uint32_t> order() const { return groups_.order(); }
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t group) const {
    return groups_.rows(group);
  }
  [[nodiscard]] const OpRow& row(std::uint32_t index) const { return rows_[index]; }
  [[nodiscard]] const OverlapFields& overlap(std::uint32_t index) const { return overlaps_[index]; }
  [[nodiscard]] std::string_view name(std::uint32_t group) const {
    return input_.trace.name(rows_[groups_.first(group)].event);
  }
  // Parameters of all rows in the order they first appear.
  [[nodiscard]] const std::vector<std::string>& params() const { return params_; }

 private:
  std::uint32_t params_id(OpModels::Answer answer, const Work& work) {
    constexpr std::uint32_t kNew = 0xffffffff;
    if (answer >= params_of_.size()) params_of_.resize(input_.models.size(), kNew);
    std::uint32_t& id = params_of_[answer];
    if (id != kNew) return id;
    std::string text;
    for (const Param& param : work.params) {
      if (std::ranges::find(params_, param.name) == params_.end()) params_.push_back(param.name);
      if (!param.value.is_null()) text += param.name + '\0' + param_text(param.value) + '\0';
    }
    id = param_texts_.try_emplace(std::move(text), static_cast<std::uint32_t>(param_texts_.size()))
             .first->second;
    return id;
  }

  OpInput& input_;
  bool with_overlap_;
  std::vector<OpRow> rows_;
  std::vector<OverlapFields> overlaps_;  // by row
  TimedGroups groups_;
  std::vector<std::string> params_;
  std::vector<std::uint32_t> params_of_;  // by answer
  std::unordered_map<std::string, std::uint32_t> param_texts_;
};

// A group and the sheet it comes from.
struct Entry {
  const Sheet* sheet;
  std::uint32_t group;
};

struct SheetRow : OpGroupRow {
  using OpGroupRow::OpGroupRow;
  const Sheet* sheet = nullptr;
  std::span<const std::uint32_t> members = {};
  std::int64_t kernel_count = 0;
  const Work* work = nullptr;
  const Figures* figures = nullptr;
  GroupStats busy = {}, terabytes = {}, tflops = {}, percent_of_roof = {};

  [[nodiscard]] const Roof* roof() const { return figures->roof ? &*figures->roof : nullptr; }
  [[nodiscard]] Value param(const std::string& wanted) const {
    const auto found = std::ranges::find(work->params, wanted, &Param::name);
    return found == work->params.end() ? Value{} : found->value;
  }
  // Of the first call that has it.
  [[nodiscard]] Value argument(Value Signature::*part) const {
    for (const std::uint32_t at : members) {
      const SignatureId id = input.trace.signatures()[sheet->row(at).event.row];
      if (id.valid() && !(input.trace.signature(id).*part).is_null())
        return as_list(input.trace.signature(id).*part);
    }
    return {};
  }
};

class SheetTable {
 public:
  SheetTable(OpInput& input, const WorkFigures& figures, std::span<const Entry> entries,
             bool with_overlap)
      : input_{input}, figures_{figures}, entries_{entries}, with_overlap_{with_overlap} {}

  Table make(const std::string& name, const std::vector<std::string>& params) {
    any_roof_ = std::ranges::any_of(entries_, [&](const Entry& entry) {
      return std::ranges::any_of(entry.sheet->members(entry.group), [&](std::uint32_t row) {
        return figures_.known(entry.sheet->row(row).answer).roof.has_value();
      });
    });
    ColumnSet<SheetRow> columns = make_columns(params);
    Table table = columns.make_table(
        name + (with_overlap_ ? "_kl_overlap" : ""),
        "Work and rates of the " + name + " ops by parameters, the costliest first");
    append_rows(table, columns, entries_.size(), list_rooms(), with_overlap_ ? 1 : input_.threads,
                [this] { return Maker{*this}; });
    return table;
  }

 private:
  // Makes rows, one at a time.
  class Maker {
   public:
    explicit Maker(const SheetTable& table)
        : table_{table},
          input_{table.input_},
          rates_{table.input_.models, table.figures_},
          row_{table.input_} {}

    SheetRow& make(std::size_t i);

   private:
    const SheetTable& table_;
    OpInput& input_;
    Rates rates_;
    SheetRow row_;
    std::vector<std::int64_t> busy_;
  };

  // Fills kernel_rooms_, and says how many calls the rows are about.
  std::size_t list_rooms() {
    std::size_t calls = 0;
    KernelRoom room{input_.kernels_per_table()};
    for (const Entry& entry : entries_) {
      const std::span<const std::uint32_t> members = entry.sheet->members(entry.group);
      calls += members.size();
      kernel_rooms_.push_back(room.next(members, [&](std::uint32_t at) {
        return input_.ops.kernels(entry.sheet->row(at)).size();
      }));
    }
    return calls;
  }

  // `params` must outlive the columns.
  [[nodiscard]] ColumnSet<SheetRow> make_columns(const std::vector<std::string>& params) const {
    using Row = SheetRow;
    ColumnSet<Row> columns{{{"name", Kind::kText, "", "op name as traced"}, &Row::name},
                           {{"overlapping_kernel_names_first", Kind::kNested, "",
                             "kernels of other streams that ran at the same time"},
                            &Row::overlap_names,
                            with_overlap_}};
    for (const std::string& param : params)
      columns.add({"param: " + param, Kind::kNested, "", "parameter of the model"},
                  [&param](const Row& row) { return row.param(param); });
    columns.add({"num_kernels", Kind::kInteger, "", "GPU events of each call"}, &Row::kernel_count,
                input_.options.group_by_kernel_count);
    add_recompute_column(columns, input_);
    columns.add(
        {{{"GFLOPS_first", Kind::kReal, "GFLOP", "floating-point operations of one call, in 10^9"},
          [](const Row& row) { return row.figures->gflops; }},
         {{"Data Moved (MB)_first", Kind::kReal, "MiB", "bytes one call has to read and write"},
          [](const Row& row) { return row.figures->megabytes; }},
         {{"FLOPS/Byte_first", Kind::kReal, "", "arithmetic intensity"},
          [](const Row& row) { return row.figures->flops_per_byte; }}});
    add_stat_columns(columns, &Row::terabytes, kAllStats, "TB/s", "TB/s",
                     " of the memory rate reached");
    add_stat_columns(columns, &Row::tflops, kAllStats, "TFLOPS/s", "TFLOP/s",
                     " of the compute rate reached");
    columns.add(
        {{{"process_name_first", Kind::kText, "", "process of the first call"},
          [](const Row& row) { return row.track().process; }},
         {{"process_label_first", Kind::kText, "", "label of that process"},
          [](const Row& row) { return row.track().process_label; }},
         {{"thread_name_first", Kind::kText, "", "thread of the first call"},
          [](const Row& row) { return row.track().thread; }},
         {{"Compute Spec", Kind::kText, "", "which peak rate of the GPU applies"},
          [](const Row& row) { return row.figures->compute_spec; }},
         {{"Roofline Time (µs)_first", Kind::kReal, "µs", "best time the GPU could do one call in"},
          [](const Row& row) { return best_us_of(row.roof()); },
          any_roof_},
         {{"Roofline Bound_first", Kind::kText, "", "what limits the call at best"},
          [](const Row& row) { return bound_of(row.roof()); },
          any_roof_}});
    add_stat_columns(columns, &Row::percent_of_roof, kAllStats, "Pct Roofline", "%",
                     " share of the best time in the time it took", any_roof_);
    add_kernel_columns(columns, "kernel_details__summarize_kernel_stats");
    add_overlap_columns(columns, "overlapping_kernels_details__summarize_kernel_stats",
                        with_overlap_);
    columns.add(
        {{{"Input Dims_first", Kind::kNested, "", "shapes of the first call's arguments"},
          [](const Row& row) { return row.argument(&Signature::dims); }},
         {{"Input type_first", Kind::kNested, "", "element types of the first call's arguments"},
          [](const Row& row) { return row.argument(&Signature::types); }},
         {{"Input Strides_first", Kind::kNested, "", "strides of the first call's arguments"},
          [](const Row& row) { return row.argument(&Signature::strides); }},
         {{"Concrete Inputs_first", Kind::kNested, "", "scalar arguments of the first call"},
          [](const Row& row) { return row.argument(&Signature::concrete); }}});
    add_stat_columns(columns, &Row::busy, kAllStats, "Kernel Time (µs)", "µs",
                     " GPU busy time of a call");
    columns.add({{{"Kernel Time (µs)_sum", Kind::kReal, "µs", "GPU busy time of all calls"},
                  [](const Row& row) { return row.busy.sum; }},
                 {{"name_count", Kind::kInteger, "", "calls in the group"}, &Row::calls},
                 {{"UID_first", Kind::kInteger, "id", "position in the trace of the first call"},
                  &Row::position}});
    return columns;
  }

  OpInput& input_;
  const WorkFigures& figures_;
  std::span<const Entry> entries_;
  bool with_overlap_, any_roof_ = false;
  std::vector<std::size_t> kernel_rooms_;  // by entry
};

SheetRow& SheetTable::Maker::make(std::size_t i) {
  const auto& [sheet, group] = table_.entries_[i];
  row_.sheet = sheet;
  row_.members = sheet->members(group);
  row_.calls = std::ssize(row_.members);
  const OpRow& first = sheet->row(row_.members.front());
  row_.start(first.event, first.node);
  row_.kernels.set_room(table_.kernel_rooms_[i]);
  row_.kernel_count = first.count;
  row_.work = &*input_.models[first.answer];
  busy_.clear();
  rates_.clear();
  for (const std::uint32_t at : row_.members) {
    const OpRow& op = sheet->row(at);
    busy_.push_back(op.busy_ns);
    rates_.add(op);
    input_.ops.add_kernels(op, row_.kernels);
    if (table_.with_overlap_) row_.add_overlap(sheet->overlap(at));
  }
  row_.busy = stats_of_ns(busy_);
  row_.terabytes = rates_.terabytes();
  row_.tflops = rates_.tflops();
  if (table_.any_roof_) row_.percent_of_roof = rates_.percent_of_roof();
  if (table_.with_overlap_) row_.overlap_pct = rounded_stats(row_.overlap_shares);
  row_.figures = &table_.figures_.known(first.answer);
  return row_;
}

// Recorded backward ops. The reference knows only those marked so; its other ones stay on the
// forward sheet (its oddity O7), the extended edition goes by category.
bool belongs_on_backward_sheet(const OpInput& input, std::string_view name) {
  if (backward_work(input, name) == perf::BackwardWork::kIsOp) return true;
  if (input.options.edition == Edition::kReference) return false;
  const perf::OpInfo* op = perf::find_op(name, input.options.edition);
  return op != nullptr && op->category.ends_with("_bwd");
}

// Of a family the user's own models made up: as most are.
perf::SheetInfo sheet_of(std::string_view family) {
  const perf::SheetInfo* sheet = perf::find_sheet(family);
  return sheet == nullptr ? perf::SheetInfo{} : *sheet;
}

class FamilySheets {
 public:
  FamilySheets(OpInput& input, WorkFigures& figures, std::string_view family,
               std::span<const EventId> events)
      : input_{input},
        figures_{figures},
        family_{family},
        is_single_{sheet_of(family).passes == perf::SheetInfo::Passes::kOneSheet},
        forward_only_{input.options.inference} {
    for (const EventId event : events) {
      const OpRow row = input.ops.forward(event);
      add(row, forward_, figures);
      if (is_single_ || forward_only_ || input.tree.backward_of(event).empty() ||
          backward_work(input, input.trace.name(event)) == perf::BackwardWork::kNone)
        continue;
      add(input.ops.backward(event), backward_, figures);
    }
  }

  // The sheets of other families may be made at the same time, unless what overlaps is asked for.
  [[nodiscard]] std::vector<Table> make() const {
    std::vector<Table> tables;
    add_to(tables, false);
    if (input_.options.overlap) add_to(tables, true);
    return tables;
  }

 private:
  void add(const OpRow& row, std::vector<OpRow>& rows, WorkFigures& figures) const {
    if (!input_.models[row.answer]) return;
    (void)figures.of(row.answer);  // known by the time several threads ask
    rows.push_back(row);
  }

  void add_to(std::vector<Table>& tables, bool with_overlap) const {
    Sheet forward{input_, with_overlap}, backward{input_, with_overlap};
    for (const OpRow& row : forward_) forward.add(row);
    for (const OpRow& row : backward_) backward.add(row);
    forward.close();
    backward.close();

    std::vector<Entry> front, back;
    for (const std::uint32_t group : backward.order())
      if (backward_work(input_, backward.name(group)) != perf::BackwardWork::kRecorded)
        back.push_back({&backward, group});
    std::vector<std::string> back_params = backward.params();
    for (const std::uint32_t group : forward.order()) {
      const bool moves =
          !is_single_ && !forward_only_ && belongs_on_backward_sheet(input_, forward.name(group));
      (moves ? back : front).push_back({&forward, group});
      if (moves)
        for (const std::string& param : forward.params())
          if (std::ranges::find(back_params, param) == back_params.end())
            back_params.push_back(param);
    }
    const auto add = [&](const char* suffix, const std::vector<std::string>& params,
                         std::span<const Entry> entries) {
      if (entries.empty()) return;
      SheetTable maker{input_, figures_, entries, with_overlap};
      tables.push_back(maker.make(std::string{family_} + suffix, params));
      if (input_.options.top_sheet_rows) tables.back().keep_first(*input_.options.top_sheet_rows);
    };
    const bool names_pass = forward_only_ && sheet_of(family_).names_pass_in_inference;
    add(is_single_ && !names_pass ? "" : "_fwd", forward.params(), front);
    add("_bwd", back_params, back);
  }

  OpInput& input_;
  const WorkFigures& figures_;
  std::string_view family_;
  bool is_single_, forward_only_;
  std::vector<OpRow> forward_, backward_;
};

}  // namespace

std::vector<Table> category_sheets(OpInput& input) {
  const std::vector<Population> populations = find_population(input);
  WorkFigures figures{input.models, input.options.gpu, input.options.peaks};
  std::vector<std::optional<FamilySheets>> families(populations.size());
  std::vector<std::vector<Table>> made(populations.size());
  std::size_t calls = 0;
  for (const Population& population : populations) calls += population.events.size();
  const int threads = input.options.overlap || calls < io::kManyItems ? 1 : input.threads;
  const auto make = [&](std::size_t i) {
    if (families[i]) made[i] = families[i]->make();
    families[i].reset();
  };
  for (std::size_t i = 0; i < populations.size(); ++i) {
    const auto& [family, events] = populations[i];
    if (!events.empty()) families[i].emplace(input, figures, family, events);
    if (threads == 1) make(i);
  }
  if (threads > 1) io::for_each_part(threads, populations.size(), make);
  std::vector<Table> tables;
  for (std::vector<Table>& of_family : made)
    std::ranges::move(of_family, std::back_inserter(tables));
  return tables;
}

}  // namespace tracelens
