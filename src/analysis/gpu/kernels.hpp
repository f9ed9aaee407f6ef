// kernels.hpp: tables about single GPU kernels: which cost most, and which are too short.
//   const KernelRows rows = collect_kernels(facts);
//   const auto summary = kernel_summary(trace, rows, timeline.total_ns);
// Every kernel of the trace takes part, linked to a launch or not; copies and fills do not.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

#include "facts/kernel_rules.hpp"
#include "facts/trace_facts.hpp"
#include "perf/registry/run_models.hpp"

namespace tracelens {

struct KernelRow {
  EventId event;
  StringId name;
  std::int64_t dur_ns = 0;
  std::int64_t stream = kAbsent;
  EventId launch;                // the runtime call; invalid when unlinked
  EventId op;                    // nearest cpu_op above; invalid when there is none
  std::string_view op_category;  // empty without an op
};
using KernelRows = std::vector<KernelRow>;  // in file order

// What the models point to must outlive the rows.
[[nodiscard]] KernelRows collect_kernels(const TraceFacts& facts,
                                         const perf::RunModels& models = Edition::kReference);

// One row per (category, op, kernel, stream), the costliest first. `total_ns` is the base of
// "Percent of total time (%)": Timeline::total_ns. With `rules` a last column says what kind of
// work the kernel's name stands for. No table when there are no kernels.
[[nodiscard]] std::optional<Table> kernel_summary(const Trace& trace, const KernelRows& kernels,
                                                  std::int64_t total_ns,
                                                  const KernelRules* rules = nullptr);

struct ShortKernelOptions {
  double threshold_us = 10;  // kernels shorter than this are short
  int histogram_bins = 100;
  std::optional<std::size_t> top_rows = {};  // of the summary; all when absent
};

// How many short kernels last how long: equal bins from the shortest to the longest.
[[nodiscard]] Table short_kernel_histogram(const KernelRows& kernels,
                                           const ShortKernelOptions& options = {});

// Short kernels by op, its arguments and kernel; by kernel alone in a GPU-only trace. Kernels
// without an op, or whose op has no recorded arguments, are left out.
[[nodiscard]] Table short_kernels_summary(const TraceFacts& facts, const KernelRows& kernels,
                                          std::int64_t total_ns,
                                          const ShortKernelOptions& options = {});

}  // namespace tracelens
