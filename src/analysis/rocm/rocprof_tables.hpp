// rocprof_tables.hpp: the tables of a rocprofv3 profile: how its time divides, and which kernels
// took it. Every dispatch takes part; one without times counts with a duration of 0.
//   const RocprofKernels kernels{trace};
//   tables.push_back(rocprof_kernel_summary(kernels, {.category = rocprof_category}));
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "facts/kernel_names.hpp"
#include "facts/kernel_rules.hpp"

namespace tracelens {

struct RocprofKernels {
  // Of all processes of the profile. Reference: of the first, and of it what is in the lists of
  // records.
  explicit RocprofKernels(const Trace& trace, Edition edition = Edition::kExtended);

  const Trace& trace;                        // must outlive this
  std::uint32_t first_row = 0, end_row = 0;  // events of these processes
  std::int64_t run_ns = 0;                   // from their first start to their last end
  std::size_t processes = 1;
  std::vector<EventId> events;  // dispatches, in file order
  std::int64_t total_ns = 0;    // sum of their durations
};

struct RocprofSummaryOptions {
  KernelCategories::Classify category = rocprof_category;
  // "Cumulative Percentage" runs down the rows. Reference: in the order of the names, since the
  // Python TraceLens sorts the rows afterwards.
  Edition edition = Edition::kExtended;
};

// From the start to the end of the profiled processes: kernels, copies, either, neither.
[[nodiscard]] Table rocprof_gpu_timeline(const RocprofKernels& kernels);
[[nodiscard]] Table rocprof_kernel_summary(const RocprofKernels& kernels,
                                           const RocprofSummaryOptions& options);
[[nodiscard]] Table rocprof_category_summary(const RocprofKernels& kernels,
                                             const RocprofSummaryOptions& options);

struct KernelDetailsOptions {
  std::optional<std::int64_t> top = {};  // rows; all but the last -top when negative
  // Extended: with registers, LDS and scratch, and the process where there are some.
  Edition edition = Edition::kExtended;
};
// One row per dispatch, the longest first.
[[nodiscard]] Table rocprof_kernel_details(const RocprofKernels& kernels,
                                           const KernelDetailsOptions& options = {});

// Kernels shorter than `threshold_us`: by name, and how many last how long.
[[nodiscard]] Table rocprof_short_kernels(const RocprofKernels& kernels, double threshold_us);
[[nodiscard]] Table rocprof_short_histogram(const RocprofKernels& kernels, double threshold_us,
                                            int bins);

}  // namespace tracelens
