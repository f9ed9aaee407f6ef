#include "analysis/compare/sheets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tracelens/compare.hpp>
#include <tracelens/error.hpp>

#include "analysis/compare/join.hpp"
#include "analysis/tables/registry.hpp"

namespace tracelens {
namespace {

using Rule = CompareRule;
using Names = CompareNames;
using Shape = CompareShape;

// Columns a workbook folds away, by how their names end.
constexpr std::string_view kFoldedCalls[] = {"kernel_names", "median", "std",
                                             "min",          "max",    "ex_UID"};
constexpr std::string_view kFoldedFamilies[] = {"kernel_names_first",
                                                "UID",
                                                "median",
                                                "std",
                                                "min",
                                                "max",
                                                "Input type_first",
                                                "Input Dims_first",
                                                "Input Strides_first",
                                                "Concrete Inputs_first"};

double ms_per_unit(std::string_view metric) {
  if (metric.find("(ns)") != metric.npos) return 1e-6;
  const bool is_us = metric.find("µs") != metric.npos || metric == "total_direct_kernel_time_sum";
  return is_us ? 1e-3 : 1;
}

std::vector<std::string> strings(Names names) { return {names.begin(), names.end()}; }

bool has_columns(const Table& table, Names names) {
  return std::ranges::all_of(names, [&](std::string_view name) { return table.has_column(name); });
}

bool is_in(const Rule& rule, Edition edition) {
  return edition == Edition::kExtended || rule.edition == Edition::kReference;
}

class SheetComparison {
 public:
  SheetComparison(std::span<const ComparedReport> reports, const CompareSheetsOptions& options,
                  std::vector<std::string>& notes)
      : reports_{reports}, options_{options}, notes_{notes} {}

  std::vector<Table> make() {
    for (const Rule& rule : compare_rules())
      if (is_selected(rule)) compare(rule);
    if (is_extended() && (is_named("roofline") || is_named("all"))) compare_other_families();
    for (const ComparedReport& report : reports_) tell_missing(report);
    return std::move(result_);
  }

 private:
  [[nodiscard]] bool is_extended() const { return options_.edition == Edition::kExtended; }
  [[nodiscard]] bool is_named(std::string_view group) const {
    return std::ranges::find(options_.groups, group) != options_.groups.end();
  }
  [[nodiscard]] bool is_selected(const Rule& rule) const {
    return (is_named(rule.group) || is_named("all")) && is_in(rule, options_.edition);
  }

  // The layout of a sheet is that of the baseline. A required sheet without any known layout is
  // told of once, by its last rule.
  void compare(const Rule& rule) {
    const Table* const base = reports_.front().find(rule.sheet);
    const bool must_be_there = rule.is_required && is_named(rule.group);
    if (base == nullptr) {
      if (must_be_there) throw missing(reports_.front(), rule.sheet);
      if (rule.is_required) note_missing(reports_.front(), rule.sheet);
      return;
    }
    if (was_compared(rule.sheet) || !has_columns(*base, rule.keys)) return;
    for (const ComparedReport& report : reports_) {
      const Table* const table = report.find(rule.sheet);
      if (table == nullptr && is_named(rule.group) && rule.edition == Edition::kReference)
        throw missing(report, rule.sheet);
      if (table == nullptr || (table->rows() == 0 && rule.by_params)) {
        if (table == nullptr || is_extended())
          note_missing(report, rule.sheet);
        else
          note(fmt::format("Skipping roofline sheet '{}' because one of the reports is empty.",
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
    for (const Table& base : reports_.front().tables) {
      const bool is_family = base.rows() > 0 && base.has_column("name") &&
                             base.has_column(any_family_rule().sort_by) &&
                             std::ranges::any_of(base.columns(), [](const Table::Column& column) {
                               return column.spec().name.starts_with("param: ");
                             });
      if (!is_family || was_compared(base.name()) || told_.contains(base.name())) continue;
      const bool everywhere = std::ranges::all_of(reports_, [&](const ComparedReport& report) {
        const Table* const table = report.find(base.name());
        return table != nullptr && table->rows() > 0 && table->has_column("name");
      });
      if (everywhere) add(any_family_rule(), base.name(), base.name());
      for (const ComparedReport& report : reports_)
        if (const Table* const table = report.find(base.name());
            table == nullptr || table->rows() == 0)
          note_missing(report, base.name());
    }
  }

  void add(const Rule& rule, std::string_view sheet, std::string_view base) {
    JoinSpec spec{
        .keys = strings(rule.keys), .metrics = strings(rule.metrics), .in_order = is_extended()};
    if (rule.by_params) add_common_params(sheet, spec.keys);
    if (is_extended()) add_launching_op(sheet, spec.keys);
    std::vector<JoinSide> sides;
    for (const ComparedReport& report : reports_) {
      JoinSide side{
          .tag = report.tag, .table = report.find(sheet), .dropped = strings(rule.dropped)};
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

  // A kernel that several ops launch has a row for each.
  void add_launching_op(std::string_view sheet, std::vector<std::string>& keys) const {
    const bool is_told = std::ranges::all_of(reports_, [&](const ComparedReport& report) {
      return report.find(sheet)->has_column(kLaunchingOp);
    });
    if (is_told && sheet == "kernel_summary") keys.emplace_back(kLaunchingOp);
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
  // Once per sheet: several rules may know it by different layouts.
  void note_missing(const ComparedReport& report, std::string_view sheet) {
    if (!told_.insert(sheet).second) return;
    if (is_extended())
      missing_[&report].emplace_back(sheet);
    else
      note(fmt::format("{} has no sheet {}: it is not compared", report.tag, sheet));
  }
  // All that one report lacks in one sentence. What no report has is nothing to tell.
  void tell_missing(const ComparedReport& lacking) {
    std::vector<std::string_view>& sheets = missing_[&lacking];
    std::erase_if(sheets, [this](std::string_view sheet) {
      return std::ranges::none_of(reports_, [sheet](const ComparedReport& report) {
        return report.find(sheet) != nullptr;
      });
    });
    if (!sheets.empty())
      note(fmt::format("not compared, since {} has nothing of it: {}", lacking.tag,
                       fmt::join(sheets, ", ")));
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
  std::set<std::string_view> told_;  // sheets that a note calls missing
  std::map<const ComparedReport*, std::vector<std::string_view>> missing_;
  std::vector<Table> result_;
};

}  // namespace

const Table* ComparedReport::find(std::string_view table) const {
  const auto found = std::ranges::find(tables, table, &Table::name);
  return found == tables.end() ? nullptr : &*found;
}

std::span<const std::string_view> compare_groups() { return kCompareGroups; }

bool is_compared(std::string_view sheet, std::string_view group, Edition edition) {
  const bool is_known = std::ranges::any_of(compare_rules(), [&](const Rule& rule) {
    return rule.sheet == sheet && (group == "all" || rule.group == group) && is_in(rule, edition);
  });
  return is_known || (edition == Edition::kExtended && (group == "all" || group == "roofline"));
}

std::vector<Table> compare_sheets(std::span<const ComparedReport> reports,
                                  const CompareSheetsOptions& options,
                                  std::vector<std::string>& notes) {
  return SheetComparison{reports, options, notes}.make();
}

std::optional<SheetMeasure> sheet_measure(const Table& table) {
  for (const Rule& rule : compare_rules())
    if (rule.sheet == table.name() && has_columns(table, rule.keys) &&
        table.has_column(rule.metrics[0]))
      // A GPU's number comes before what it did; everywhere else the first key is the name.
      return SheetMeasure{rule.keys[rule.keys[0] == "GPU ID" ? 1 : 0], rule.metrics[0],
                          ms_per_unit(rule.metrics[0]),
                          rule.sheet == "hlo_ops" ? rule.keys[1] : std::string_view{}};
  return std::nullopt;
}

bool is_folded_column(const Table& table, std::string_view column) {
  const std::string_view sheet = table.name();
  const auto ends = [column](std::string_view suffix) { return column.ends_with(suffix); };
  if (sheet.find("_intersect_") == sheet.npos && sheet.find("_only_") == sheet.npos) return false;
  const bool is_call = std::ranges::any_of(compare_rules(), [&](const Rule& rule) {
    return rule.group == "ops_all" && sheet.starts_with(std::string{rule.base} + "_");
  });
  return is_call ? std::ranges::any_of(kFoldedCalls, ends)
                 : std::ranges::any_of(kFoldedFamilies, ends);
}

}  // namespace tracelens
