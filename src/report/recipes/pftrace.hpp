// pftrace.hpp: the views of a ROCm timeline, one by one; the report has them all.
//   const PftraceActivity activity{events, options};
//   write_tables(activity_tables(activity, {}), "out/", {});
//   file.write(activity_markdown(activity, {}));
#pragma once

#include <cstddef>
#include <string>
#include <tracelens/report.hpp>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/gpu/kernel_rules.hpp"
#include "analysis/rocm/pftrace_activity.hpp"

namespace tracelens {

struct ActivityTableOptions {
  bool kernel_summary = true, hip_summary = true;
  std::size_t kernel_rows = 200, hip_rows = 200;  // of the Markdown page
};

// category_summary, xla_top, kernel_summary, hip_summary; those without data have no columns.
[[nodiscard]] std::vector<Table> activity_tables(const PftraceActivity& activity,
                                                 const ActivityTableOptions& options);
// The same as one page.
[[nodiscard]] std::string activity_markdown(const PftraceActivity& activity,
                                            const ActivityTableOptions& options);

// "activity", "api" and "memcpy" of ReportOptions::views; all when there are none. Throws Error
// when one is not known.
struct RocmViews {
  explicit RocmViews(const std::vector<std::string>& names);
  bool activity = true, api = true, memcpy = true;
};

// The views that are the same for every ROCm trace. Tables without rows are left out.
void add_api_tables(Report& report, const PftraceEvents& events);
void add_copy_tables(Report& report, const PftraceEvents& events);
void add_with_rows(Report& report, std::optional<Table> table);

// The built-in kernel rules, after the user's own.
[[nodiscard]] KernelRules kernel_rules_for(const ReportOptions& options);

}  // namespace tracelens
