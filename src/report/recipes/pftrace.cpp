#include "report/recipes/pftrace.hpp"

#include <fmt/format.h>

#include "report/sinks/pipe_table.hpp"

namespace tracelens {

std::vector<Table> activity_tables(const PftraceActivity& activity,
                                   const ActivityTableOptions& options) {
  std::vector<Table> tables;
  tables.push_back(category_summary(activity));
  tables.push_back(xla_top(activity));
  if (options.kernel_summary) tables.push_back(pftrace_kernel_summary(activity));
  if (options.hip_summary) tables.push_back(hip_summary(activity));
  return tables;
}

std::string activity_markdown(const PftraceActivity& activity,
                              const ActivityTableOptions& options) {
  std::string gpus;
  for (const std::string& gpu : activity.events().gpus()) gpus += (gpus.empty() ? "" : ", ") + gpu;
  std::string page = fmt::format(
      "# ROCm Perfetto Trace Report\n\n- Agents (GPUs): {}\n- Used FA v3 kernels detected: "
      "**{}**\n\n## Category Summary (per GPU)\n",
      gpus, activity.uses_fa3() ? 1 : 0);
  constexpr auto kNothing = "_(no data)_\n";
  const Table categories = category_summary(activity);
  page += categories.rows() > 0 ? pipe_table(categories, categories.rows()) : kNothing;
  page += "\n## Top XLA Kernels (by time)\n";
  const Table xla = xla_top(activity);
  if (xla.rows() > 0)
    page += "| Kernel | Total Time (ms) | Count | Fraction of XLA |\n|---|---:|---:|---:|\n";
  else
    page += kNothing;
  for (std::size_t row = 0; row < xla.rows(); ++row)
    page +=
        fmt::format("| `{}` | {:.2f} | {} | {:.2f}% |\n", xla.column("Kernel").texts()[row],
                    xla.column("Total time (ms)").reals()[row], xla.column("Count").integers()[row],
                    xla.column("Fraction of XLA").reals()[row] * 100);
  const auto add_section = [&page](const char* title, const Table& table, std::size_t rows) {
    if (table.rows() > 0) page += fmt::format("\n### {}\n{}", title, pipe_table(table, rows));
  };
  if (options.kernel_summary)
    add_section("Kernel Summary Table", pftrace_kernel_summary(activity), options.kernel_rows);
  if (options.hip_summary)
    add_section("HIP API Summary Table", hip_summary(activity), options.hip_rows);
  return page;
}

}  // namespace tracelens
