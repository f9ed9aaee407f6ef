// compare_rules.hpp: the keys and the numbers of the tables that are compared, for their rows of the
// registry.
#pragma once

#include <string_view>

#include "analysis/tables/compare_rule.hpp"

namespace tracelens {
namespace compare_columns {

inline constexpr std::string_view kName[] = {"name"};
inline constexpr std::string_view kTimelineKeys[] = {"type"}, kTimelineMetrics[] = {"time ms"};
inline constexpr std::string_view kOpMetrics[] = {"total_direct_kernel_time_ms", "Count"};
inline constexpr std::string_view kOpDropped[] = {"total_direct_kernel_time_sum"};
inline constexpr std::string_view kCumulative[] = {"Cumulative Percentage (%)"};
inline constexpr std::string_view kKernelKeys[] = {"Kernel name"};
inline constexpr std::string_view kKernelMetrics[] = {
    "Kernel duration (µs)_sum", "Kernel duration (µs)_mean", "Kernel duration (µs)_count"};
inline constexpr std::string_view kKernelDropped[] = {
    "Kernel duration (µs)_min", "Kernel duration (µs)_max", "Parent op category"};
inline constexpr std::string_view kNsMetrics[] = {"total_ns", "count", "mean_ns"};
inline constexpr std::string_view kRocprofMetrics[] = {"Total Kernel Time (ms)",
                                                       "Mean Kernel Time (µs)", "Count"};
inline constexpr std::string_view kRocprofDropped[] = {
    "Total Kernel Time (µs)", "Median Kernel Time (µs)", "Std Kernel Time (µs)",
    "Min Kernel Time (µs)",   "Max Kernel Time (µs)",    "Category"};
inline constexpr std::string_view kHipKernelKeys[] = {"Name"},
                                  kHipMetrics[] = {"Total Time (ns)", "Instances"};
inline constexpr std::string_view kCallKeys[] = {"name", "Input type", "Input Dims",
                                                 "Input Strides", "Concrete Inputs"};
inline constexpr std::string_view kCallMetrics[] = {
    "total_direct_kernel_time_sum", "total_direct_kernel_time_mean", "operation_count"};
inline constexpr std::string_view kUnifiedMetrics[] = {"Kernel Time (µs)_sum",
                                                       "Kernel Time (µs)_mean", "operation_count"};
inline constexpr std::string_view kFamilyMetrics[] = {
    "Kernel Time (µs)_sum", "Kernel Time (µs)_mean", "name_count", "TFLOPS/s_mean", "TB/s_mean"};
inline constexpr std::string_view kFamilyDropped[] = {
    "GFLOPS_first",     "Data Moved (MB)_first", "FLOPS/Byte_first",     "Input type_first",
    "Input Dims_first", "Input Strides_first",   "Concrete Inputs_first"};
inline constexpr std::string_view kCategoryKeys[] = {"op category"};
inline constexpr std::string_view kHloOpKeys[] = {"HLO op", "module"}, kHloKindKeys[] = {"kind"},
                                  kHloScopeKeys[] = {"scope"};
inline constexpr std::string_view kHloOpMetrics[] = {"GPU time (µs)_sum", "runs"};
inline constexpr std::string_view kHloMetrics[] = {"GPU time (ms)", "runs"};
inline constexpr std::string_view kPhaseKeys[] = {"phase"};
inline constexpr std::string_view kPhaseMetrics[] = {"GPU busy ms",
                                                     "GPU idle ms",
                                                     "wall ms",
                                                     "exposed comm ms",
                                                     "launch ms",
                                                     "steps",
                                                     "tokens/s of GPU",
                                                     "tokens/s of wall",
                                                     "output tokens/s",
                                                     "time per output token ms median",
                                                     "time per output token ms p99",
                                                     "MBU %"};
inline constexpr std::string_view kOpsByPhaseMetrics[] = {"all ms",    "prefill ms", "mixed ms",
                                                          "decode ms", "denoise ms", "outside ms"};
inline constexpr std::string_view kActivityKeys[] = {"GPU ID", "Category"};
inline constexpr std::string_view kActivityMetrics[] = {"Total runtime (ms)", "Total count"};

constexpr CompareRule family(std::string_view sheet, std::string_view base) {
  return {.group = "roofline",
          .sheet = sheet,
          .base = base,
          .shape = CompareShape::kSplit,
          .sort_by = kFamilyMetrics[0],
          .keys = kName,
          .metrics = kFamilyMetrics,
          .dropped_variants = kFamilyDropped,
          .by_params = true};
}
constexpr CompareRule calls(std::string_view sheet, CompareNames metrics) {
  return {.group = "ops_all",
          .sheet = sheet,
          .base = sheet,
          .shape = CompareShape::kSplit,
          .sort_by = metrics[0],
          .keys = kCallKeys,
          .metrics = metrics};
}
constexpr CompareRule more(std::string_view group, std::string_view sheet, CompareNames keys,
                           CompareNames metrics, int place = 0) {
  return {.group = group,
          .sheet = sheet,
          .base = sheet,
          .shape = CompareShape::kWhole,
          .sort_by = metrics[0],
          .keys = keys,
          .metrics = metrics,
          .dropped_variants = kCumulative,
          .edition = Edition::kExtended,
          .place = place};
}

}  // namespace compare_columns

inline constexpr CompareRule kCompareTimeline = {.group = "gpu_timeline",
                                                 .sheet = "gpu_timeline",
                                                 .base = "gpu_timeline",
                                                 .shape = CompareShape::kWhole,
                                                 .sort_by = "",
                                                 .keys = compare_columns::kTimelineKeys,
                                                 .metrics = compare_columns::kTimelineMetrics,
                                                 .is_required = true};
inline constexpr CompareRule kComparePhases = compare_columns::more(
    "serving", "serving_phases", compare_columns::kPhaseKeys, compare_columns::kPhaseMetrics);
inline constexpr CompareRule kCompareOpsByPhase =
    compare_columns::more("serving", "serving_ops_by_phase", compare_columns::kCategoryKeys,
                          compare_columns::kOpsByPhaseMetrics, 1);
inline constexpr CompareRule kCompareOpCategories =
    compare_columns::more("ops_summary", "ops_summary_by_category", compare_columns::kCategoryKeys,
                          compare_columns::kOpMetrics);
inline constexpr CompareRule kCompareOps = {.group = "ops_summary",
                                            .sheet = "ops_summary",
                                            .base = "ops_summary",
                                            .shape = CompareShape::kWhole,
                                            .sort_by = compare_columns::kOpMetrics[0],
                                            .keys = compare_columns::kName,
                                            .metrics = compare_columns::kOpMetrics,
                                            .dropped = compare_columns::kOpDropped,
                                            .dropped_variants = compare_columns::kCumulative,
                                            .is_required = true};
inline constexpr CompareRule kCompareXla = compare_columns::more(
    "ops_summary", "xla_summary", compare_columns::kName, compare_columns::kOpMetrics, 1);
inline constexpr CompareRule kCompareLauncherCategories =
    compare_columns::more("ops_summary", "kernel_launchers_summary_by_category",
                          compare_columns::kCategoryKeys, compare_columns::kOpMetrics, 2);
inline constexpr CompareRule kCompareLaunchers =
    compare_columns::more("ops_summary", "kernel_launchers_summary", compare_columns::kName,
                          compare_columns::kOpMetrics, 3);
inline constexpr CompareRule kCompareHloKinds =
    compare_columns::more("ops_summary", "hlo_ops_by_kind", compare_columns::kHloKindKeys,
                          compare_columns::kHloMetrics, 4);
inline constexpr CompareRule kCompareHloScopes = compare_columns::more(
    "ops_summary", "hlo_scopes", compare_columns::kHloScopeKeys, compare_columns::kHloMetrics, 5);
inline constexpr CompareRule kCompareHloOps = compare_columns::more(
    "ops_summary", "hlo_ops", compare_columns::kHloOpKeys, compare_columns::kHloOpMetrics, 6);
inline constexpr CompareRule kCompareKernels = {.group = "kernel_summary",
                                                .sheet = "kernel_summary",
                                                .base = "kernel_summary",
                                                .shape = CompareShape::kWhole,
                                                .sort_by = compare_columns::kKernelMetrics[0],
                                                .keys = compare_columns::kKernelKeys,
                                                .metrics = compare_columns::kKernelMetrics,
                                                .dropped = compare_columns::kKernelDropped,
                                                .dropped_variants = compare_columns::kCumulative,
                                                .is_required = true};
inline constexpr CompareRule kCompareRocprofKernels = {
    .group = "kernel_summary",
    .sheet = "kernel_summary",
    .base = "kernel_summary",
    .shape = CompareShape::kWhole,
    .sort_by = compare_columns::kRocprofMetrics[0],
    .keys = compare_columns::kName,
    .metrics = compare_columns::kRocprofMetrics,
    .dropped = compare_columns::kRocprofDropped,
    .dropped_variants = compare_columns::kCumulative,
    .is_required = true,
    .place = 1};
inline constexpr CompareRule kCompareHipKernels =
    compare_columns::more("kernel_summary", "kernel_summary", compare_columns::kHipKernelKeys,
                          compare_columns::kHipMetrics, 2);
inline constexpr CompareRule kCompareDatabaseKernels = compare_columns::more(
    "kernel_summary", "kernel_summary", compare_columns::kName, compare_columns::kNsMetrics, 6);
inline constexpr CompareRule kCompareKernelCategories =
    compare_columns::more("kernel_summary", "kernel_summary_by_category",
                          compare_columns::kCategoryKeys, compare_columns::kOpMetrics, 3);
inline constexpr CompareRule kCompareActivity =
    compare_columns::more("kernel_summary", "category_summary", compare_columns::kActivityKeys,
                          compare_columns::kActivityMetrics, 4);
inline constexpr CompareRule kCompareHipCalls =
    compare_columns::more("kernel_summary", "hip_summary", compare_columns::kHipKernelKeys,
                          compare_columns::kHipMetrics, 5);
inline constexpr CompareRule kCompareAllOps =
    compare_columns::calls("ops_all", compare_columns::kCallMetrics);
inline constexpr CompareRule kCompareUniqueArgs =
    compare_columns::calls("ops_unique_args", compare_columns::kCallMetrics);
inline constexpr CompareRule kCompareUnified =
    compare_columns::calls("unified_perf_summary", compare_columns::kUnifiedMetrics);

// Sheets of families under the names the Python TraceLens gives them; kCompareFamily is for others.
inline constexpr CompareRule kCompareFamilies[] = {
    compare_columns::family("GEMM", "GEMM"),
    compare_columns::family("SDPA_fwd", "SDPA_fwd"),
    compare_columns::family("SDPA_bwd", "SDPA_bwd"),
    compare_columns::family("CONV_fwd", "CONV_fwd"),
    compare_columns::family("CONV_bwd", "CONV_bwd"),
    compare_columns::family("UnaryElementwise", "un_eltwise"),
    compare_columns::family("BinaryElementwise", "bin_eltwise"),
};
inline constexpr CompareRule kCompareFamily = compare_columns::family("", "");

}  // namespace tracelens
