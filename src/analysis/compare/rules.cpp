#include "analysis/compare/rules.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kTimelineKeys[] = {"type"}, kTimelineMetrics[] = {"time ms"};
constexpr std::string_view kOpMetrics[] = {"total_direct_kernel_time_ms", "Count"};
constexpr std::string_view kOpDropped[] = {"total_direct_kernel_time_sum"};
constexpr std::string_view kCumulative[] = {"Cumulative Percentage (%)"};
constexpr std::string_view kKernelKeys[] = {"Kernel name"};
constexpr std::string_view kKernelMetrics[] = {
    "Kernel duration (µs)_sum", "Kernel duration (µs)_mean", "Kernel duration (µs)_count"};
constexpr std::string_view kKernelDropped[] = {"Kernel duration (µs)_min",
                                               "Kernel duration (µs)_max", "Parent op category"};
constexpr std::string_view kRocprofMetrics[] = {"Total Kernel Time (ms)", "Mean Kernel Time (µs)",
                                                "Count"};
constexpr std::string_view kRocprofDropped[] = {"Total Kernel Time (µs)", "Median Kernel Time (µs)",
                                                "Std Kernel Time (µs)",   "Min Kernel Time (µs)",
                                                "Max Kernel Time (µs)",   "Category"};
constexpr std::string_view kHipKernelKeys[] = {"Name"},
                           kHipMetrics[] = {"Total Time (ns)", "Instances"};
constexpr std::string_view kCallKeys[] = {"name", "Input type", "Input Dims", "Input Strides",
                                          "Concrete Inputs"};
constexpr std::string_view kCallMetrics[] = {"total_direct_kernel_time_sum",
                                             "total_direct_kernel_time_mean", "operation_count"};
constexpr std::string_view kUnifiedMetrics[] = {"Kernel Time (µs)_sum", "Kernel Time (µs)_mean",
                                                "operation_count"};
constexpr std::string_view kFamilyMetrics[] = {"Kernel Time (µs)_sum", "Kernel Time (µs)_mean",
                                               "name_count", "TFLOPS/s_mean", "TB/s_mean"};
constexpr std::string_view kFamilyDropped[] = {
    "GFLOPS_first",     "Data Moved (MB)_first", "FLOPS/Byte_first",     "Input type_first",
    "Input Dims_first", "Input Strides_first",   "Concrete Inputs_first"};
constexpr std::string_view kCategoryKeys[] = {"op category"};
constexpr std::string_view kHloOpKeys[] = {"HLO op", "module"}, kHloKindKeys[] = {"kind"},
                           kHloScopeKeys[] = {"scope"};
constexpr std::string_view kHloOpMetrics[] = {"GPU time (µs)_sum", "runs"};
constexpr std::string_view kHloMetrics[] = {"GPU time (ms)", "runs"};
constexpr std::string_view kActivityKeys[] = {"GPU ID", "Category"};
constexpr std::string_view kActivityMetrics[] = {"Total runtime (ms)", "Total count"};

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
                           CompareNames metrics) {
  return {.group = group,
          .sheet = sheet,
          .base = sheet,
          .shape = CompareShape::kWhole,
          .sort_by = metrics[0],
          .keys = keys,
          .metrics = metrics,
          .dropped_variants = kCumulative,
          .is_more = true};
}

constexpr CompareRule kRules[] = {
    {.group = "gpu_timeline",
     .sheet = "gpu_timeline",
     .base = "gpu_timeline",
     .shape = CompareShape::kWhole,
     .sort_by = "",
     .keys = kTimelineKeys,
     .metrics = kTimelineMetrics,
     .is_required = true},
    more("ops_summary", "ops_summary_by_category", kCategoryKeys, kOpMetrics),
    {.group = "ops_summary",
     .sheet = "ops_summary",
     .base = "ops_summary",
     .shape = CompareShape::kWhole,
     .sort_by = kOpMetrics[0],
     .keys = kName,
     .metrics = kOpMetrics,
     .dropped = kOpDropped,
     .dropped_variants = kCumulative,
     .is_required = true},
    more("ops_summary", "xla_summary", kName, kOpMetrics),
    more("ops_summary", "kernel_launchers_summary_by_category", kCategoryKeys, kOpMetrics),
    more("ops_summary", "kernel_launchers_summary", kName, kOpMetrics),
    more("ops_summary", "hlo_ops_by_kind", kHloKindKeys, kHloMetrics),
    more("ops_summary", "hlo_scopes", kHloScopeKeys, kHloMetrics),
    more("ops_summary", "hlo_ops", kHloOpKeys, kHloOpMetrics),
    {.group = "kernel_summary",
     .sheet = "kernel_summary",
     .base = "kernel_summary",
     .shape = CompareShape::kWhole,
     .sort_by = kKernelMetrics[0],
     .keys = kKernelKeys,
     .metrics = kKernelMetrics,
     .dropped = kKernelDropped,
     .dropped_variants = kCumulative,
     .is_required = true},
    {.group = "kernel_summary",
     .sheet = "kernel_summary",
     .base = "kernel_summary",
     .shape = CompareShape::kWhole,
     .sort_by = kRocprofMetrics[0],
     .keys = kName,
     .metrics = kRocprofMetrics,
     .dropped = kRocprofDropped,
     .dropped_variants = kCumulative,
     .is_required = true},
    more("kernel_summary", "kernel_summary", kHipKernelKeys, kHipMetrics),
    more("kernel_summary", "kernel_summary_by_category", kCategoryKeys, kOpMetrics),
    more("kernel_summary", "category_summary", kActivityKeys, kActivityMetrics),
    more("kernel_summary", "hip_summary", kHipKernelKeys, kHipMetrics),
    calls("ops_all", kCallMetrics),
    calls("ops_unique_args", kCallMetrics),
    calls("unified_perf_summary", kUnifiedMetrics),
    family("GEMM", "GEMM"),
    family("SDPA_fwd", "SDPA_fwd"),
    family("SDPA_bwd", "SDPA_bwd"),
    family("CONV_fwd", "CONV_fwd"),
    family("CONV_bwd", "CONV_bwd"),
    family("UnaryElementwise", "un_eltwise"),
    family("BinaryElementwise", "bin_eltwise"),
};

constexpr CompareRule kAnyFamily = family("", "");

}  // namespace

std::span<const CompareRule> compare_rules() { return kRules; }

const CompareRule& any_family_rule() { return kAnyFamily; }

}  // namespace tracelens
