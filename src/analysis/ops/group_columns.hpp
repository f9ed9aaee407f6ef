// group_columns.hpp: what the tables of grouped ops have in common: the columns that tell distinct
// calls apart, the kernels of the group and those that ran at the same time.
//   struct Row : OpGroupRow { GroupStats busy; };
//   ColumnSet<Row> columns;
//   add_call_columns(columns, with_overlap);
//   Row row{input};
//   row.start(op.event, op.node, op.category);
//   for (each call) row.kernels.add(...), row.add_overlap(...);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/kit/column_set.hpp"
#include "analysis/ops/input.hpp"
#include "analysis/ops/kernel_stats.hpp"
#include "analysis/ops/overlap.hpp"

namespace tracelens {

// One group of ops; event, node and name are those of the first.
struct OpGroupRow {
  explicit OpGroupRow(OpInput& an_input)
      : input{an_input},
        kernels{input.trace, input.kernels_per_table()},
        partners{input.trace, input.kernels_per_table()} {}

  void start(EventId first_event, NodeId first_node, std::uint32_t first_category = 0);
  // What ran at the same time as a call of the group.
  void add_overlap(const OverlapFields& fields);

  [[nodiscard]] bool is_recompute() const { return input.is_recompute(node); }
  [[nodiscard]] const TrackNames::Names& track() const;
  [[nodiscard]] const Signature& arguments() const;
  [[nodiscard]] std::int64_t position() const { return event.row; }
  [[nodiscard]] Value overlap_names() const;
  [[nodiscard]] Value kernel_cell();
  [[nodiscard]] Value partner_cell();
  [[nodiscard]] std::string parent_module() const {
    return input.modules.text(input.modules.around(node));
  }
  [[nodiscard]] Value module_stack() const { return input.modules.stack(node); }

  OpInput& input;
  std::string name = {};
  EventId event = {};
  NodeId node = {};
  std::uint32_t category = 0;  // OpCategories::text()
  std::int64_t calls = 0;
  KernelStats kernels, partners;   // partners: those that ran at the same time
  std::vector<Value> stacks = {};  // shown with the kernels, one for each; usually none
  const OverlapFields* overlap = nullptr;
  std::vector<double> overlap_shares = {};
  GroupStats overlap_pct = {};
  RunningShare::Cells share = {};
};

// Statistics with two decimals, and a deviation of 0 for a single value. Reorders `shares`.
[[nodiscard]] GroupStats rounded_stats(std::vector<double>& shares);

inline const ColumnSpec kParentModule{"parent_module", Kind::kText, "",
                                      "class of the innermost nn.Module around the ops; NA: none"};

// "name" to "Concrete Inputs": the columns that tell distinct calls apart.
template <class Row>
void add_call_columns(ColumnSet<Row>& columns, bool with_overlap, bool with_module = false) {
  columns.add({{{"name", Kind::kText, "", "op name as traced"}, &Row::name},
               {{"overlapping_kernel_names", Kind::kNested, "",
                 "kernels of other streams that ran at the same time"},
                &Row::overlap_names,
                with_overlap},
               {{"op category", Kind::kText, "", "what kind of work the op does"},
                [](const Row& row) { return row.input.categories.text(row.category); }},
               {kParentModule, &Row::parent_module, with_module},
               {{"process_name", Kind::kText, "", "process the op ran in"},
                [](const Row& row) { return row.track().process; }},
               {{"process_label", Kind::kText, "", "label of that process"},
                [](const Row& row) { return row.track().process_label; }},
               {{"thread_name", Kind::kText, "", "thread the op ran on"},
                [](const Row& row) { return row.track().thread; }},
               {{"Input Dims", Kind::kNested, "", "shapes of the arguments"},
                [](const Row& row) { return row.arguments().dims; }},
               {{"Input type", Kind::kNested, "", "element types of the arguments"},
                [](const Row& row) { return row.arguments().types; }},
               {{"Input Strides", Kind::kNested, "", "strides of the arguments, in elements"},
                [](const Row& row) { return row.arguments().strides; }},
               {{"Concrete Inputs", Kind::kNested, "", "values of the scalar arguments"},
                [](const Row& row) { return row.arguments().concrete; }}});
}

template <class Row>
void add_recompute_column(ColumnSet<Row>& columns, const OpInput& input) {
  columns.add({"is_recompute", Kind::kBool, "",
               "done again in the backward pass by activation checkpointing"},
              &Row::is_recompute, input.recompute.has_value());
}

// The kernels in full and in short.
template <class Row>
void add_kernel_columns(ColumnSet<Row>& columns, const char* name) {
  columns.add({{{name, Kind::kNested, "",
                 "GPU work of each call by position: count and durations over the group"},
                &Row::kernel_cell},
               {{"trunc_kernel_details", Kind::kNested, "",
                 "the same in short: name, stream, mean duration"},
                [](Row& row) { return row.kernels.short_cell(); }}});
}

template <class Row>
void add_overlap_columns(ColumnSet<Row>& columns, const char* name, bool when) {
  columns.add({{{name, Kind::kNested, "",
                 "kernels that ran at the same time, with durations over the group"},
                &Row::partner_cell,
                when},
               {{"trunc_overlapping_kernels_details", Kind::kNested, "",
                 "the same in short: name, stream, mean duration"},
                [](Row& row) { return row.partners.short_cell(); },
                when}});
  add_stat_columns(columns, static_cast<GroupStats Row::*>(&Row::overlap_pct), kAllStats,
                   "overlap_pct", "",
                   " share of the op's GPU time in which another stream was busy (0 to 1)", when);
}

}  // namespace tracelens
