// Which tables make the report of a Genesis capture, and its one-page summary.
#include "report/recipes/genesis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tracelens/table_text.hpp>
#include <utility>

#include "analysis/rocm/memory_copy.hpp"
#include "analysis/rocm/pftrace_activity.hpp"
#include "facts/kernel_names.hpp"
#include "report/recipes/pftrace.hpp"
#include "report/sinks/pipe_table.hpp"
#include "report/sinks/unique_names.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kLongestSheetName = 31;

std::string text_of(const Value& dict, std::string_view key) {
  const Value* const value = dict.find(key);
  if (value == nullptr) return "None";
  return value->is_text() ? value->as_text() : python_repr(*value);
}

// The same cells under another name.
Table renamed(const Table& table, std::string name) {
  std::vector<ColumnSpec> columns;
  for (const Table::Column& column : table.columns()) columns.push_back(column.spec());
  Table copy{std::move(name), table.description(), columns};
  for (std::size_t row = 0; row < table.rows(); ++row) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < columns.size(); ++i) cells.push_back(table.cell(row, i));
    copy.append(cells);
  }
  return copy;
}

const Table* find(const std::vector<Table>& tables, std::string_view name) {
  const auto found = std::ranges::find(tables, name, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

// At most 52 characters.
std::string short_name(const std::string& name) {
  return name.size() <= 52 ? name : fmt::format("{:.49}...", name);
}

std::string window_text(const GenesisCapture& capture, const std::optional<SteadyState>& steady) {
  if (!steady)
    return fmt::format(
        "Full trace{}: no kernel CSV tells the simulation apart.\n\n"
        "> Times are those of the whole rocprof session, build and compilation included.\n",
        capture.has_kernel_csv ? " (no dispatch with times)" : "");
  return fmt::format(
      "Steady-state window: `{}` — {} dispatches, **{:.1f}%** GPU busy over {:.1f} ms\n\n"
      "> Full rocprof session idle (JIT/build) is excluded from this report.\n",
      steady->method, with_separators(fmt::format("{}", steady->dispatches)),
      steady->busy_percent(), static_cast<double>(steady->window_ns) / 1e6);
}

std::string top_kernels(const Table& summary) {
  std::string text =
      "| Kernel | Count | Total (ms) | % | Category |\n"
      "|--------|-------|------------|---|----------|\n";
  for (std::size_t row = 0; row < std::min<std::size_t>(10, summary.rows()); ++row)
    text += fmt::format(
        "| `{}` | {} | {:.1f} | {:.2f} | {} |\n", short_name(summary.column("name").texts()[row]),
        summary.column("Count").integers()[row],
        summary.column("Total Kernel Time (ms)").reals()[row],
        summary.column("Percentage (%)").reals()[row], summary.column("Category").texts()[row]);
  return text;
}

std::string summary_page(const GenesisCapture& capture, const std::vector<Table>& tables,
                         const std::optional<SteadyState>& steady, const Table* hip) {
  std::string page =
      "# TraceLens Genesis Performance Report\n\n"
      "Extension report for physics-simulation workloads (Genesis/Taichi-style kernels).\n\n";
  if (const Value& run = capture.manifest; !run.keys().empty())
    page +=
        fmt::format("**Capture:** {} — n_envs={}, steps={}, fp{}\n",
                    run.find("timestamp") != nullptr ? text_of(run, "timestamp") : capture.name,
                    text_of(run, "n_envs"), text_of(run, "num_steps"), text_of(run, "precision"));
  page +=
      fmt::format("\n## GPU Timeline ({})\n\n{}\n",
                  steady ? "timed benchmark window" : "full trace", window_text(capture, steady));
  if (const Table* const timeline = find(tables, "gpu_timeline"))
    for (std::size_t row = 0; row < timeline->rows(); ++row)
      page += fmt::format("- **{}**: {:.2f} ms ({:.1f}%)\n", timeline->column("type").texts()[row],
                          timeline->column("time ms").reals()[row],
                          timeline->column("percent").reals()[row]);
  if (const Table* const categories = find(tables, "kernel_summary_by_category"))
    page += "\n## Kernel Categories\n\n" + pipe_table(*categories, categories->rows());
  page += "\n## Top 10 Kernels\n\n";
  const Table* const kernels = find(tables, "kernel_summary");
  if (kernels != nullptr) page += top_kernels(*kernels);
  if (hip != nullptr && hip->rows() > 0)
    page += "\n## Top HIP API (pftrace)\n\n" + pipe_table(*hip, 10);
  return page;
}

}  // namespace

GenesisReport genesis_report(const GenesisCapture& capture, const GenesisOptions& options) {
  GenesisReport report;
  const auto add = [&report](Table table) {
    if (table.rows() > 0) report.tables.push_back(std::move(table));
  };
  const RocprofKernels kernels{*capture.kernels, Edition::kReference};
  const RocprofSummaryOptions summary{.category = genesis_category, .edition = Edition::kReference};
  const std::optional<SteadyState> steady =
      capture.has_kernel_csv ? steady_state(kernels, capture.steady) : std::nullopt;
  add(steady ? steady_timeline(*steady) : rocprof_gpu_timeline(kernels));
  add(rocprof_kernel_summary(kernels, summary));
  add(rocprof_category_summary(kernels, summary));
  if (options.kernel_details) add(rocprof_kernel_details(kernels));
  if (options.short_kernels) {
    add(rocprof_short_kernels(kernels, options.short_kernel_us));
    add(rocprof_short_histogram(kernels, options.short_kernel_us, options.histogram_bins));
  }
  std::optional<Table> hip;
  if (capture.timeline != nullptr) {
    UniqueNames names{kLongestSheetName};
    const PftraceEvents events{*capture.timeline, Edition::kReference};
    for (const Table& table : activity_tables(
             PftraceActivity{events, {.edition = Edition::kReference}}, ActivityTableOptions{})) {
      if (table.name() == "hip_summary") hip = table;
      if (table.rows() > 0) add(renamed(table, names.add("pftrace_hip_activity_" + table.name())));
    }
    const Table copies = memory_copy_by_copy_bytes(find_memory_copies(events, Edition::kReference));
    if (copies.rows() > 0) add(renamed(copies, names.add("pftrace_memory_copy_" + copies.name())));
  }
  report.summary = summary_page(capture, report.tables, steady, hip ? &*hip : nullptr);
  return report;
}

}  // namespace tracelens
