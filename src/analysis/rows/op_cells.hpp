// op_cells.hpp: what the rows of single ops have in common: whose call it was, the kernels it
// launched, and those that ran at the same time.
//   struct Row : SingleOp { std::int64_t busy_ns = 0; };
//   ColumnSet<Row> columns;
//   add_argument_columns(columns);
//   Row row{{input, cells}};
//   row.event = op.event, row.node = op.node;
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/rows.hpp>
#include <tracelens/table.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/kit/column_set.hpp"
#include "analysis/ops/input.hpp"
#include "analysis/ops/overlap.hpp"
#include "analysis/ops/shared_stacks.hpp"

namespace tracelens {

[[nodiscard]] OpTableOptions op_table_options(const RowOptions& options);

// A time as a double of microseconds: the nearest there is, whatever the clock. None: kAbsent.
[[nodiscard]] std::optional<double> exact_us(std::int64_t ns);

// Values that many cells hold are made once.
class OpCells {
 public:
  explicit OpCells(OpInput& input) : input_{input}, stacks_{input.trace, input.tree} {}

  // All cells of a table together list so many kernels and no more (OpInput::kernels_per_table()):
  // where ops are nested without end, each of them has the kernels of all below.
  void start_table() { listed_ = 0; }

  // A dict for each: name, dur, stream, and its position where asked for; then its call stack, where
  // these are given.
  [[nodiscard]] Value kernels(std::span<const GpuPosition> positions, bool with_uid,
                              std::vector<Value> call_stacks = {});
  [[nodiscard]] SharedStacks& stacks() { return stacks_; }
  // The same of those that ran at the same time, with overlap_pct; null when there are none.
  [[nodiscard]] Value partners(const OverlapFields& overlap);
  [[nodiscard]] Value partner_names(std::uint32_t names);
  // A member of what the trace keeps of an event's other arguments; null when it has none, or the
  // event is invalid.
  [[nodiscard]] Value detail(EventId event, std::string_view key);

 private:
  const Value& name(StringId id);
  [[nodiscard]] bool has_room(std::size_t kernels);

  OpInput& input_;
  SharedStacks stacks_;
  std::size_t listed_ = 0;  // kernels in the cells of the table at hand
  std::unordered_map<std::uint32_t, Value> names_, partner_names_, details_;
};

// One op. A cell of a pid is what the file has: a number or a word.
struct SingleOp {
  OpInput& input;
  OpCells& cells;
  EventId event = {};
  NodeId node = {};  // invalid: not in the tree
  std::uint32_t category = 0;
  OverlapFields overlap = {};

  [[nodiscard]] std::string_view name() const { return input.trace.name(event); }
  [[nodiscard]] std::string_view category_text() const { return input.categories.text(category); }
  [[nodiscard]] std::int64_t position() const { return event.row; }
  [[nodiscard]] Cell pid() const { return id_cell(&Track::pid); }
  [[nodiscard]] Cell tid() const { return id_cell(&Track::tid); }
  [[nodiscard]] std::optional<std::int64_t> external_id() const {
    return input.trace.external_ids().at(event);
  }
  [[nodiscard]] const TrackNames::Names& track() const {
    TrackNames& names = input.tracks;
    return names.names(names.id_of(input.trace.tracks()[event.row]));
  }
  [[nodiscard]] const Signature& arguments() const;
  [[nodiscard]] bool is_recompute() const { return input.is_recompute(node); }

 private:
  [[nodiscard]] Cell id_cell(Value Track::*id) const;
};

// Numbers as long as no process or thread of these events has a word for a name.
[[nodiscard]] Kind kind_of_ids(const Trace& trace, std::span<const EventId> events);

template <class Row>
void add_id_columns(ColumnSet<Row>& columns, Kind kind, bool when = true) {
  columns.add({{{"pid", kind, "id", "process"}, [](const Row& row) { return row.pid(); }, when},
               {{"tid", kind, "id", "thread"}, [](const Row& row) { return row.tid(); }, when}});
}

template <class Row>
void add_track_columns(ColumnSet<Row>& columns) {
  columns.add({{{"process_name", Kind::kText, "", "process the op ran in"},
                [](const Row& row) { return std::string_view{row.track().process}; }},
               {{"process_label", Kind::kText, "", "label of that process"},
                [](const Row& row) { return std::string_view{row.track().process_label}; }},
               {{"thread_name", Kind::kText, "", "thread the op ran on"},
                [](const Row& row) { return std::string_view{row.track().thread}; }}});
}

template <class Row>
void add_overlap_cells(ColumnSet<Row>& columns) {
  columns.add({{{"overlapping_kernel_names", Kind::kNested, "",
                 "kernels of other streams that ran at the same time"},
                [](const Row& row) { return row.cells.partner_names(row.overlap.names); }},
               {{"overlapping_kernels_details", Kind::kNested, "",
                 "of each of these names: mean duration, stream, share of the op's GPU time"},
                [](const Row& row) { return row.cells.partners(row.overlap); }},
               {{"overlap_pct", Kind::kReal, "",
                 "share of the op's GPU time in which another stream was busy (0 to 1)"},
                [](const Row& row) { return row.overlap.share; }}});
}

template <class Row>
void add_recompute_cell(ColumnSet<Row>& columns, const OpInput& input) {
  columns.add(
      {"is_recompute", Kind::kBool, "",
       "done again in the backward pass by activation checkpointing"},
      [](const Row& row) { return row.is_recompute(); }, input.recompute.has_value());
}

// The four arguments; `Of` makes the cell of one.
template <class Row, class Of>
void add_argument_columns(ColumnSet<Row>& columns, Of of, bool when = true) {
  columns.add({{{"Input Dims", Kind::kNested, "", "shapes of the arguments"},
                [of](const Row& row) { return of(row.arguments().dims); },
                when},
               {{"Input type", Kind::kNested, "", "element types of the arguments"},
                [of](const Row& row) { return of(row.arguments().types); },
                when},
               {{"Input Strides", Kind::kNested, "", "strides of the arguments, in elements"},
                [of](const Row& row) { return of(row.arguments().strides); },
                when},
               {{"Concrete Inputs", Kind::kNested, "", "values of the scalar arguments"},
                [of](const Row& row) { return of(row.arguments().concrete); },
                when}});
}

}  // namespace tracelens
