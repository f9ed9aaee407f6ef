// rocprof_tables.hpp: the tables of a rocprofv3 profile: how its time divides, and which kernels
// took it. Every dispatch takes part; one without times counts with a duration of 0.
//   const RocprofKernels kernels{trace};
//   tables.push_back(rocprof_kernel_summary(kernels, {.category = rocprof_category}));
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// Which processes of a profile the tables are about.
enum class ProcessScope : std::uint8_t {
  kAll,
  kFirst,  // and of it what is in the lists of records: as in the Python TraceLens
};

struct RocprofKernels {
  explicit RocprofKernels(const Trace& trace, ProcessScope scope = ProcessScope::kAll);

  const Trace& trace;                        // must outlive this
  std::uint32_t first_row = 0, end_row = 0;  // events of these processes
  std::int64_t run_ns = 0;                   // from their first start to their last end
  std::size_t processes = 1;
  std::vector<EventId> events;  // dispatches, in file order
  std::int64_t total_ns = 0;    // sum of their durations
};

// Of a kernel, by words in its name: GEMM, Elementwise, Reduction, Convolution, Normalization,
// Attention, Memory, COMM, Other. The categories of the Python TraceLens; KernelRules know more.
[[nodiscard]] std::string_view rocprof_category(std::string_view kernel);

struct RocprofSummaryOptions {
  std::function<std::string_view(std::string_view kernel)> category = rocprof_category;
  // "Cumulative Percentage" runs down the rows. Off: in the order of the names, as in the Python
  // TraceLens, which sorts the rows afterwards.
  bool cumulative_by_rows = true;
};

// From the start to the end of the profiled processes: kernels, copies, either, neither.
[[nodiscard]] Table rocprof_gpu_timeline(const RocprofKernels& kernels);
[[nodiscard]] Table rocprof_kernel_summary(const RocprofKernels& kernels,
                                           const RocprofSummaryOptions& options);
[[nodiscard]] Table rocprof_category_summary(const RocprofKernels& kernels,
                                             const RocprofSummaryOptions& options);

struct KernelDetailsOptions {
  std::optional<std::int64_t> top = {};  // rows; all but the last -top when negative
  // Beyond the Python TraceLens: registers, LDS and scratch, and the process where there are some.
  bool resources = false;
};
// One row per dispatch, the longest first.
[[nodiscard]] Table rocprof_kernel_details(const RocprofKernels& kernels,
                                           const KernelDetailsOptions& options = {});

// Kernels shorter than `threshold_us`: by name, and how many last how long.
[[nodiscard]] Table rocprof_short_kernels(const RocprofKernels& kernels, double threshold_us);
[[nodiscard]] Table rocprof_short_histogram(const RocprofKernels& kernels, double threshold_us,
                                            int bins);

}  // namespace tracelens
