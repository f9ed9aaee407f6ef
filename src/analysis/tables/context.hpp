// context.hpp: what the tables of one report share, made when the first of them asks for it.
//   [](TableContext& c) { return tables(kernel_categories(c.trace, c.kernels(), c.kernel_rules())); }
// All threads of a report ask; each part is made once, whoever comes first.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/gpu.hpp>
#include <tracelens/report.hpp>
#include <tracelens/trace.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/database/database_events.hpp"
#include "analysis/gpu/idle.hpp"
#include "analysis/gpu/kernels.hpp"
#include "analysis/gpu/timeline.hpp"
#include "analysis/host/host_work.hpp"
#include "analysis/jax/kernels.hpp"
#include "analysis/jax/ops.hpp"
#include "analysis/ops/input.hpp"
#include "analysis/path/model.hpp"
#include "analysis/path/tables.hpp"
#include "analysis/rocm/api_latency.hpp"
#include "analysis/rocm/memory_copy.hpp"
#include "analysis/rocm/pftrace_activity.hpp"
#include "analysis/rocm/pftrace_events.hpp"
#include "analysis/rocm/rocprof_tables.hpp"
#include "analysis/tables/registry.hpp"
#include "facts/kernel_rules.hpp"
#include "facts/once.hpp"
#include "facts/trace_facts.hpp"
#include "perf/registry/user_models.hpp"

namespace tracelens {

class TableContext {
 public:
  // Reads the files the options name, so that a mistake in one shows at once. Throws Error.
  TableContext(const Trace& a_trace, const ReportOptions& an_options, const Selection& a_selection);

  // Throws what the constructor would throw about the files alone.
  static void check_files(const ReportOptions& options);

  const Trace& trace;
  const ReportOptions& options;
  const Selection& selection;
  const TraceKind kind;
  const TraceFacts facts;  // Python frames take part in its tree only where a table needs them

  [[nodiscard]] bool wants(std::string_view table) const { return selection.wants(table); }
  [[nodiscard]] bool is_extended() const { return options.edition == Edition::kExtended; }
  // What the report says it had to make do with. By one table, or by those that are made one after the
  // other: the order must not depend on threads.
  void warn(std::string_view sentence) { warnings_.emplace_back(sentence); }
  [[nodiscard]] std::vector<std::string> warnings() const;  // those of the timeline first

  // Whether a table with a row for each event is to be made; one that is too long is noted as left out.
  [[nodiscard]] bool wants_or_leaves_out(std::string_view table, std::size_t rows);

  [[nodiscard]] const Tree& tree() const { return facts.tree(); }
  // gpu_timeline of all GPUs together.
  [[nodiscard]] const Timeline& timeline();
  [[nodiscard]] const IdleTables& idle();           // of the same GPU events
  [[nodiscard]] const PathModel& path();            // of all GPU events that have a launch
  [[nodiscard]] const PathSummary& path_summary();  // its stretches: the steps of host_work()
  [[nodiscard]] const HostWork& host_work();
  [[nodiscard]] const GraphStitching& stitching();  // of the options; else nothing was stitched

  [[nodiscard]] const Gpu* gpu() const { return gpu_ ? &*gpu_ : nullptr; }
  [[nodiscard]] std::string gpu_name() const;  // empty where no table has roofline columns
  [[nodiscard]] Peaks peaks() const;
  [[nodiscard]] const KernelRules& kernel_rules();
  [[nodiscard]] TimelineOptions timeline_options() const;
  [[nodiscard]] bool has_many_threads() const;  // more than what costs most keeps busy

  void drop_inputs();  // what nobody but tables asks for, when all are made

  // --- of a PyTorch trace ---
  // Tables that ask for the same one are made one after the other. All three are one unless has_ops_apart().
  [[nodiscard]] OpInput& ops();
  [[nodiscard]] OpInput& unified_ops() { return ops_beside(unified_ops_); }
  [[nodiscard]] OpInput& sheet_ops() { return ops_beside(sheet_ops_); }
  [[nodiscard]] bool has_ops_apart() const;
  [[nodiscard]] const KernelRows& kernels();    // only for tables that are made in the background
  [[nodiscard]] std::span<const Step> steps();  // none: with a warning

  // --- of a JAX profile ---
  [[nodiscard]] const JaxOps& jax_ops();
  [[nodiscard]] const JaxKernels& jax_kernels();  // none: with a warning

  // --- of a ROCm trace ---
  [[nodiscard]] const PftraceEvents& rocm_events();
  [[nodiscard]] const RocprofKernels& rocm_kernels();
  [[nodiscard]] const PftraceActivity& rocm_activity();
  [[nodiscard]] const std::vector<ApiLaunch>& rocm_launches();
  [[nodiscard]] const std::vector<MemoryCopy>& rocm_copies();

  // --- of a database ---
  [[nodiscard]] const DatabaseEvents& database_events();

 private:
  [[nodiscard]] OpInput& ops_beside(Once<OpInput>& own);

  const std::optional<Gpu> gpu_;
  const perf::UserModels own_models_;
  const perf::OwnCategories own_categories_;
  Once<KernelRules> rules_;
  std::vector<std::string> warnings_;
  std::mutex leaving_out_;
  std::map<std::string, std::size_t, std::less<>> left_out_;  // tables and their rows
  Once<Timeline> timeline_;
  Once<IdleTables> idle_;
  Once<PathModel> path_;
  Once<PathSummary> path_summary_;
  Once<HostWork> host_work_;
  Once<GraphStitching> unstitched_;
  Once<OpInput> ops_, unified_ops_, sheet_ops_;
  Once<KernelRows> kernels_;
  Once<JaxOps> jax_ops_;
  Once<JaxKernels> jax_kernels_;
  Once<PftraceEvents> rocm_events_;
  Once<RocprofKernels> rocm_kernels_;
  Once<PftraceActivity> rocm_activity_;
  Once<std::vector<ApiLaunch>> rocm_launches_;
  Once<std::vector<MemoryCopy>> rocm_copies_;
  Once<DatabaseEvents> database_events_;
};

// What a producer returns: tables, and tables that may be absent.
template <class... Tables>
std::vector<Table> tables(Tables&&... made) {
  std::vector<Table> list;
  const auto add = [&list]<class T>(T&& table) {
    if constexpr (std::is_same_v<std::remove_cvref_t<T>, Table>)
      list.push_back(std::forward<T>(table));
    else if (table)
      list.push_back(*std::forward<T>(table));
  };
  (add(std::forward<Tables>(made)), ...);
  return list;
}

// gpu_idle, and gpu_idle_host where the trace tells who launched anything.
[[nodiscard]] inline std::vector<Table> idle_tables(TableContext& c) {
  std::vector<Table> made = tables(c.idle().by_size);
  if (c.idle().unlinked_ns < c.idle().idle_ns) made.push_back(c.idle().by_host);
  return made;
}

// Without those that have no rows.
[[nodiscard]] inline std::vector<Table> with_rows(std::vector<Table> list) {
  std::erase_if(list, [](const Table& table) { return table.rows() == 0; });
  return list;
}

}  // namespace tracelens
