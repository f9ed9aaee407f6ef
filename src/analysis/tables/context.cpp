#include "analysis/tables/context.hpp"

#include <algorithm>

#include "analysis/gpu/gpu_choice.hpp"
#include "analysis/jax/timeline.hpp"
#include "io/text_file.hpp"
#include "io/threads.hpp"

namespace tracelens {
namespace {

KernelRules load_rules(const std::string& file) {
  if (file.empty()) return KernelRules::built_in();
  return KernelRules::built_in().extended_by(io::read_text_file(file), file);
}

perf::UserModels load_models(const std::string& file) {
  if (file.empty()) return {};
  return perf::read_user_models(io::read_text_file(file), file);
}

// Whether any table will ask what kernels do by their names.
bool uses_rules(const ReportOptions& options, const Selection& selection) {
  return std::ranges::any_of(selection.rows(), [&](const TableInfo* table) {
    return table->uses_rules &&
           (options.edition == Edition::kExtended || table->on == Default::kOff);
  });
}

}  // namespace

TableContext::TableContext(const Trace& a_trace, const ReportOptions& an_options,
                           const Selection& a_selection)
    : trace{a_trace},
      options{an_options},
      selection{a_selection},
      kind{trace_kind(a_trace)},
      gpu_{chosen_gpu({.name = options.gpu, .file = options.gpu_file},
                      options.gpu_from_trace ? &trace : nullptr)},
      own_models_{load_models(options.models_file)} {
  // Compiling the rules takes a while: beside the first steps, if at all. Deferred also when the
  // system gives no thread.
  const bool ahead = io::thread_count(options.threads) > 1 && uses_rules(options, selection);
  rules_ = std::async(ahead ? std::launch::async | std::launch::deferred : std::launch::deferred,
                      [file = options.kernel_rules_file] { return load_rules(file); })
               .share();
  if (!options.kernel_rules_file.empty()) (void)kernel_rules();
}

void TableContext::check_files(const ReportOptions& options) {
  (void)chosen_gpu({.name = options.gpu, .file = options.gpu_file}, nullptr);
  (void)load_models(options.models_file);
  if (!options.kernel_rules_file.empty()) (void)load_rules(options.kernel_rules_file);
}

std::string TableContext::gpu_name() const {
  const bool has_rooflines = kind == TraceKind::kPyTorch || kind == TraceKind::kJax;
  return has_rooflines && gpu_ ? gpu_->name : std::string{};
}

std::vector<std::string> TableContext::warnings() const {
  std::vector<std::string> all;
  if (const Timeline* const timeline = timeline_.made()) all = timeline->warnings;
  all.insert(all.end(), warnings_.begin(), warnings_.end());
  return all;
}

perf::Peaks TableContext::peaks() const {
  return options.achievable_peaks ? perf::Peaks::kAchievable : perf::Peaks::kDatasheet;
}

const KernelRules& TableContext::kernel_rules() { return rules_.get(); }

const Tree& TableContext::tree() {
  return tree_.get([this] {
    // Frames change which ops are discarded for outlasting their caller, as in the Python
    // TraceLens.
    if (kind != TraceKind::kPyTorch) return build_tree(trace);
    return build_tree(trace, {.python_frames = options.recompute || options.call_stack ||
                                               selection.needs(Needs::kFrames),
                              .link_by_correlation = options.link_by_correlation});
  });
}

TimelineOptions TableContext::timeline_options() const {
  const bool is_pytorch = kind == TraceKind::kPyTorch;
  return {.include_unlinked = !is_pytorch || options.include_unlinked,
          .micro_idle_threshold_us = options.micro_idle_us,
          .split_recompute = is_pytorch && options.recompute};
}

const Timeline& TableContext::timeline() {
  return timeline_.get([this] {
    return kind == TraceKind::kJax ? jax_gpu_timeline(trace, tree(), timeline_options())
                                   : gpu_timeline(trace, tree(), timeline_options());
  });
}

OpInput& TableContext::ops() {
  return ops_.get([this] {
    return OpInput{trace,
                   tree(),
                   {.edition = options.edition,
                    .own_models = &own_models_,
                    .split_recompute = options.recompute,
                    .overlap = selection.needs(Needs::kOverlap),
                    .call_stack = options.call_stack,
                    .group_by_kernel_count = options.group_by_kernel_count,
                    .first_occurrence = options.first_occurrence,
                    .include_unlinked = options.include_unlinked,
                    .top_ops = options.top_ops,
                    .top_sheet_rows = options.top_ops,
                    .gpu = gpu(),
                    .peaks = peaks()}};
  });
}

const KernelRows& TableContext::kernels() {
  return kernels_.get([this] { return collect_kernels(trace, tree(), options.edition); });
}

std::span<const Step> TableContext::steps() {
  return steps_.get([this] {
    // Steps the profiler marked need no frames; iterations are found by them.
    std::vector<Step> steps = find_steps(trace, tree());
    if (steps.empty()) steps = find_steps(trace, build_tree(trace, {.python_frames = true}));
    if (steps.empty())
      warn("the trace marks no steps and repeats no call: no tables by step; call profiler.step()");
    return steps;
  });
}

const JaxOps& TableContext::jax_ops() {
  return jax_ops_.get([this] { return JaxOps{trace}; });
}

const JaxKernels& TableContext::jax_kernels() {
  return jax_kernels_.get([this] {
    JaxKernels kernels{trace, tree(), jax_ops()};
    if (kernels.all().empty())
      warn(
          "the profile has no GPU kernels: it is of a CPU or TPU run, or the device was not traced");
    return kernels;
  });
}

const PftraceEvents& TableContext::rocm_events() {
  return rocm_events_.get([this] {
    return PftraceEvents{trace, is_extended() ? GpuNumbers::kByAgent : GpuNumbers::kByOrder};
  });
}

const RocprofKernels& TableContext::rocm_kernels() {
  return rocm_kernels_.get([this] { return RocprofKernels{trace}; });
}

const PftraceActivity& TableContext::rocm_activity() {
  return rocm_activity_.get([this] {
    PftraceActivityOptions activity{.min_event_ns = 0, .name_first = is_extended()};
    if (kind == TraceKind::kRocmTimeline) {
      activity.min_event_ns = is_extended() ? 0 : 5000;
      activity.include_rccl = is_extended();
      activity.exact_overlap = is_extended();
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

}  // namespace tracelens
