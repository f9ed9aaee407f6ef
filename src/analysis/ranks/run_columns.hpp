// run_columns.hpp: columns that the tables of collectives have in common.
//   struct Row { const CollectiveMessage* message; CollectiveMember member; std::int64_t rank; };
//   ColumnSet<Row> columns;
//   add_field_columns(columns, run, {kCollective, kDtype});      // of row.message
//   add_node_span_column(columns, run);                          // of row.member
// The run must outlive the columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/kit/column_set.hpp"
#include "analysis/ranks/aggregates.hpp"
#include "analysis/ranks/run.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

// --- of row.message ---
template <class Row>
void add_field_columns(ColumnSet<Row>& columns, const CollectiveRun& run,
                       std::initializer_list<CollectiveField> fields) {
  for (const CollectiveField field : fields)
    columns.add(run.column(field),
                [field](const Row& row) { return CollectiveRun::cell((*row.message)[field]); });
}

template <class Row>
void add_stream_column(ColumnSet<Row>& columns, const CollectiveRun& run) {
  columns.add(run.stream_column(),
              [](const Row& row) { return CollectiveRun::cell(row.message->stream); });
}

// "In msg size (MB)" or "Out msg size (MB)", and the suffix.
template <class Row>
void add_size_column(ColumnSet<Row>& columns, const CollectiveRun& run, CollectiveField elements,
                     const std::string& suffix = {}) {
  const bool is_sent = elements == CollectiveField::kInElements;
  columns.add({(is_sent ? "In msg size (MB)" : "Out msg size (MB)") + suffix, Kind::kReal, "MiB",
               is_sent ? "size of what each rank sends" : "size of what each rank receives"},
              [&run, elements](const Row& row) { return run.mib(*row.message, elements); });
}

// --- of a member of the row ---
template <class Row>
void add_time_column(ColumnSet<Row>& columns, const CollectiveRun& run, const char* name,
                     const char* description, std::int64_t Row::*ns) {
  columns.add({name, run.time_kind(), "µs", description},
              [&run, ns](const Row& row) { return run.time_cell(row.*ns); });
}

// The machine of row.rank, and whether the group of row.member is on one, where nodes are known.
template <class Row>
void add_node_id_column(ColumnSet<Row>& columns, const CollectiveRun& run) {
  columns.add(
      {"node_id", Kind::kInteger, "id", "machine the rank runs on"},
      [&run](const Row& row) { return run.node_of(row.rank); }, run.gpus_per_node().has_value());
}

template <class Row>
void add_node_span_column(ColumnSet<Row>& columns, const CollectiveRun& run) {
  columns.add(
      {"node_span", Kind::kText, "",
       "intra_node: all ranks of the group are on one machine; else inter_node"},
      [&run](const Row& row) { return run.node_span(row.member); },
      run.gpus_per_node().has_value());
}

// --- rows that stand for several collectives ---

// Collectives with the same key, and what they cost together.
template <class Item>
struct CostGroup {
  std::vector<const Item*> items = {};
  std::int64_t sum_ns = 0;
};

// The costliest group first; of equals, in the order of their keys.
template <class Item, class ComesBefore, class NsOf>
std::vector<CostGroup<Item>> cost_groups(std::span<const Item> items, ComesBefore comes_before,
                                         NsOf ns_of) {
  const auto by_key = [&](const Item* a, const Item* b) { return comes_before(*a, *b); };
  std::map<const Item*, CostGroup<Item>, decltype(by_key)> groups{by_key};
  for (const Item& item : items) {
    CostGroup<Item>& group = groups[&item];
    group.items.push_back(&item);
    group.sum_ns = plus_ns(group.sum_ns, std::invoke(ns_of, item));
  }
  std::vector<CostGroup<Item>> sorted;
  for (auto& [first, group] : groups) sorted.push_back(std::move(group));
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &CostGroup<Item>::sum_ns);
  return sorted;
}

// A figure of a collective that groups are summed up by.
template <class Item>
struct Metric {
  const char* name;
  const char* unit;
  double scale;  // units of the values per printed unit
  std::optional<double> (*of)(const Item& item);
};

// name_mean, name_p99, ... of row.group. Metric and aggregates must outlive the columns.
template <class Row, class Item>
void add_metric_columns(ColumnSet<Row>& columns, const Metric<Item>& metric,
                        std::span<const Aggregate> aggregates) {
  for (const Aggregate& how : aggregates)
    columns.add({std::string{metric.name} + "_" + how.name, Kind::kReal, metric.unit,
                 how.name + " of " + metric.name},
                [&metric, &how](const Row& row) {
                  std::vector<std::optional<double>> values;
                  for (const Item* item : row.group->items) values.push_back(metric.of(*item));
                  return aggregate(how, values, metric.scale);
                });
}

}  // namespace tracelens
