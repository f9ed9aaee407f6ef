#include "analysis/compare_sheets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tracelens/error.hpp>

#include "analysis/compare_join.hpp"

namespace tracelens {
namespace {

enum class Shape : std::uint8_t {
  kWhole,  // one sheet with all rows
  kSplit,  // per variant: rows of both, only of the baseline, only of the variant
};

using Names = std::span<const std::string_view>;

// What is known about one layout of one sheet.
struct Rule {
  std::string_view group;
  std::string_view sheet;
  std::string_view base;  // of the names of the split sheets
  Shape shape;
  std::string_view sort_by;  // a metric, or empty: by key
  Names keys, metrics;
  Names dropped = {};           // columns left out
  Names dropped_variants = {};  // left out of all but the first report
  bool by_params = false;       // the columns "param: ..." of all reports are keys too
  bool is_required = false;     // asked for by name it must be there
  bool is_more = false;         // not compared by the Python TraceLens
};

constexpr std::string_view kName[] = {"name"};
constexpr std::string_view kTimelineKeys[] = {"type"}, kTimelineMetrics[] = {"time ms"};
constexpr std::string_view kOpMetrics[] = {"total_direct_kernel_time_ms", "Count"};
constexpr std::string_view kOpDropped[] = {"total_direct_kernel_time_sum"};
constexpr std::string_view kCumulative[] = {"Cumulative Percentage (%)"};
constexpr std::string_view kKernelKeys[] = {"Kernel name"};
constexpr std::string_view kKernelMetrics[] = {"Kernel duration (µs)_sum", "Kernel duration (µs)_mean",
                                               "Kernel duration (µs)_count"};
constexpr std::string_view kKernelDropped[] = {"Kernel duration (µs)_min",
                                               "Kernel duration (µs)_max", "Parent op category"};
constexpr std::string_view kRocprofMetrics[] = {"Total Kernel Time (ms)", "Mean Kernel Time (µs)",
                                                "Count"};
constexpr std::string_view kRocprofDropped[] = {
    "Total Kernel Time (µs)", "Median Kernel Time (µs)", "Std Kernel Time (µs)",
    "Min Kernel Time (µs)",   "Max Kernel Time (µs)",    "Category"};
constexpr std::string_view kHipKernelKeys[] = {"Name"}, kHipMetrics[] = {"Total Time (ns)", "Instances"};
constexpr std::string_view kCallKeys[] = {"name", "Input type", "Input Dims", "Input Strides",
                                          "Concrete Inputs"};
constexpr std::string_view kCallMetrics[] = {
    "total_direct_kernel_time_sum", "total_direct_kernel_time_mean", "operation_count"};
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

constexpr Rule family(std::string_view sheet, std::string_view base) {
  return {.group = "roofline", .sheet = sheet, .base = base, .shape = Shape::kSplit,
          .sort_by = kFamilyMetrics[0], .keys = kName, .metrics = kFamilyMetrics,
          .dropped_variants = kFamilyDropped, .by_params = true};
}
constexpr Rule calls(std::string_view sheet, Names metrics) {
  return {.group = "ops_all", .sheet = sheet, .base = sheet, .shape = Shape::kSplit,
          .sort_by = metrics[0], .keys = kCallKeys, .metrics = metrics};
}
constexpr Rule more(std::string_view group, std::string_view sheet, Names keys, Names metrics) {
  return {.group = group, .sheet = sheet, .base = sheet, .shape = Shape::kWhole,
          .sort_by = metrics[0], .keys = keys, .metrics = metrics,
          .dropped_variants = kCumulative, .is_more = true};
}

// In the order of the result. Of several layouts of a sheet the first whose keys the baseline has
// is taken.
constexpr Rule kRules[] = {
    {.group = "gpu_timeline", .sheet = "gpu_timeline", .base = "gpu_timeline",
     .shape = Shape::kWhole, .sort_by = "", .keys = kTimelineKeys, .metrics = kTimelineMetrics,
     .is_required = true},
    more("ops_summary", "ops_summary_by_category", kCategoryKeys, kOpMetrics),
    {.group = "ops_summary", .sheet = "ops_summary", .base = "ops_summary",
     .shape = Shape::kWhole, .sort_by = kOpMetrics[0], .keys = kName, .metrics = kOpMetrics,
     .dropped = kOpDropped, .dropped_variants = kCumulative, .is_required = true},
    more("ops_summary", "xla_summary", kName, kOpMetrics),
    more("ops_summary", "kernel_launchers_summary_by_category", kCategoryKeys, kOpMetrics),
    more("ops_summary", "kernel_launchers_summary", kName, kOpMetrics),
    more("ops_summary", "hlo_ops_by_kind", kHloKindKeys, kHloMetrics),
    more("ops_summary", "hlo_scopes", kHloScopeKeys, kHloMetrics),
    more("ops_summary", "hlo_ops", kHloOpKeys, kHloOpMetrics),
    {.group = "kernel_summary", .sheet = "kernel_summary", .base = "kernel_summary",
     .shape = Shape::kWhole, .sort_by = kKernelMetrics[0], .keys = kKernelKeys,
     .metrics = kKernelMetrics, .dropped = kKernelDropped, .dropped_variants = kCumulative,
     .is_required = true},
    {.group = "kernel_summary", .sheet = "kernel_summary", .base = "kernel_summary",
     .shape = Shape::kWhole, .sort_by = kRocprofMetrics[0], .keys = kName,
     .metrics = kRocprofMetrics, .dropped = kRocprofDropped, .dropped_variants = kCumulative,
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

constexpr std::string_view kGroups[] = {"gpu_timeline", "ops_summary", "kernel_summary",
                                        "ops_all",      "roofline",    "all"};

// Columns a workbook folds away, by how their names end.
constexpr std::string_view kFoldedCalls[] = {"kernel_names", "median", "std", "min", "max",
                                             "ex_UID"};
constexpr std::string_view kFoldedFamilies[] = {
    "kernel_names_first", "UID", "median", "std", "min", "max", "Input type_first",
    "Input Dims_first", "Input Strides_first", "Concrete Inputs_first"};

double ms_per_unit(std::string_view metric) {
  if (metric.find("(ns)") != metric.npos) return 1e-6;
  const bool is_us = metric.find("µs") != metric.npos || metric == kCallMetrics[0];
  return is_us ? 1e-3 : 1;
}

std::vector<std::string> strings(Names names) { return {names.begin(), names.end()}; }

bool has_columns(const Table& table, Names names) {
  return std::ranges::all_of(names, [&](std::string_view name) { return table.has_column(name); });
}

class Comparison {
 public:
  Comparison(std::span<const ComparedReport> reports, const CompareSheetsOptions& options,
             std::vector<std::string>& notes)
      : reports_{reports}, options_{options}, notes_{notes} {}

  std::vector<Table> make() {
    for (const Rule& rule : kRules)
      if (is_selected(rule)) compare(rule);
    if (options_.more_sheets && (is_named("roofline") || is_named("all"))) compare_other_families();
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_named(std::string_view group) const {
    return std::ranges::find(options_.groups, group) != options_.groups.end();
  }
  [[nodiscard]] bool is_selected(const Rule& rule) const {
    return (is_named(rule.group) || is_named("all")) && (options_.more_sheets || !rule.is_more);
  }

  // The layout of a sheet is that of the baseline. A required sheet without any known layout is
  // told of once, by its last rule.
  void compare(const Rule& rule) {
    const Table* const base = reports_.front().find(rule.sheet);
    const bool must_be_there = rule.is_required && is_named(rule.group);
    if (base == nullptr) {
      if (must_be_there) throw missing(reports_.front(), rule.sheet);
      if (rule.is_required && !was_told(rule.sheet))
        note(fmt::format("{} has no sheet {}: it is not compared", reports_.front().tag,
                         rule.sheet));
      return;
    }
    if (was_compared(rule.sheet) || !has_columns(*base, rule.keys)) return;
    for (const ComparedReport& report : reports_) {
      const Table* const table = report.find(rule.sheet);
      if (table == nullptr && is_named(rule.group) && !rule.is_more)
        throw missing(report, rule.sheet);
      if (table == nullptr || (table->rows() == 0 && rule.by_params)) {
        note(table == nullptr
                 ? fmt::format("{} has no sheet {}: it is not compared", report.tag, rule.sheet)
                 : fmt::format("Skipping roofline sheet '{}' because one of the reports is empty.",
                               rule.sheet));
        return;
      }
      if (table->rows() > 0 && !has_columns(*table, rule.keys)) {
        note(fmt::format("{}: {} has other columns than {}: it is not compared", rule.sheet,
                         report.tag, reports_.front().tag));
        return;
      }
      if (!has_columns(*table, rule.keys)) {
        note(fmt::format("{} of {} is empty: it is not compared", rule.sheet, report.tag));
        return;
      }
    }
    compared_.emplace_back(rule.sheet);
    add(rule, rule.sheet, rule.base);
  }

  // Families of ops that have no rule of their own: any sheet with parameters and times.
  void compare_other_families() {
    constexpr Rule kAny = family("", "");
    for (const Table& base : reports_.front().tables) {
      const bool is_family =
          base.rows() > 0 && base.has_column("name") && base.has_column(kFamilyMetrics[0]) &&
          std::ranges::any_of(base.columns(), [](const Table::Column& column) {
            return column.spec().name.starts_with("param: ");
          });
      if (!is_family || was_compared(base.name())) continue;
      const bool everywhere = std::ranges::all_of(reports_, [&](const ComparedReport& report) {
        const Table* const table = report.find(base.name());
        return table != nullptr && table->rows() > 0 && table->has_column("name");
      });
      if (everywhere)
        add(kAny, base.name(), base.name());
      else
        note(fmt::format("{} is not in every report: it is not compared", base.name()));
    }
  }

  void add(const Rule& rule, std::string_view sheet, std::string_view base) {
    JoinSpec spec{.keys = strings(rule.keys), .metrics = strings(rule.metrics)};
    if (rule.by_params) add_common_params(sheet, spec.keys);
    std::vector<JoinSide> sides;
    for (const ComparedReport& report : reports_) {
      JoinSide side{.tag = report.tag, .table = report.find(sheet), .dropped = strings(rule.dropped)};
      if (!sides.empty())
        for (const std::string_view column : rule.dropped_variants)
          side.dropped.emplace_back(column);
      sides.push_back(std::move(side));
    }
    const TableJoin join{std::move(sides), std::move(spec), notes_};
    if (rule.shape == Shape::kWhole) {
      result_.push_back(join.all(std::string{base}, rule.sort_by));
      return;
    }
    using Part = TableJoin::Part;
    constexpr std::pair<Part, const char*> kParts[] = {{Part::kIntersect, "intersect"},
                                                       {Part::kOnlyBaseline, "only_baseline"},
                                                       {Part::kOnlyVariant, "only_variant"}};
    for (std::size_t variant = 1; variant < reports_.size(); ++variant)
      for (const auto& [part, word] : kParts)
        result_.push_back(join.part(part, variant,
                                    fmt::format("{}_{}_{}", base, word, reports_[variant].tag),
                                    rule.sort_by));
  }

  void add_common_params(std::string_view sheet, std::vector<std::string>& keys) const {
    std::vector<std::string> params;
    for (const Table::Column& column : reports_.front().find(sheet)->columns()) {
      const std::string& name = column.spec().name;
      if (name.starts_with("param:") &&
          std::ranges::all_of(reports_, [&](const ComparedReport& report) {
            return report.find(sheet)->has_column(name);
          }))
        params.push_back(name);
    }
    std::ranges::sort(params);
    keys.insert(keys.end(), params.begin(), params.end());
  }

  [[nodiscard]] bool was_compared(std::string_view sheet) const {
    return std::ranges::find(compared_, sheet) != compared_.end();
  }
  [[nodiscard]] bool was_told(std::string_view sheet) const {
    return std::ranges::any_of(notes_, [&](const std::string& sentence) {
      return sentence.find(fmt::format("sheet {}:", sheet)) != std::string::npos;
    });
  }
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  static Error missing(const ComparedReport& report, std::string_view sheet) {
    if (report.is_folder) return {report.path, fmt::format("has no '{}.csv'", sheet)};
    return {report.path, fmt::format("has no sheet named '{}'", sheet)};
  }

  std::span<const ComparedReport> reports_;
  const CompareSheetsOptions& options_;
  std::vector<std::string>& notes_;
  std::vector<std::string> compared_;
  std::vector<Table> result_;
};

}  // namespace

const Table* ComparedReport::find(std::string_view table) const {
  const auto found = std::ranges::find(tables, table, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

std::span<const std::string_view> compare_groups() { return kGroups; }

bool is_compared(std::string_view sheet, std::string_view group, bool more_sheets) {
  const bool is_known = std::ranges::any_of(kRules, [&](const Rule& rule) {
    return rule.sheet == sheet && (group == "all" || rule.group == group) &&
           (more_sheets || !rule.is_more);
  });
  return is_known || (more_sheets && (group == "all" || group == "roofline"));
}

std::vector<Table> compare_sheets(std::span<const ComparedReport> reports,
                                  const CompareSheetsOptions& options,
                                  std::vector<std::string>& notes) {
  return Comparison{reports, options, notes}.make();
}

std::optional<SheetMeasure> sheet_measure(const Table& table) {
  for (const Rule& rule : kRules)
    if (rule.sheet == table.name() && has_columns(table, rule.keys) &&
        table.has_column(rule.metrics[0]))
      // A GPU's number comes before what it did; everywhere else the first key is the name.
      return SheetMeasure{rule.keys[rule.keys[0] == kActivityKeys[0] ? 1 : 0], rule.metrics[0],
                          ms_per_unit(rule.metrics[0])};
  return std::nullopt;
}

bool is_folded_column(std::string_view sheet, std::string_view column) {
  const auto ends = [column](std::string_view suffix) { return column.ends_with(suffix); };
  if (sheet.find("_intersect_") == sheet.npos && sheet.find("_only_") == sheet.npos) return false;
  const bool is_call = std::ranges::any_of(kRules, [&](const Rule& rule) {
    return rule.group == "ops_all" && sheet.starts_with(std::string{rule.base} + "_");
  });
  return is_call ? std::ranges::any_of(kFoldedCalls, ends)
                 : std::ranges::any_of(kFoldedFamilies, ends);
}

}  // namespace tracelens
