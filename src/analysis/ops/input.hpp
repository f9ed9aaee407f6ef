// input.hpp: what every op table starts from, built once per report, and the options they share.
//   OpInput input{facts, {.edition = Edition::kReference}};
//   const std::optional<Table> table = ops_summary(input);
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tracelens/edition.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/roofline.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/gpu/recompute.hpp"
#include "analysis/ops/autograd_wrappers.hpp"
#include "analysis/ops/launch_table.hpp"
#include "analysis/ops/measured_ops.hpp"
#include "analysis/ops/module_classes.hpp"
#include "analysis/ops/op_models.hpp"
#include "analysis/ops/overlap.hpp"
#include "facts/trace_facts.hpp"
#include "perf/registry/run_models.hpp"

namespace tracelens {

struct OpTableOptions {
  // kReference also keeps what spreadsheets made with the Python TraceLens rely on.
  Edition edition = Edition::kReference;
  const perf::UserModels* own_models = nullptr;     // the user's own, asked first; not owned
  const perf::OwnCategories* categories = nullptr;  // they come before all others; not owned
  // What a kernel does that no known op launched, by its name; empty: by the built-in rules. Not
  // asked in the reference's edition.
  KernelCategories::Classify kernel_kind = {};
  // Rows of their own for recomputed work (column is_recompute). Needs a tree with Python frames.
  bool split_recompute = false;
  bool overlap = false;     // also the tables of what ran at the same time as each op
  bool call_stack = false;  // columns of unified_perf_summary; needs a tree with Python frames
  bool group_by_kernel_count = false;  // rows of their own for calls with another number of kernels
  bool group_by_module = false;  // and for those in another class of nn.Module; needs Python frames
  bool inference = false;        // the reference's report of serving traces: forward sheets alone
  bool first_occurrence = false;            // column first_occurrence_time of ops_unique_args
  bool include_unlinked = false;            // GPU events without a launch take part in overlaps
  bool communication = false;               // communication kernels are charged to ops, too
  std::optional<std::size_t> top_ops = {};  // rows of ops_unique_args
  std::optional<std::size_t> top_sheet_rows = {};  // rows of each category sheet
  const Gpu* gpu = nullptr;                        // roofline columns; not owned
  Peaks peaks = Peaks::kDatasheet;
};

// What does not change: one for all tables, also for those that are made at the same time.
struct SharedOps {
  SharedOps(const TraceFacts& facts, const perf::RunModels& models, const OpTableOptions& options);
  std::shared_ptr<const LaunchTable> launches;
  std::shared_ptr<const AutogradWrappers> wrappers;
};

// Its tables change what it remembers: they are made one after the other.
struct OpInput {
  OpInput(const TraceFacts& facts, const OpTableOptions& a_options);  // refers to the facts
  // The same for another thread, with answers of its own; `other`, which has no overlaps, may be in use.
  [[nodiscard]] static OpInput beside(const OpInput& other) { return OpInput{other}; }
  OpInput& operator=(const OpInput&) = delete;

  [[nodiscard]] bool is_recompute(NodeId node) const {
    return recompute && recompute->is_recompute(node);
  }

  // How many kernels the cells of one column may list. Ops of real programs are nested a few levels
  // deep: what lists each kernel more often than that would take memory without end.
  [[nodiscard]] std::size_t kernels_per_table() const;
  [[nodiscard]] std::size_t all_rows_without_kernels() const {
    return rows_without_kernels + ops.rows_without_kernels();
  }
  // What the tables made so far leave out because there would be too much of it; `more_rows` without kernels
  // are those of others.
  [[nodiscard]] std::vector<std::string> warnings(std::size_t more_rows = 0) const;

  const Trace& trace;
  const Tree& tree;
  const OpTableOptions options;
  const perf::RunModels run_models;
  const int threads;  // that a table of these ops may use
  const SharedOps shared;
  const LaunchTable& launches = *shared.launches;
  const AutogradWrappers& wrappers = *shared.wrappers;
  OpCategories categories;
  TrackNames tracks;
  OpModels models;
  MeasuredOps ops;
  ModuleClasses modules;
  std::optional<RecomputeMarks> recompute;            // with OpTableOptions::split_recompute
  std::optional<Overlaps> overlaps;                   // with OpTableOptions::overlap
  std::atomic<std::size_t> rows_without_kernels = 0;  // beyond kernels_per_table()
  // When the trace begins; kAbsent where nothing depends on it: see call_stacks.cpp.
  std::int64_t start_ns = kAbsent;

 private:
  OpInput(const OpInput& other);
};

}  // namespace tracelens
