#include "analysis/tables/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tracelens/gpu.hpp>

#include "analysis/jax/timeline.hpp"
#include "analysis/memory/raw_timeline.hpp"
#include "facts/converted.hpp"
#include "io/threads.hpp"

namespace tracelens {
namespace {

TreeOptions tree_options(TraceKind kind, const ReportOptions& options, const Selection& selection) {
  if (kind != TraceKind::kPyTorch) return {.threads = options.threads};
  // Frames change which ops are discarded for outlasting their caller, as in the Python TraceLens,
  // which always has them when it merged graph captures.
  const bool is_merged =
      options.inference && options.stitching != nullptr && options.stitching->merged;
  return {.python_frames = options.recompute || options.call_stack || options.group_by_module ||
                           is_merged || selection.needs(Needs::kFrames),
          .link_by_correlation = options.link_by_correlation,
          .threads = options.threads};
}

}  // namespace

TableContext::TableContext(const Trace& a_trace, const ReportOptions& an_options,
                           const Selection& a_selection)
    : trace{a_trace},
      options{an_options},
      selection{a_selection},
      kind{trace_kind(a_trace)},
      facts{trace, tree_options(kind, options, selection)},
      gpu_{chosen_gpu({.name = options.gpu, .file = options.gpu_file},
                      options.gpu_from_trace ? &trace : nullptr)},
      own_models_{perf::load_user_models(options.models, options.models_file)},
      own_categories_{options.category_of} {
  if (!options.kernel_rules_file.empty()) (void)kernel_rules();
}

void TableContext::check_files(const ReportOptions& options) {
  (void)chosen_gpu({.name = options.gpu, .file = options.gpu_file}, nullptr);
  (void)perf::load_user_models(options.models, options.models_file);
  if (!options.kernel_rules_file.empty()) (void)load_kernel_rules(options.kernel_rules_file);
  if (!options.memory_timeline_file.empty()) (void)read_raw_timeline(options.memory_timeline_file);
}

std::string TableContext::gpu_name() const {
  const bool has_rooflines = kind == TraceKind::kPyTorch || kind == TraceKind::kJax;
  return has_rooflines && gpu_ ? gpu_->name : std::string{};
}

std::vector<std::string> TableContext::warnings() const {
  std::vector<std::string> all;
  if (const Timeline* const timeline = timeline_.made()) all = timeline->warnings;
  if (const OpInput* const ops = ops_.made()) {
    std::size_t rows = 0;  // without kernels
    for (const Once<OpInput>* const more : {&unified_ops_, &sheet_ops_})
      if (more->made() != nullptr) rows += more->made()->all_rows_without_kernels();
    for (std::string& sentence : ops->warnings(rows)) all.push_back(std::move(sentence));
  }
  all.insert(all.end(), warnings_.begin(), warnings_.end());
  for (const TableInfo* const row : selection.rows())
    if (const auto found = left_out_.find(row->name); found != left_out_.end())
      all.push_back(
          fmt::format("{}: {} rows are more than a workbook holds; write to a folder to get it",
                      found->first, found->second));
  if (const JaxKernels* const kernels = jax_kernels_.made();
      kernels != nullptr && kernels->all().empty())
    all.emplace_back(
        "the profile has no GPU kernels: it is of a CPU or TPU run, or the device was not traced");
  return all;
}

bool TableContext::wants_or_leaves_out(std::string_view table, std::size_t rows) {
  if (!wants(table)) return false;
  if (!options.most_rows || rows <= *options.most_rows) return true;
  const std::lock_guard lock{leaving_out_};
  left_out_.emplace(table, rows);
  return false;
}

Peaks TableContext::peaks() const {
  return options.achievable_peaks ? Peaks::kAchievable : Peaks::kDatasheet;
}

const KernelRules& TableContext::kernel_rules() {
  return rules_.get([this] { return load_kernel_rules(options.kernel_rules_file); });
}

TimelineOptions TableContext::timeline_options() const {
  const bool is_pytorch = kind == TraceKind::kPyTorch;
  return {.include_unlinked = !is_pytorch || options.include_unlinked || is_converted(trace),
          .micro_idle_threshold_us = options.micro_idle_us,
          .split_recompute = is_pytorch && options.recompute};
}

bool TableContext::has_many_threads() const { return io::spare_threads(options.threads) > 1; }

const Timeline& TableContext::timeline() {
  return timeline_.get([this] {
    return kind == TraceKind::kJax ? jax_gpu_timeline(facts, timeline_options())
                                   : gpu_timeline(facts, timeline_options());
  });
}

const IdleTables& TableContext::idle() {
  return idle_.get([this] {
    return gpu_idle(facts, {.include_unlinked = timeline_options().include_unlinked});
  });
}

void TableContext::drop_inputs() {
  kernels_.drop();
  rocm_copies_.drop();
  rocm_launches_.drop();
  rocm_kernels_.drop();
  rocm_activity_.drop();
  rocm_events_.drop();  // the others refer to them
}

const PathModel& TableContext::path() {
  return path_.get([this] { return PathModel{facts}; });
}

const PathSummary& TableContext::path_summary() {
  return path_summary_.get([this] {
    return critical_path_summary(facts, [this] {
      std::vector<Interval> steps;
      for (const HostStep& step : host_work().steps())
        steps.push_back({step.start_ns, step.end_ns});
      return steps;
    });
  });
}

const HostWork& TableContext::host_work() {
  return host_work_.get([this] { return HostWork{facts}; });
}

const GraphStitching& TableContext::stitching() {
  if (options.stitching != nullptr) return *options.stitching;
  return unstitched_.get([this] { return unstitched_graphs(trace); });
}

OpInput& TableContext::ops() {
  return ops_.get([this] {
    return OpInput{facts,
                   {.edition = options.edition,
                    .own_models = &own_models_,
                    .categories = &own_categories_,
                    .kernel_kind = TorchKernelKinds{kernel_rules()},
                    .split_recompute = options.recompute,
                    .overlap = selection.needs(Needs::kOverlap),
                    .call_stack = options.call_stack,
                    .group_by_kernel_count = options.group_by_kernel_count,
                    .group_by_module = options.group_by_module,
                    .inference = options.inference,
                    .first_occurrence = options.first_occurrence,
                    .include_unlinked = options.include_unlinked,
                    .top_ops = options.top_ops,
                    .top_sheet_rows = options.top_ops,
                    .gpu = gpu(),
                    .peaks = peaks()}};
  });
}

OpInput& TableContext::ops_beside(Once<OpInput>& own) {
  if (!has_ops_apart()) return ops();
  return own.get([this] { return OpInput::beside(ops()); });
}

// What overlaps is too much to have it three times. Whatever the threads: how much each remembers has a limit, and
// what is left out beyond it must not depend on them.
bool TableContext::has_ops_apart() const { return !selection.needs(Needs::kOverlap); }

const KernelRows& TableContext::kernels() {
  return kernels_.get([this] {
    return collect_kernels(facts, {options.edition, &own_models_, &own_categories_});
  });
}

std::span<const Step> TableContext::steps() {
  constexpr std::string_view kNone =
      "the trace marks no steps and repeats no call: no tables by step; call profiler.step()";
  if (facts.steps().empty() && std::ranges::find(warnings_, kNone) == warnings_.end()) warn(kNone);
  return facts.steps();
}

const JaxOps& TableContext::jax_ops() {
  return jax_ops_.get([this] { return JaxOps{trace}; });
}

const JaxKernels& TableContext::jax_kernels() {
  return jax_kernels_.get([this] { return JaxKernels{trace, tree(), jax_ops()}; });
}

const PftraceEvents& TableContext::rocm_events() {
  return rocm_events_.get([this] { return PftraceEvents{trace, options.edition}; });
}

const RocprofKernels& TableContext::rocm_kernels() {
  return rocm_kernels_.get([this] { return RocprofKernels{trace}; });
}

const PftraceActivity& TableContext::rocm_activity() {
  return rocm_activity_.get([this] {
    PftraceActivityOptions activity{.min_event_ns = 0, .edition = options.edition};
    if (kind == TraceKind::kRocmTimeline) {
      activity.min_event_ns = is_extended() ? 0 : 5000;
      activity.include_rccl = is_extended();
    }
    return PftraceActivity{rocm_events(), activity};
  });
}

const std::vector<ApiLaunch>& TableContext::rocm_launches() {
  return rocm_launches_.get([this] {
    return find_api_launches(rocm_events(), {.all_kernels = true, .other_calls = true});
  });
}

const std::vector<MemoryCopy>& TableContext::rocm_copies() {
  return rocm_copies_.get([this] { return find_memory_copies(rocm_events()); });
}

const DatabaseEvents& TableContext::database_events() {
  return database_events_.get([this] { return DatabaseEvents{trace}; });
}

}  // namespace tracelens
