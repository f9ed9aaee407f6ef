// The first screen of the report of one trace: figures from its tables, and what follows from them.
#include "report/recipes/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tracelens/gpu.hpp>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/gpu/idle.hpp"
#include "facts/steps.hpp"
#include "report/recipes/overview_parts.hpp"
#include "table/shapes.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMostCosts = 5;

// Where a kind of report has its costs: a table with a row for each kind of ran, and one with a row
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
  if (context.kind != TraceKind::kPyTorch) return kRocmKernels;
  return report.find(kOps.by_kind) != nullptr ? kOps : kKernels;
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
};

Ran what_ran(const Table* things, const CostTables& from) {
  Ran ran;
  if (things == nullptr) return ran;
  for (std::size_t row = 0; row < things->rows(); ++row) {
    const double ns = number_at(*things, from.thing_time, row).value_or(0) * from.thing_ns;
    const std::optional<double> roof = number_at(*things, from.roof, row);
    KindOfWork& kind = ran.kinds[text_at(*things, from.thing_kind, row)];
    kind.reached.add(ns, roof);
    if (const std::string bound = text_at(*things, from.roof_bound, row); !bound.empty())
      ran.bounds[bound].add(ns, roof);
    if (ns <= kind.costliest_ns) continue;
    kind.costliest_ns = ns;
    kind.costliest = text_at(*things, from.thing, row);
    const std::string shape = text_at(*things, from.shape, row);
    const std::string dims = from.shape == kOps.shape ? shapes_text(shape) : shape;
    if (!dims.empty()) kind.costliest += " " + dims;
  }
  return ran;
}

std::vector<Overview::Cost> costs_of(const Report& report, const CostTables& from, const Ran& ran) {
  std::vector<Overview::Cost> costs;
  if (const Table* const table = from.by_kind.empty() ? nullptr : report.find(from.by_kind)) {
    for (std::size_t row = 0; row < table->rows(); ++row)
      costs.push_back({.name = text_at(*table, from.kind, row),
                       .ns = std::llround(number_at(*table, from.kind_ms, row).value_or(0) * 1e6)});
  } else {
    for (const auto& [name, kind] : ran.kinds)
      costs.push_back({.name = name, .ns = std::llround(kind.reached.ns)});
  }
  std::int64_t all = 0;
  for (const Overview::Cost& cost : costs) all += cost.ns;
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
  const std::pair<std::string_view, std::int64_t*> rows[] = {
      {"computation_time", &split.compute_ns}, {"exposed_comm_time", &split.comm_ns},
      {"exposed_memcpy_time", &split.copy_ns}, {"idle_time", &split.idle_ns},
      {"micro_idle_time", &split.idle_ns},     {"macro_idle_time", &split.idle_ns},
      {"total_time", &split.total_ns}};
  std::set<std::string> seen;  // with --recompute a row comes twice, that of all work first
  for (std::size_t row = 0; row < timeline.rows(); ++row) {
    const std::string type = text_at(timeline, "type", row);
    if (!seen.insert(type).second) continue;
    for (const auto& [name, figure] : rows)
      if (name == type)
        *figure += std::llround(number_at(timeline, "time ms", row).value_or(0) * 1e6);
  }
  return split;
}

// The GPUs that ran anything, and what they are called: "8 x AMD Instinct MI350X".
std::string gpus_text(const Trace& trace, const Report& report) {
  std::string name;
  if (const Value* const list = trace.metadata("deviceProperties");
      list != nullptr && !list->items().empty())
    if (const Value* const first = list->items().front().find("name"))
      name = std::string{first->as_text()};
  if (name.empty()) name = report.gpu;
  std::set<std::string> devices;
  if (const Table* const table = report.find("gpu_timeline_by_device"); table != nullptr)
    for (std::size_t row = 0; row < table->rows(); ++row)
      if (std::string device = HumanFormat{table->columns().front()}(row); device != "all")
        devices.insert(std::move(device));
  if (devices.size() > 1)
    return name.empty() ? fmt::format("{} GPUs", devices.size())
                        : fmt::format("{} x {}", devices.size(), name);
  return name.empty() ? "a GPU" : name;
}

std::string run_text(TableContext& context, const Report& report, const Split& split) {
  std::string text = gpus_text(context.trace, report);
  std::int64_t steps = 0, host_ns = 0;
  if (context.kind == TraceKind::kPyTorch) {
    for (const Step& step : find_steps(context.trace, context.tree())) {
      ++steps;
      host_ns += step.dur_ns;
    }
  } else if (const Table* const table = report.find("jax_steps")) {
    for (std::size_t row = 0; row < table->rows(); ++row) {
      ++steps;
      host_ns += std::llround(number_at(*table, "host (ms)", row).value_or(0) * 1e6);
    }
  }
  if (steps > 0)
    text += fmt::format(" · {} step{} of {}{}", steps, steps == 1 ? "" : "s",
                        steps == 1 ? "" : "about ", time_text(host_ns / steps));
  return text + fmt::format(" · {} of GPU time", time_text(split.total_ns));
}

// The op, call or frame that the GPU waited for longest for this reason.
std::string worst_wait(const Report& report, std::string_view cause) {
  const Table* const table = report.find("gpu_idle_host");
  if (table == nullptr) return {};
  for (std::size_t row = 0; row < table->rows(); ++row)
    if (text_at(*table, "cause", row) == cause)
      if (std::string name = text_at(*table, "name", row); !name.empty())
        return fmt::format(
            "{} ({})", name,
            time_text(std::llround(number_at(*table, "idle ms", row).value_or(0) * 1e6)));
  return {};
}

std::string advice_on_idle(const Report& report, const TableContext& context, IdleCause cause) {
  const bool is_torch = context.kind == TraceKind::kPyTorch;
  const std::string worst = worst_wait(report, text_of(cause));
  const std::string where = worst.empty() ? "" : "; costliest: " + worst;
  switch (cause) {
    case IdleCause::kOpDispatch:
      return (is_torch ? "Ask less of the host: torch.compile, CUDA graphs, fused ops"
                       : "Ask less of the host: larger jitted functions, fewer dispatches") +
             where + ".";
    case IdleCause::kLaunch:
      return "Launch fewer, longer kernels: fuse them, or capture a graph" + where + ".";
    case IdleCause::kPython:
      return "Move Python work out of the loop" + where + ".";
    case IdleCause::kSync:
      return "Wait for the GPU less often (.item(), .cpu(), printing)" + where + ".";
    case IdleCause::kData:
      return (is_torch
                  ? "Feed the GPU ahead: DataLoader workers, pinned memory, non_blocking copies"
                  : "Feed the GPU ahead: prefetch to the device") +
             where + ".";
    case IdleCause::kLateStart:
      return "Find what held up work that was launched already" + where + ".";
    case IdleCause::kNoHost:
      break;
  }
  return report.find("gpu_idle_host") == nullptr
             ? "Record the host as well: the trace does not say what launched its kernels."
             : "See what the process did meanwhile: the trace has no host activity then.";
}

// The kind of work that would give most if it reached its roof.
const Overview::Cost* furthest_below_roof(const std::vector<Overview::Cost>& costs) {
  constexpr double kNear = 70;
  const Overview::Cost* worst = nullptr;
  const auto lost = [](const Overview::Cost& cost) {
    return static_cast<double>(cost.ns) * (100 - std::min(*cost.roof_percent, 100.0));
  };
  for (const Overview::Cost& cost : costs)
    if (cost.roof_percent && *cost.roof_percent < kNear &&
        (worst == nullptr || lost(cost) > lost(*worst)))
      worst = &cost;
  return worst;
}

void advise(Overview& overview, const TableContext& context, const Report& report,
            std::span<const IdleShare> causes) {
  constexpr double kNotable = 10;  // percent of the GPU's time
  for (const IdleShare& share : causes) {
    if (overview.advice.size() == 2) break;
    const auto part =
        std::ranges::find(overview.idle_causes, text_of(share.cause), &Overview::Part::name);
    if (part->percent >= kNotable)
      overview.advice.push_back(advice_on_idle(report, context, share.cause));
  }
  if (overview.split[1].percent >= kNotable)
    overview.advice.emplace_back(
        "Hide communication behind computing, and see which rank comes late.");
  if (overview.split[2].percent >= kNotable)
    overview.advice.emplace_back("Copy less, or while kernels run: pinned memory, own stream.");
  if (const Overview::Cost* const cost = furthest_below_roof(overview.costs))
    overview.advice.push_back(
        fmt::format("{} reaches {:.0f}% of its roof in {:.0f}% of kernel time: start with {}.",
                    cost->name, *cost->roof_percent, cost->percent, cost->costliest));
  constexpr std::size_t kMostAdvice = 3;
  if (overview.advice.size() > kMostAdvice) overview.advice.resize(kMostAdvice);
}

void add_commands(Overview& overview, const TableContext& context) {
  const std::string& trace = context.trace.source().name;
  const std::string shown = trace == "-" ? "TRACE" : trace;
  const auto add = [&](std::string_view command) {
    overview.commands.push_back(fmt::format(fmt::runtime(command), shown));
  };
  add("tracelens report {} -v");
  if (overview.bound == "communication")
    add("tracelens collectives FOLDER_OF_ALL_RANKS");
  else if (context.kind == TraceKind::kPyTorch && context.tree().stats().gpu_only)
    add("tracelens check {}");
  else
    add(context.kind == TraceKind::kPyTorch ? "tracelens tree {} --modules" : "tracelens tree {}");
  if (overview.bound == "memory" || overview.bound == "compute") add("tracelens roofline {}");
}

// What kernels are limited by, by their time: "memory", "compute", or "" without models.
std::string kernel_bound(const Ran& ran, std::string& why) {
  const auto ns = [&ran](const char* bound) {
    const auto found = ran.bounds.find(bound);
    return found == ran.bounds.end() ? 0.0 : found->second.ns;
  };
  const double memory = ns("MEMORY_BOUND"), compute = ns("COMPUTE_BOUND");
  double all = 0;
  for (const auto& [name, kind] : ran.kinds) all += kind.reached.ns;
  if (all <= 0 || memory + compute < all / 4) return {};
  const bool is_memory = memory >= compute;
  const Reached& most = ran.bounds.at(is_memory ? "MEMORY_BOUND" : "COMPUTE_BOUND");
  why = fmt::format("{:.0f}% of kernel time is limited by {}", 100 * most.ns / all,
                    is_memory ? "memory bandwidth" : "arithmetic");
  if (const auto reached = most.percent()) why += fmt::format(", at {:.0f}% of the roof", *reached);
  return is_memory ? "memory" : "compute";
}

void judge(Overview& overview, const Split& split, const Ran& ran) {
  const std::string_view bound = bound_of(split);
  const auto share = [&](std::int64_t ns) { return percent(ns, split.total_ns); };
  if (bound == "host") {
    overview.bound = "host";
    overview.verdict =
        fmt::format("Host-bound: the GPU is idle {:.1f}% of the time", share(split.idle_ns));
    if (!overview.idle_causes.empty()) {
      const Overview::Part& first = overview.idle_causes.front();
      if (first.name == text_of(IdleCause::kNoHost))
        overview.verdict += ", mostly with no host activity in the trace";
      else
        overview.verdict += fmt::format(", mostly for {} ({:.1f}%)", first.name, first.percent);
    }
  } else if (bound == "communication") {
    overview.bound = "communication";
    overview.verdict = fmt::format(
        "Communication-bound: {:.1f}% of the time the GPU only communicates", share(split.comm_ns));
  } else if (bound == "copy") {
    overview.bound = "copy";
    overview.verdict =
        fmt::format("Copy-bound: {:.1f}% of the time the GPU only copies", share(split.copy_ns));
  } else {
    std::string why;
    overview.bound = kernel_bound(ran, why);
    if (overview.bound.empty())
      overview.verdict =
          fmt::format("GPU-bound: it computes {:.1f}% of the time", share(split.compute_ns));
    else
      overview.verdict = fmt::format("{}-bound: the GPU computes {:.1f}% of the time; {}",
                                     overview.bound == "memory" ? "Memory" : "Compute",
                                     share(split.compute_ns), why);
  }
  overview.verdict += '.';
}

}  // namespace

std::optional<Overview> trace_overview(TableContext& context, const Report& report) {
  const Table* const timeline = report.find("gpu_timeline");
  if (timeline == nullptr) return std::nullopt;
  const Split split = split_of(*timeline);
  if (split.total_ns <= 0) return std::nullopt;
  const CostTables& from = cost_tables(context, report);
  const Ran ran = what_ran(report.find(from.things), from);
  Overview overview;
  overview.run = run_text(context, report, split);
  overview.split = split.parts();
  for (const IdleShare& share : context.idle().causes)
    overview.idle_causes.push_back(
        {std::string{text_of(share.cause)}, share.ns, percent(share.ns, split.total_ns)});
  overview.costs_title = from.title;
  overview.costs = costs_of(report, from, ran);
  judge(overview, split, ran);
  advise(overview, context, report, context.idle().causes);
  add_commands(overview, context);
  return overview;
}

}  // namespace tracelens
