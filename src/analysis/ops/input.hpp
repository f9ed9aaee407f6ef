// input.hpp: what every op table starts from, built once per report, and the options they share.
//   OpInput input{facts, {.edition = Edition::kReference}};
//   const std::optional<Table> table = ops_summary(input);
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>

#include "analysis/gpu/recompute.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/ops/launch_table.hpp"
#include "analysis/ops/measured_ops.hpp"
#include "analysis/ops/op_models.hpp"
#include "analysis/ops/overlap.hpp"
#include "facts/trace_facts.hpp"
#include "perf/core/gpu.hpp"
#include "perf/core/roofline.hpp"
#include "perf/registry/model_set.hpp"
#include "perf/registry/op_registry.hpp"

namespace tracelens {

struct OpTableOptions {
  // kReference also keeps what spreadsheets made with the Python TraceLens rely on.
  Edition edition = Edition::kReference;
  const perf::UserModels* own_models = nullptr;  // the user's own, asked first; not owned
  // Rows of their own for recomputed work (column is_recompute). Needs a tree with Python frames.
  bool split_recompute = false;
  bool overlap = false;     // also the tables that tell what ran beside each op
  bool call_stack = false;  // columns of unified_perf_summary; needs a tree with Python frames
  bool group_by_kernel_count = false;       // ops that launched another number of kernels apart
  bool first_occurrence = false;            // column first_occurrence_time of ops_unique_args
  bool include_unlinked = false;            // GPU events without a launch take part in overlaps
  std::optional<std::size_t> top_ops = {};  // rows of ops_unique_args
  std::optional<std::size_t> top_sheet_rows = {};  // rows of each category sheet
  const perf::Gpu* gpu = nullptr;                  // roofline columns; not owned
  perf::Peaks peaks = perf::Peaks::kDatasheet;
};

struct OpInput {
  OpInput(const TraceFacts& facts, const OpTableOptions& a_options);  // refers to the facts
  OpInput(const OpInput&) = delete;
  OpInput& operator=(const OpInput&) = delete;

  [[nodiscard]] bool is_recompute(NodeId node) const {
    return recompute && recompute->is_recompute(node);
  }

  const Trace& trace;
  const Tree& tree;
  const OpTableOptions options;
  LaunchTable launches;
  OpModels models;
  MeasuredOps ops;
  std::optional<RecomputeMarks> recompute;  // with OpTableOptions::split_recompute
  std::optional<Overlaps> overlaps;         // with OpTableOptions::overlap
};

// "name" to "Concrete Inputs": the columns that tell distinct calls apart, and their cells.
void add_call_columns(std::vector<ColumnSpec>& columns, bool with_overlap);
void add_call_cells(RowCells& row, OpInput& input, std::string_view name, EventId event,
                    std::uint32_t category, const OverlapFields* overlap);
void add_recompute_column(std::vector<ColumnSpec>& columns, const OpInput& input);

// The columns of KernelStats::cell() and short_cell().
void add_kernel_columns(std::vector<ColumnSpec>& columns, const char* cell_name);
void add_overlap_detail_columns(std::vector<ColumnSpec>& columns, const char* cell_name);

}  // namespace tracelens
