// The first screen of the report of one trace: figures from its tables, and what follows from them.
#include "report/recipes/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <tracelens/files.hpp>
#include <tracelens/gpu.hpp>
#include <tracelens/roofline.hpp>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/gpu/idle.hpp"
#include "analysis/gpu/timeline.hpp"
#include "facts/job_processes.hpp"
#include "facts/steps.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "io/zip_members.hpp"
#include "report/recipes/overview_parts.hpp"
#include "table/shapes.hpp"
#include "tree/links.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Where a kind of report has its costs: a table with a row for each kind of work, and one with a row
// for each of the things that were run, which tells how near its roof they came.
struct CostTables {
  std::string_view title;
  std::string_view by_kind, kind, kind_ms;
  std::string_view things, thing_kind, thing, shape, thing_time;
  double thing_ns;  // per unit of thing_time
  std::string_view roof, roof_bound;
};
constexpr CostTables kOps = {"costliest kinds of op",
                             "ops_summary_by_category",
                             "op category",
                             "total_direct_kernel_time_ms",
                             "unified_perf_summary",
                             "op category",
                             "name",
                             "Input Dims",
                             "Kernel Time (µs)_sum",
                             1e3,
                             "Pct Roofline_mean",
                             "Roofline Bound"};
constexpr CostTables kHlo = {"costliest kinds of HLO op",
                             "hlo_ops_by_kind",
                             "kind",
                             "GPU time (ms)",
                             "hlo_ops",
                             "kind",
                             "HLO op",
                             "scope",
                             "GPU time (µs)_sum",
                             1e3,
                             "Pct Roofline",
                             "Roofline Bound"};
constexpr CostTables kRocmKernels = {"costliest kinds of kernel",
                                     "kernel_summary_by_category",
                                     "op category",
                                     "total_direct_kernel_time_ms",
                                     "kernel_summary",
                                     "Category",
                                     "name",
                                     "",
                                     "Total Kernel Time (ms)",
                                     1e6,
                                     "",
                                     ""};
// The kernels of a timeline have no category: the rules know them by name.
constexpr CostTables kTimelineKernels = {"costliest kinds of kernel",
                                         "kernel_summary_by_category",
                                         "op category",
                                         "total_direct_kernel_time_ms",
                                         "kernel_summary",
                                         "",
                                         "Name",
                                         "",
                                         "Total Time (ns)",
                                         1,
                                         "",
                                         ""};
// Of a database without ops.
constexpr CostTables kDatabaseKernels = {"costliest kinds of kernel",
                                         "kernel_summary_by_category",
                                         "op category",
                                         "total_direct_kernel_time_ms",
                                         "kernel_summary",
                                         "",
                                         "name",
                                         "",
                                         "total_ns",
                                         1,
                                         "",
                                         ""};
// Of a trace without ops: by the names of its kernels.
constexpr CostTables kKernels = {"costliest kinds of kernel",
                                 "",
                                 "",
                                 "",
                                 "kernel_summary",
                                 "kernel_category",
                                 "Kernel name",
                                 "",
                                 "Kernel duration (µs)_sum",
                                 1e3,
                                 "",
                                 ""};

const CostTables& cost_tables(const TableContext& context, const Report& report) {
  if (context.kind == TraceKind::kJax) return kHlo;
  if (context.kind == TraceKind::kRocmTimeline) return kTimelineKernels;
  if (context.kind == TraceKind::kRocprof) return kRocmKernels;
  if (report.find(kOps.by_kind) != nullptr) return kOps;
  return context.kind == TraceKind::kDatabase ? kDatabaseKernels : kKernels;
}

// A share of kernel time, and what of its roof it reached where that is known.
struct Reached {
  double ns = 0, modelled_ns = 0, weighted_percent = 0;
  void add(double more_ns, std::optional<double> roof_percent) {
    ns += more_ns;
    if (!roof_percent) return;
    modelled_ns += more_ns;
    weighted_percent += more_ns * *roof_percent;
  }
  // Where most of the time has no model, the rest does not speak for it.
  [[nodiscard]] std::optional<double> percent() const {
    if (modelled_ns <= 0 || modelled_ns < ns / 2) return std::nullopt;
    return weighted_percent / modelled_ns;
  }
};

struct KindOfWork {
  Reached reached;
  double costliest_ns = -1;
  std::string costliest;
};

// What the costs are told from: one pass over the table of things.
struct Ran {
  std::map<std::string, KindOfWork> kinds;
  std::map<std::string, Reached> bounds;  // by what limits them: "COMPUTE_BOUND"
  double all_ns = 0, fp32_matrix_ns = 0;
};

// The name of a kind of work; recomputed work of it is another.
std::string kind_at(const Table& table, std::string_view column, std::size_t row) {
  std::string kind = text_at(table, column, row);
  if (text_at(table, "is_recompute", row) == "yes") kind += " (recomputed)";
  return kind;
}

Ran what_ran(TableContext& context, const Table* things, const CostTables& from) {
  Ran ran;
  if (things == nullptr) return ran;
  for (std::size_t row = 0; row < things->rows(); ++row) {
    const double ns = number_at(*things, from.thing_time, row).value_or(0) * from.thing_ns;
    const std::optional<double> roof = number_at(*things, from.roof, row);
    std::string thing = text_at(*things, from.thing, row);
    ran.all_ns += ns;
    KindOfWork& kind =
        ran.kinds[from.thing_kind.empty() ? std::string{context.kernel_rules().category(thing)}
                                          : kind_at(*things, from.thing_kind, row)];
    kind.reached.add(ns, roof);
    if (text_at(*things, "Compute Spec", row) == "matrix_fp32") ran.fp32_matrix_ns += ns;
    if (const std::string bound = text_at(*things, from.roof_bound, row); !bound.empty())
      ran.bounds[bound].add(ns, roof);
    if (ns <= kind.costliest_ns) continue;
    kind.costliest_ns = ns;
    kind.costliest = std::move(thing);
    const std::string shape = text_at(*things, from.shape, row);
    const std::string dims = from.shape == kOps.shape ? shapes_text(shape) : shape;
    if (!dims.empty()) kind.costliest += " " + dims;
  }
  return ran;
}

// Their kernels' durations added up, as those of ops are.
std::vector<Overview::Cost> costs_of(const Report& report, const CostTables& from, const Ran& ran,
                                     std::int64_t communication_ns) {
  std::vector<Overview::Cost> costs;
  if (const Table* const table = from.by_kind.empty() ? nullptr : report.find(from.by_kind)) {
    for (std::size_t row = 0; row < table->rows(); ++row)
      costs.push_back({.name = kind_at(*table, from.kind, row),
                       .ns = std::llround(number_at(*table, from.kind_ms, row).value_or(0) * 1e6)});
  } else {
    for (const auto& [name, kind] : ran.kinds)
      costs.push_back({.name = name, .ns = std::llround(kind.reached.ns)});
  }
  // Collectives are no ops of a category; kernels that only their names tell to be some are. Every
  // other table of costs has them in a row of its own.
  if (&from == &kOps && communication_ns > 0) {
    const auto found = std::ranges::find(costs, "communication", &Overview::Cost::name);
    if (found != costs.end())
      found->ns = plus_ns(found->ns, communication_ns);
    else
      costs.push_back({.name = "communication", .ns = communication_ns});
  }
  std::int64_t all = 0;
  for (const Overview::Cost& cost : costs) all = plus_ns(all, cost.ns);
  std::ranges::stable_sort(costs, std::ranges::greater{}, &Overview::Cost::ns);
  if (costs.size() > kMostCosts) costs.resize(kMostCosts);
  for (Overview::Cost& cost : costs) {
    cost.percent = percent(cost.ns, all);
    const auto kind = ran.kinds.find(cost.name);
    if (kind == ran.kinds.end()) continue;
    cost.roof_percent = kind->second.reached.percent();
    cost.costliest = kind->second.costliest;
  }
  return costs;
}

// The figures of gpu_timeline, which all kinds of report have.
Split split_of(const Table& timeline) {
  Split split;
  for (std::size_t row = 0; row < timeline.rows(); ++row)
    split.add(text_at(timeline, "type", row),
              std::llround(number_at(timeline, "time ms", row).value_or(0) * 1e6));
  return split;
}

// With --recompute the table has every row twice, and no row of all work.
Split split_of(TableContext& context, const Report& report) {
  const Table* const timeline = report.find("gpu_timeline");
  if (timeline == nullptr) return {};
  if (!timeline->has_column("is_recompute")) return split_of(*timeline);
  TimelineOptions options = context.timeline_options();
  options.split_recompute = false;
  return split_of(gpu_timeline(context.facts, options).table);
}

// gpu_timeline begins with the first GPU work and ends with the last. What serving steps take before
// and after it is idle time, too: whoever waits for a token waits for that as well.
std::int64_t wait_of_steps(const Report& report) {
  const Table* const phases = report.find("serving_phases");
  for (std::size_t row = 0; phases != nullptr && row < phases->rows(); ++row)
    if (text_at(*phases, "phase", row) == "all")
      return std::llround(number_at(*phases, "GPU wait ms", row).value_or(0) * 1e6);
  return 0;
}

void add_wait(Overview& overview, std::int64_t wait_ns, std::int64_t total_ns) {
  const Overview::Part wait{"the host before the first and after the last kernel", wait_ns,
                            percent(wait_ns, total_ns)};
  constexpr double kNotable = 10;
  if (wait.percent >= kNotable)
    overview.advice.insert(
        overview.advice.begin(),
        fmt::format(
            "See what the steps do before their first kernel and after their last, while the "
            "GPU waits for {}: table serving_steps.",
            time_text(wait_ns)));
  overview.idle_causes.insert(
      std::ranges::upper_bound(overview.idle_causes, wait_ns, std::greater{}, &Overview::Part::ns),
      wait);
}

// That ran anything. A table by device has several rows of each; that of databases has one, of every
// GPU of every machine.
std::size_t gpu_count(const Report& report) {
  std::size_t count = 1;
  if (const Table* const table = report.find("device_timeline"); table != nullptr)
    count = table->rows();
  if (const Table* const table = report.find("gpu_timeline_by_device"); table != nullptr) {
    const std::string_view column = table->has_column("gpu_pid") ? "gpu_pid" : "device";
    std::set<std::string> devices;
    for (std::size_t row = 0; row < table->rows(); ++row)
      if (std::string device = text_at(*table, column, row); device != "all")
        devices.insert(std::move(device));
    count = devices.size();
  }
  return std::max<std::size_t>(count, 1);
}

// "NVIDIA H200", "8 x AMD Instinct MI350X taken together"
std::string gpus_text(const Trace& trace, const Report& report) {
  std::string name = device_name(trace);
  if (name.empty()) name = report.gpu;
  const std::size_t count = gpu_count(report);
  if (count == 1) return name.empty() ? "one GPU" : name;
  return name.empty() ? fmt::format("{} GPUs taken together", count)
                      : fmt::format("{} x {} taken together", count, name);
}

// What the events of a trace say that no table does.
struct GpuEvents {
  std::int64_t all_ns = 0, unlinked_ns = 0;  // of these, launched by no call in the trace
  std::int64_t communication_ns = 0;         // of the events that tables count
};
GpuEvents look_at_gpu_events(const TableContext& context) {
  const std::span<const std::int64_t> dur_ns = context.trace.dur_ns();
  const Tree& tree = context.tree();
  const std::span<const EventId> events = context.facts.gpu_events(true).events;
  const bool include_unlinked = context.timeline_options().include_unlinked;
  const bool counts_all = include_unlinked || context.facts.gpu_events(include_unlinked).fell_back;
  const GpuWorkKinds& kinds = context.facts.work();
  GpuEvents found;
  std::mutex adding;
  const int threads = io::spare_threads(context.facts.threads());
  io::for_each_range(threads, events.size(), [&](std::size_t begin, std::size_t end) {
    GpuEvents own;
    for (const EventId event : events.subspan(begin, end - begin)) {
      const bool is_linked = tree.launch_of(event).valid();
      own.all_ns = plus_ns(own.all_ns, dur_ns[event.row]);
      if (!is_linked) own.unlinked_ns = plus_ns(own.unlinked_ns, dur_ns[event.row]);
      if ((is_linked || counts_all) && kinds.is_communication(event))
        own.communication_ns = plus_ns(own.communication_ns, dur_ns[event.row]);
    }
    const std::lock_guard lock{adding};
    found.all_ns = plus_ns(found.all_ns, own.all_ns);
    found.unlinked_ns = plus_ns(found.unlinked_ns, own.unlinked_ns);
    found.communication_ns = plus_ns(found.communication_ns, own.communication_ns);
  });
  return found;
}

// Steps, and from the start of the first to the end of the last: on the host or, where that runs
// ahead, on the GPU.
struct StepTimes {
  std::int64_t count = 0, ns = 0;
};
StepTimes step_times(const TableContext& context, const Report& report, const Split& split) {
  StepTimes steps;
  std::int64_t first = 0, last = 0;
  const auto add = [&](std::int64_t start, std::int64_t length) {
    first = steps.count == 0 ? start : std::min(first, start);
    last = std::max(steps.count == 0 ? start : last, plus_ns(start, length));
    ++steps.count;
  };
  if (context.kind == TraceKind::kPyTorch) {
    for (const Step& step :
         find_steps(context.trace, context.tree(), context.facts.rows().annotations()))
      add(step.ts_ns, step.dur_ns);
  } else if (const Table* const table = report.find("jax_steps")) {
    for (std::size_t row = 0; row < table->rows(); ++row)
      add(std::llround(number_at(*table, "start (ms)", row).value_or(0) * 1e6),
          std::llround(number_at(*table, "host (ms)", row).value_or(0) * 1e6));
  }
  steps.ns = std::max(minus_ns(last, first), split.total_ns);
  return steps;
}

std::string run_text(const TableContext& context, const Report& report, const Split& split) {
  std::string text = gpus_text(context.trace, report);
  if (const Table* const phases = report.find("serving_phases"); phases != nullptr)
    for (const std::string& part : serving_texts(*phases)) text += " · " + part;
  else if (const StepTimes steps = step_times(context, report, split); steps.count > 0)
    text += fmt::format(" · {} step{} of {}{}", steps.count, steps.count == 1 ? "" : "s",
                        steps.count == 1 ? "" : "about ", time_text(steps.ns / steps.count));
  return text + fmt::format(" · over {}", time_text(split.total_ns));
}

// The op, call or frame that the GPU waited for longest for this reason.
struct Wait {
  std::string name, state;
  std::int64_t ns = 0;
};
std::optional<Wait> worst_wait(const Report& report, std::string_view cause) {
  const Table* const table = report.find("gpu_idle_host");
  if (table == nullptr) return std::nullopt;
  for (std::size_t row = 0; row < table->rows(); ++row)
    if (text_at(*table, "cause", row) == cause)
      if (std::string name = text_at(*table, "name", row); !name.empty())
        return Wait{std::move(name), text_at(*table, "host state", row),
                    std::llround(number_at(*table, "idle ms", row).value_or(0) * 1e6)};
  return std::nullopt;
}

// What a trace is of decides what can still be tried.
bool has_name_like(const Trace& trace, std::string_view part) {
  for (std::uint32_t id = 0; id < trace.string_count(); ++id)
    if (trace.text(StringId{id}).find(part) != std::string_view::npos) return true;
  return false;
}

std::string dispatch_advice(const TableContext& context) {
  if (context.kind != TraceKind::kPyTorch)
    return "Ask less of the host: larger jitted functions, fewer dispatches";
  if (has_name_like(context.trace, "GraphLaunch"))
    return "Ask less of the host: put more into each graph";
  if (has_name_like(context.trace, "Torch-Compiled Region"))
    return "Ask less of the host: fewer graph breaks, CUDA graphs";
  return "Ask less of the host: torch.compile, CUDA graphs, fused ops";
}

std::string advice_words(const Report& report, const TableContext& context, IdleCause cause,
                         std::string_view state) {
  const bool is_torch = context.kind == TraceKind::kPyTorch;
  if (state == "compile") return "Compile before what is measured, and once";
  if (state == "slow launch call")
    return "Warm up before recording: the first launch of a kernel loads its code";
  switch (cause) {
    case IdleCause::kOpDispatch:
      return dispatch_advice(context);
    case IdleCause::kLaunch:
      return has_name_like(context.trace, "GraphLaunch")
                 ? "Launch less often: put more into each graph"
                 : "Launch fewer, longer kernels: fuse them, or capture a graph";
    case IdleCause::kPython:
      return "Move Python work out of the loop";
    case IdleCause::kSync:
      return is_torch ? "Wait for the GPU less often (.item(), .cpu(), printing)"
                      : "Wait for the GPU less often";
    case IdleCause::kData:
      return is_torch ? "Feed the GPU ahead: DataLoader workers, pinned memory, non_blocking copies"
                      : "Feed the GPU ahead: prefetch to the device";
    case IdleCause::kLateStart:
      return "Find what held up work that was launched already";
    case IdleCause::kNoHost:
      break;
  }
  return report.find("gpu_idle_host") == nullptr
             ? "Record the host as well: the trace does not say what launched its kernels"
             : "See what the process did meanwhile: the trace has no host activity then";
}

std::string advice_on_idle(const Report& report, const TableContext& context,
                           const IdleShare& share) {
  const std::optional<Wait> worst = worst_wait(report, text_of(share.cause));
  std::string text =
      advice_words(report, context, share.cause, worst ? worst->state : std::string{});
  if (worst)
    text += fmt::format("; most in {} ({} of {})", worst->name, time_text(worst->ns),
                        time_text(share.ns));
  return text + '.';
}

// The kind of work that would give most if it reached its roof.
const Overview::Cost* furthest_below_roof(const std::vector<Overview::Cost>& costs) {
  constexpr double kNear = 70, kLeastShare = 10;  // percent of the roof; of kernel time
  const Overview::Cost* worst = nullptr;
  const auto lost = [](const Overview::Cost& cost) {
    return static_cast<double>(cost.ns) * (100 - std::min(*cost.roof_percent, 100.0));
  };
  for (const Overview::Cost& cost : costs)
    if (cost.roof_percent && *cost.roof_percent < kNear && cost.percent >= kLeastShare &&
        !cost.name.starts_with("copy_") &&  // its roof is not that of the memory
        (worst == nullptr || lost(cost) > lost(*worst)))
      worst = &cost;
  return worst;
}

void advise(Overview& overview, const TableContext& context, const Report& report,
            std::span<const IdleShare> causes, const GpuEvents& gpu, const Ran& ran) {
  constexpr double kNotable = 10;  // percent of the GPU's time
  const auto notable = [&](std::size_t part) { return overview.split[part].percent >= kNotable; };
  for (std::size_t i = 0; i < causes.size() && overview.advice.size() < 2; ++i)
    if (overview.idle_causes[i].percent >= kNotable)
      overview.advice.push_back(advice_on_idle(report, context, causes[i]));
  if (notable(1)) overview.advice.emplace_back("Hide communication behind computing.");
  if (notable(2))
    overview.advice.emplace_back("Copy less, or while kernels run: pinned memory, own stream.");
  if (const double fp32 = percent(std::llround(ran.fp32_matrix_ns), std::llround(ran.all_ns));
      fp32 >= kNotable)
    overview.advice.push_back(fmt::format(
        "{:.0f}% of kernel time multiplies matrices in fp32: allow TF32, or use bf16.", fp32));
  if (const Overview::Cost* const cost = furthest_below_roof(overview.costs))
    overview.advice.push_back(
        fmt::format("{} reaches {:.0f}% of its roof in {:.0f}% of kernel time: start with {}.",
                    cost->name, *cost->roof_percent, cost->percent, cost->costliest));
  // Causes say what to try, too, with what that saves.
  const std::size_t most_advice = overview.causes.empty() ? 3 : 0;
  if (overview.advice.size() > most_advice) overview.advice.resize(most_advice);
  if (const double left_out = percent(gpu.unlinked_ns, gpu.all_ns);
      context.kind == TraceKind::kPyTorch && !context.timeline_options().include_unlinked &&
      left_out >= kNotable / 2 && left_out < 100) {
    overview.caveats = 1;
    overview.advice.insert(
        overview.advice.begin(),
        fmt::format("{:.0f}% of the GPU's work was launched before recording began and is not "
                    "counted here; --include-unlinked counts it.",
                    left_out));
  }
}

// Each reads the trace again, so that there is none where nothing can be read twice.
void add_commands(Overview& overview, const TableContext& context) {
  const std::string& name = context.trace.source().name;
  if (name == kStandardInput || io::is_read_once(name)) return;
  const std::string trace = shell_word(name);
  const bool is_torch = context.kind == TraceKind::kPyTorch;
  const GraphStitching* const stitching = context.options.stitching;
  const std::string captures = stitching == nullptr || stitching->folder.empty()
                                   ? ""
                                   : fmt::format(" --capture {}", shell_word(stitching->folder));
  if (overview.causes.empty())
    overview.commands.push_back(fmt::format("tracelens report {}{} -v", trace, captures));
  else
    overview.commands.push_back(fmt::format("tracelens diagnose {}{}", trace, captures));
  if (is_torch && overview.bound == "communication")
    overview.commands.push_back(
        fmt::format("tracelens collectives {}",
                    shell_word(std::filesystem::absolute(name).parent_path().string())));
  else if (overview.bound == "idle" || (is_torch && context.tree().stats().gpu_only))
    overview.commands.push_back(fmt::format("tracelens check {}", trace));
  else
    overview.commands.push_back(
        fmt::format("tracelens tree {}{}{}", trace, captures, is_torch ? " --modules" : ""));
  if (overview.bound == "memory" || overview.bound == "compute")
    overview.commands.push_back(fmt::format("tracelens roofline {}{}", trace, captures));
}

// What kernels are limited by, by their time: "memory", "compute", or "" without models.
std::string kernel_bound(const Ran& ran, std::string& why) {
  const auto reached_by = [&ran](Bound bound) {
    const auto found = ran.bounds.find(std::string{bound_name(bound)});
    return found == ran.bounds.end() ? Reached{} : found->second;
  };
  const Reached memory = reached_by(Bound::kMemory), compute = reached_by(Bound::kCompute);
  const double all = ran.all_ns;
  if (all <= 0 || memory.ns + compute.ns < all / 4) return {};
  const bool is_memory = memory.ns >= compute.ns;
  const Reached& most = is_memory ? memory : compute;
  why = fmt::format("{:.0f}% of kernel time is limited by {}", 100 * most.ns / all,
                    is_memory ? "memory bandwidth" : "arithmetic");
  if (const auto reached = most.percent()) why += fmt::format(", at {:.0f}% of the roof", *reached);
  return is_memory ? "memory" : "compute";
}

void judge(Overview& overview, const TableContext& context, const Split& split, const Ran& ran,
           bool several_gpus) {
  const std::string_view gpu = several_gpus ? "at least one GPU" : "the GPU";
  const std::string_view idle = several_gpus ? "all GPUs are idle at once" : "the GPU is idle";
  overview.bound = bound_of(split);
  overview.verdict = verdict_on(split, idle, gpu);
  if (overview.bound == "host" && !overview.idle_causes.empty()) {
    const Overview::Part& first = overview.idle_causes.front();
    if (context.kind != TraceKind::kPyTorch && overview.idle_causes.size() == 1 &&
        first.name == text_of(IdleCause::kNoHost)) {
      overview.bound = "idle";
      overview.verdict =
          fmt::format("Idle: {} {:.1f}% of the time; the trace has no host calls that say why",
                      idle, percent(split.idle_ns, split.total_ns));
    } else if (first.name == text_of(IdleCause::kNoHost)) {
      overview.verdict += ", mostly with no host activity in the trace";
    } else {
      overview.verdict += fmt::format(", mostly for {} ({:.1f}%)", first.name, first.percent);
    }
  } else if (overview.bound == "GPU") {
    std::string why;
    if (const std::string bound = kernel_bound(ran, why); !bound.empty()) {
      overview.bound = bound;
      overview.verdict = fmt::format("{}-bound: {} computes {:.1f}% of the time; {}",
                                     bound == "memory" ? "Memory" : "Compute", gpu,
                                     percent(split.compute_ns, split.total_ns), why);
    }
  }
  overview.verdict += '.';
}

// Their times have no common zero: what the GPUs did together, and for how long none did anything, is
// not known. What holds is the time that each event took.
Overview overview_of_machines(std::size_t machines, TableContext& context, const Report& report) {
  const CostTables& from = cost_tables(context, report);
  Overview overview;
  overview.run = fmt::format("{} · {} machines", gpus_text(context.trace, report), machines);
  overview.verdict = fmt::format(
      "The clocks of the {} machines tell nothing about each other: no verdict on idle time.",
      machines);
  overview.costs_title = from.title;
  overview.costs = costs_of(report, from, what_ran(context, report.find(from.things), from),
                            look_at_gpu_events(context).communication_ns);
  overview.advice.push_back(fmt::format(
      "Look at the files of one machine at a time; {} tells how busy each GPU was.",
      report.find("device_timeline") != nullptr ? "device_timeline" : "gpu_timeline_by_device"));
  add_commands(overview, context);
  return overview;
}

}  // namespace

std::optional<Overview> trace_overview(TableContext& context, const Report& report,
                                       Overview found) {
  Split split = split_of(context, report);
  if (split.total_ns <= 0) return std::nullopt;
  if (const std::size_t machines = machines_with_own_clocks(context.trace); machines > 1)
    return overview_of_machines(machines, context, report);
  const std::int64_t wait_ns = wait_of_steps(report);
  split.idle_ns = plus_ns(split.idle_ns, wait_ns);
  split.total_ns = plus_ns(split.total_ns, wait_ns);
  const CostTables& from = cost_tables(context, report);
  const Ran ran = what_ran(context, report.find(from.things), from);
  const GpuEvents gpu = look_at_gpu_events(context);
  Overview overview = std::move(found);
  overview.run = run_text(context, report, split);
  overview.split = split.parts();
  for (const IdleShare& share : context.idle().causes)
    overview.idle_causes.push_back(
        {std::string{text_of(share.cause)}, share.ns, percent(share.ns, split.total_ns)});
  overview.costs_title = from.title;
  overview.costs = costs_of(report, from, ran, gpu.communication_ns);
  advise(overview, context, report, context.idle().causes, gpu, ran);
  if (wait_ns > 0) add_wait(overview, wait_ns, split.total_ns);
  judge(overview, context, split, ran, gpu_count(report) > 1);
  add_commands(overview, context);
  return overview;
}

}  // namespace tracelens
