// rows.cpp: what the tables of single ops share.
#include <tracelens/rows.hpp>

#include "analysis/gpu/timeline.hpp"
#include "analysis/rows/op_cells.hpp"
#include "analysis/rows/tables.hpp"

namespace tracelens {

struct OpRows::Shared {
  Shared(const Trace& trace, const Tree& tree, const RowOptions& options)
      : facts{trace, tree}, input{facts, op_table_options(options)}, cells{input} {}

  TraceFacts facts;
  OpInput input;
  OpCells cells;
};

OpRows::OpRows(const Trace& trace, const Tree& tree, const RowOptions& options)
    : shared_{std::make_unique<Shared>(trace, tree, options)} {}
OpRows::OpRows(OpRows&&) noexcept = default;
OpRows& OpRows::operator=(OpRows&&) noexcept = default;
OpRows::~OpRows() = default;

Table OpRows::timeline(std::optional<std::int64_t> micro_idle_us) {
  const OpTableOptions& options = shared_->input.options;
  return gpu_timeline(shared_->facts, {.include_unlinked = options.include_unlinked,
                                       .micro_idle_threshold_us = micro_idle_us,
                                       .split_recompute = options.split_recompute})
      .table;
}

Table OpRows::launchers(const LauncherColumns& columns) {
  return launcher_rows(shared_->input, shared_->cells, columns);
}

Table OpRows::kernels(const KernelColumns& columns) {
  return kernel_rows(shared_->facts, shared_->input, shared_->cells, columns);
}

Table OpRows::unified(const UnifiedColumns& columns) {
  return unified_rows(shared_->input, shared_->cells, columns);
}

Table OpRows::perf(std::span<const EventId> events, const PerfColumns& columns) {
  return perf_rows(shared_->input, shared_->cells, events, columns);
}

Table OpRows::modules(EventId root) { return module_rows(shared_->input, root); }

std::int64_t OpRows::busy_ns(EventId event) {
  return shared_->input.launches.busy_ns(shared_->input.tree.node(event));
}

}  // namespace tracelens
