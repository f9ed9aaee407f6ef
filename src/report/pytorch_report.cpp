// Which tables make the report of a PyTorch trace, and in which order.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <tracelens/error.hpp>
#include <tracelens/report.hpp>
#include <tracelens/tree.hpp>
#include <tracelens/version.hpp>

#include "analysis/collectives_single.hpp"
#include "analysis/idle.hpp"
#include "analysis/kernels.hpp"
#include "analysis/op_report.hpp"
#include "analysis/timeline.hpp"
#include "io/stream.hpp"
#include "io/threads.hpp"
#include "perf/gpu.hpp"
#include "report/sink.hpp"

namespace tracelens {
namespace {

const ColumnSpec kWarningColumns[] = {
    {"warning", Kind::kText, "", "what was wrong with the input or could not be done"},
    {"count", Kind::kInteger, "", "how often"},
    {"first byte", Kind::kInteger, "", "where in the unpacked text it was first seen"},
};

// What was skipped while reading and what the analyses had to make do with, so that no report is
// silently about less than the file holds. No table when all is well.
std::optional<Table> warnings_table(const Trace& trace, const std::vector<std::string>& sentences) {
  if (trace.warnings().entries().empty() && sentences.empty()) return std::nullopt;
  Table table{"warnings", "What was skipped or assumed", kWarningColumns};
  for (const auto& entry : trace.warnings().entries())
    table.add_row(entry.what, entry.count, entry.first_byte);
  for (const std::string& sentence : sentences) table.add_row(sentence, kMissing, kMissing);
  return table;
}

std::string read_text_file(const std::string& path) {
  io::Stream in = io::Stream::open(path);
  std::string text;
  char buffer[4096];
  while (const std::size_t got = in.read(buffer)) text.append(buffer, got);
  return text;
}

// The name of the first GPU the trace lists; "" when it lists none (ROCm often leaves it empty).
std::string device_name(const Trace& trace) {
  const Value* const devices = trace.metadata("deviceProperties");
  if (devices == nullptr || devices->items().empty()) return {};
  const Value* const name = devices->items().front().find("name");
  return name == nullptr ? std::string{} : name->as_text();
}

std::optional<perf::Gpu> choose_gpu(const Trace& trace, const ReportOptions& options) {
  if (!options.gpu_file.empty())
    return perf::read_gpu(read_text_file(options.gpu_file), options.gpu_file);
  const std::string name =
      options.gpu.empty() && options.gpu_from_trace ? device_name(trace) : options.gpu;
  const perf::Gpu* const gpu = name.empty() ? nullptr : perf::find_gpu(name);
  if (gpu != nullptr) return *gpu;
  if (options.gpu.empty()) return std::nullopt;
  std::vector<std::string> known;
  for (const perf::Gpu& candidate : perf::known_gpus()) known.push_back(candidate.name);
  throw Error{options.gpu, fmt::format("not a GPU whose figures are known; known are {}",
                                       fmt::join(known, ", "))};
}

bool has_python_frames(const Trace& trace) {
  return std::ranges::find(trace.categories(), Category::kPythonFunction) !=
         std::ranges::end(trace.categories());
}

// What the host was doing is said best by the innermost Python frame, if frames were recorded.
IdleTables idle_tables(const Trace& trace, const Tree& tree, bool tree_has_frames,
                       const ReportOptions& options) {
  const IdleOptions idle_options{.include_unlinked = options.include_unlinked};
  if (tree_has_frames || !has_python_frames(trace)) return gpu_idle(trace, tree, idle_options);
  const TreeOptions tree_options{.python_frames = true,
                                 .link_by_correlation = options.link_by_correlation};
  return gpu_idle(trace, build_tree(trace, tree_options), idle_options);
}

}  // namespace

const Table* Report::find(std::string_view table) const {
  const auto found = std::ranges::find(tables, table, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

Report make_report(const Trace& trace, const ReportOptions& options) {
  const std::optional<perf::Gpu> gpu = choose_gpu(trace, options);
  Report report{.title = "TraceLens performance report",
                .trace_name = trace.source().name,
                .gpu = gpu ? gpu->name : std::string{},
                .tables = {},
                .warnings = {}};
  const auto add = [&report](std::optional<Table> table) {
    if (table) report.tables.push_back(std::move(*table));
  };
  const auto edition = options.categories == Categories::kReference ? perf::Edition::kReference
                                                                    : perf::Edition::kExtended;
  // Frames take part only where a table needs them, as in the Python TraceLens: they change which
  // ops are discarded for outlasting their caller.
  const bool frames = options.recompute || options.call_stack;
  const Tree tree = build_tree(
      trace, {.python_frames = frames, .link_by_correlation = options.link_by_correlation});

  const TimelineOptions timeline_options{.include_unlinked = options.include_unlinked,
                                         .micro_idle_threshold_us = options.micro_idle_us,
                                         .split_recompute = options.recompute};
  // The idle tables need a tree of their own, so they are made beside all others.
  std::future<IdleTables> idle;
  if (options.idle)
    idle = std::async(
        io::thread_count(options.threads) > 1 ? std::launch::async : std::launch::deferred,
        [&] { return idle_tables(trace, tree, frames, options); });
  Timeline timeline = gpu_timeline(trace, tree, timeline_options);
  report.warnings = std::move(timeline.warnings);
  add(std::move(timeline.table));
  if (options.idle) add(gpu_timeline_by_device(trace, tree, timeline_options));
  const std::size_t idle_place = report.tables.size();

  for (Table& table : make_op_tables(
           trace, tree,
           {.edition = edition,
           .split_recompute = options.recompute,
           .overlap = options.overlap,
           .call_stack = options.call_stack,
           .group_by_kernel_count = options.group_by_kernel_count,
           .first_occurrence = options.first_occurrence,
           .collectives = false,  // comes after the kernels
            .include_unlinked = options.include_unlinked,
           .top_ops = options.top_ops,
           .gpu = gpu ? &*gpu : nullptr,
           .peaks = options.achievable_peaks ? perf::Peaks::kAchievable : perf::Peaks::kDatasheet}))
    add(std::move(table));

  const KernelRows kernels = options.kernel_summary || options.short_kernels
                                 ? collect_kernels(trace, tree, edition)
                                 : KernelRows{};
  if (options.kernel_summary) add(kernel_summary(trace, kernels, timeline.total_ns));
  if (options.short_kernels) {
    const ShortKernelOptions short_options{.threshold_us = options.short_kernel_us,
                                           .histogram_bins = options.histogram_bins,
                                           .top_rows = options.top_short_kernels};
    add(short_kernel_histogram(kernels, short_options));
    add(short_kernels_summary(trace, tree, kernels, timeline.total_ns, short_options));
  }
  if (options.collectives && !tree.stats().gpu_only)
    add(coll_analysis(trace, {.keep_incomplete = edition == perf::Edition::kExtended}));
  if (options.warnings) add(warnings_table(trace, report.warnings));
  if (options.idle) {
    IdleTables tables = idle.get();
    const auto place = report.tables.begin() + static_cast<std::ptrdiff_t>(idle_place);
    report.tables.insert(report.tables.insert(place, std::move(tables.by_host)),
                         std::move(tables.by_size));
  }
  return report;
}

void write_report(const Report& report, const std::string& output) {
  write_tables(report.tables, output,
               {.title = report.title,
                .subtitle = report.gpu.empty() ? "" : "Roofline figures: " + report.gpu,
                .source = {report.trace_name},
                .version = kVersion});
}

}  // namespace tracelens
