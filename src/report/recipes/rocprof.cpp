#include <tracelens/rocm.hpp>

#include <utility>

#include "analysis/rocm/rocprof_tables.hpp"

namespace tracelens {

std::vector<Table> rocprof_tables(const Trace& trace, const RocprofTableOptions& options) {
  const RocprofKernels kernels{trace, Edition::kReference};
  const RocprofSummaryOptions summary{.edition = Edition::kReference};
  std::vector<Table> tables;
  tables.push_back(rocprof_gpu_timeline(kernels));
  if (options.kernel_summary) {
    tables.push_back(rocprof_kernel_summary(kernels, summary));
    tables.push_back(rocprof_category_summary(kernels, summary));
  }
  if (options.kernel_details)
    tables.push_back(rocprof_kernel_details(
        kernels, {.top = options.top_kernels, .edition = Edition::kReference}));
  if (options.short_kernels) {
    tables.push_back(rocprof_short_kernels(kernels, options.short_kernel_us));
    tables.push_back(
        rocprof_short_histogram(kernels, options.short_kernel_us, options.histogram_bins));
  }
  return tables;
}

}  // namespace tracelens
