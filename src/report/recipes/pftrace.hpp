// pftrace.hpp: the activity of a ROCm timeline, as the Python TraceLens shows it.
//   const PftraceActivity activity{events, options};
//   write_tables(activity_tables(activity, {}), "out/", {});
//   file.write(activity_markdown(activity, {}));
#pragma once

#include <cstddef>
#include <string>
#include <tracelens/table.hpp>
#include <vector>

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

}  // namespace tracelens
