#include "analysis/tables/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tracelens/error.hpp>
#include <tracelens/near_names.hpp>
#include <utility>

#include "analysis/tables/compare_rules.hpp"
#include "analysis/tables/lists.hpp"

namespace tracelens {
namespace {

struct KindTables {
  TraceKind kind;
  std::string_view name;
  std::span<const TableInfo> (*tables)();
};
struct VerbTables {
  std::string_view verb, name;
  std::span<const TableInfo> (*tables)();
};
constexpr KindTables kKinds[] = {
    {TraceKind::kPyTorch, "PyTorch", pytorch_tables},
    {TraceKind::kJax, "JAX", jax_tables},
    {TraceKind::kRocmTimeline, "ROCm timeline", rocm_timeline_tables},
    {TraceKind::kRocprof, "rocprofv3", rocprof_result_tables},
    {TraceKind::kDatabase, "database", database_tables},
};
// Those that another verb makes, most of them of several traces together.
constexpr VerbTables kVerbs[] = {
    {"collectives", "ranks of one run", rank_tables},
    {"diff", "two traces", diff_tables},
    {"roofline", "PyTorch, JAX", roofline_tables},
};

constexpr std::size_t kUsualRows = 12;  // of a table without a place on the screen

constexpr TableFlag kFlags[] = {
    {"kernel-categories",
     "Also a table of what the kernels of each op or graph launch do, by their names"},
    {"overlap", "Also the tables of what ran beside each op"},
    {"by-module", "Also tables of GPU time by nn.Module (needs Python stacks in the trace)"},
    {"path",
     "Also the critical path, stretch by stretch, and what the run would gain without parts of it"},
    {"by-step", "Also tables that put the steps of the loop side by side"},
    {"host",
     "Also the tables of what the host asked of the GPU: launches, queues, copies, waits, gaps"},
    {"memory", "Also tables of memory over time, and by the ops that asked for it"},
    {"sequences", "Also a table of the sequences of kernels that ops and nn.Modules launch"},
    {"kernel-details", "Also every dispatch of rocprofv3 results with its grid, registers and LDS"},
};

constexpr std::pair<Needs, std::string_view> kNeeds[] = {
    {Needs::kOps, "ops"},
    {Needs::kFrames, "Python stacks"},
    {Needs::kModules, "nn.Modules"},
    {Needs::kSteps, "steps"},
    {Needs::kSeveralGpus, "several GPUs"},
    {Needs::kSeveralProcesses, "several processes"},
    {Needs::kCalls, "HIP calls"},
    {Needs::kCopies, "memory copies"},
    {Needs::kCounters, "hardware counters"},
    {Needs::kCollectives, "collectives"},
    {Needs::kOverlap, "kernels that overlap"},
    {Needs::kServing, "steps of a serving engine"},
    {Needs::kMemory, "memory events"},
};

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Whether a list of tables and groups names this one.
bool names_row(const std::vector<std::string>& names, const TableInfo& table) {
  return std::ranges::any_of(names, [&](const std::string& name) {
    return table.makes(name) || (!table.group.empty() && table.group == name);
  });
}

// A row that stands for many tables is left out by its own name only; wants() sees to the others.
bool is_left_out(const TableInfo& table, const ReportOptions& options) {
  return contains(options.without, table.name) ||
         (!table.group.empty() && contains(options.without, table.group));
}

bool is_selected(const TableInfo& table, const ReportOptions& options) {
  if (is_left_out(table, options)) return false;
  if (!options.tables.empty()) return names_row(options.tables, table);
  if (!options.views.empty() && !table.view.empty() && !contains(options.views, table.view))
    return false;
  switch (table.on) {
    case Default::kOff:
      return names_row(options.also, table) || (table.on_page && options.page);
    case Default::kExtended:
      return options.edition == Edition::kExtended || names_row(options.also, table);
    case Default::kOn:
      break;
  }
  return true;
}

bool is_known(const std::string& name) {
  const std::vector<std::string> one{name};
  return std::ranges::any_of(kKinds, [&](const KindTables& kind) {
    return std::ranges::any_of(kind.tables(),
                               [&](const TableInfo& table) { return names_row(one, table); });
  });
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const KindTables& kind : kKinds)
    for (const TableInfo& table : kind.tables()) {
      names.emplace_back(table.name);
      if (!table.group.empty()) names.emplace_back(table.group);
    }
  return names;
}

// The row of a table, whatever kind of trace it is of: of several layouts that whose foremost
// column the table has. nullptr: a table that is not ours.
const TableInfo* row_of(const Table& table, std::string_view verb) {
  const TableInfo* found = nullptr;
  const auto look = [&](std::span<const TableInfo> rows) {
    for (const TableInfo& row : rows) {
      if (!row.makes(table.name())) continue;
      std::string_view foremost;
      (void)row.any_screen_column([&](std::string_view name) {
        foremost = name;
        return true;
      });
      const bool fits = foremost.empty() || table.has_column(foremost);
      if (fits || found == nullptr) found = &row;
      if (fits) return true;
    }
    return false;
  };
  for (const VerbTables& each : kVerbs)
    if (each.verb == verb && look(each.tables())) return found;
  for (const KindTables& each : kKinds)
    if (look(each.tables())) return found;
  for (const VerbTables& each : kVerbs)
    if (look(each.tables())) return found;
  return found;
}

// They would take the room of others.
bool has_no_value(const Table& table, std::string_view column) {
  if (table.rows() == 0 || !table.has_column(column)) return false;
  const auto& present = table.column(column).present();
  return std::ranges::find(present, 1) == present.end();
}

Excerpt excerpt_by(const TableInfo* row, const Table& table) {
  if (row == nullptr) return {table.name(), kUsualRows, {}};
  std::vector<std::string_view> columns = row->screen_columns();
  std::erase_if(columns, [&](std::string_view name) { return has_no_value(table, name); });
  return {table.name(), row->screen.rows == 0 ? kUsualRows : row->screen.rows, std::move(columns)};
}

// "--by-module", "always", ...
std::string asked_for_by(const TableInfo& table) {
  switch (table.on) {
    case Default::kOff:
      return fmt::format("--{}", table.group);
    case Default::kExtended:
      return "not in the reference edition";
    case Default::kOn:
      break;
  }
  return "always";
}

}  // namespace

std::string text_of(Needs needs) {
  std::string text;
  for (const auto& [need, name] : kNeeds)
    if (includes(needs, need)) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

bool TableInfo::makes(std::string_view table) const {
  if (table == name) return true;
  return members != nullptr && contains(members(), table);
}

std::vector<std::string_view> TableInfo::screen_columns() const {
  std::vector<std::string_view> names;
  (void)any_screen_column([&](std::string_view column) {
    names.push_back(column);
    return false;
  });
  return names;
}

std::span<const TableInfo> tables_of(TraceKind kind) {
  return std::ranges::find(kKinds, kind, &KindTables::kind)->tables();
}

std::span<const TableFlag> table_flags() { return kFlags; }

std::span<const CompareRule> compare_rules() {
  static const std::vector<CompareRule> rules = [] {
    std::vector<const CompareRule*> seen;
    std::vector<CompareRule> found{kCompareAllOps};  // a sheet of older reports
    for (const KindTables& kind : kKinds)
      for (const TableInfo& table : kind.tables()) {
        if (table.compare == nullptr || std::ranges::find(seen, table.compare) != seen.end())
          continue;
        seen.push_back(table.compare);
        found.push_back(*table.compare);
      }
    found.insert(found.end(), std::begin(kCompareFamilies), std::end(kCompareFamilies));
    std::ranges::stable_sort(found, {}, [&](const CompareRule& rule) {
      return std::pair{std::ranges::find(kCompareGroups, rule.group) - std::begin(kCompareGroups),
                       rule.place};
    });
    return found;
  }();
  return rules;
}

const CompareRule& any_family_rule() { return kCompareFamily; }

void check_table_names(const ReportOptions& options) {
  for (const auto* const names : {&options.tables, &options.also, &options.without})
    for (const std::string& name : *names)
      if (!is_known(name)) {
        const std::string meant = did_you_mean(name, known_names());
        throw Error{
            name, fmt::format("no such table{}",
                              meant.empty() ? "; `tracelens report --list-tables` shows all of them"
                                            : meant)};
      }
  constexpr std::array<std::string_view, 3> kViews = {"activity", "api", "memcpy"};
  for (const std::string& view : options.views)
    if (std::ranges::find(kViews, view) == kViews.end())
      throw Error{view, "no such view; known are activity, api and memcpy"};
}

Selection::Selection(TraceKind kind, const ReportOptions& options) : options_{options} {
  check_table_names(options);
  for (const TableInfo& table : tables_of(kind))
    if (is_selected(table, options)) rows_.push_back(&table);
}

bool Selection::wants(std::string_view table) const {
  if (contains(options_.without, table)) return false;
  const auto row =
      std::ranges::find_if(rows_, [&](const TableInfo* each) { return each->makes(table); });
  if (row == rows_.end() || options_.tables.empty()) return row != rows_.end();
  const auto is_asked = [this](std::string_view name) { return contains(options_.tables, name); };
  return is_asked(table) || is_asked((*row)->name) || is_asked((*row)->group);
}

bool Selection::needs(Needs needs) const {
  return std::ranges::any_of(
      rows_, [needs](const TableInfo* table) { return includes(table->needs, needs); });
}

std::vector<std::string> Selection::missing(std::span<const Table> made) const {
  std::vector<std::string> sentences;
  for (const std::string& name : options_.tables) {
    const bool is_made = std::ranges::any_of(made, [&](const Table& table) {
      return table.name() == name || std::ranges::any_of(rows_, [&](const TableInfo* row) {
               return (row->group == name || row->name == name) && row->makes(table.name());
             });
    });
    if (is_made) continue;
    const auto row = std::ranges::find_if(
        rows_, [&](const TableInfo* each) { return each->makes(name) || each->group == name; });
    if (row != rows_.end() && (*row)->make == nullptr) continue;  // no warnings: all is well
    std::string sentence = fmt::format("{}: this trace gives no such table", name);
    if (row == rows_.end())
      sentence = fmt::format("{}: not a table of this kind of trace", name);
    else if (const std::string needs = text_of((*row)->needs); !needs.empty())
      sentence += fmt::format("; it needs {}", needs);
    sentences.push_back(std::move(sentence));
  }
  return sentences;
}

bool is_off_screen(const Table& table, std::string_view column) {
  const TableInfo* const row = row_of(table, "report");
  if (row == nullptr) return false;
  const auto is_shown = [&](std::string_view name) { return !has_no_value(table, name); };
  const bool is_first = row->any_screen_column([&](std::string_view name) {
    return name == column;
  }) && is_shown(column);
  return !is_first && row->any_screen_column(is_shown);
}

Excerpt excerpt_of(const Table& table, std::string_view verb) {
  return excerpt_by(row_of(table, verb), table);
}

std::vector<Excerpt> first_tables(const Report& report, std::string_view verb) {
  std::vector<std::pair<int, Excerpt>> placed;
  for (const Table& table : report.tables)
    if (const TableInfo* const row = row_of(table, verb); row != nullptr && row->screen.place != 0)
      placed.emplace_back(row->screen.place, excerpt_by(row, table));
  std::ranges::stable_sort(placed, {}, &std::pair<int, Excerpt>::first);
  std::vector<Excerpt> excerpts;
  for (auto& [place, excerpt] : placed) excerpts.push_back(std::move(excerpt));
  return excerpts;
}

Table table_list() {
  const ColumnSpec columns[] = {
      {"table", Kind::kText, "", "name, for --tables"},
      {"description", Kind::kText, "", "what it says"},
      {"traces", Kind::kText, "", "kinds of trace that have it"},
      {"made", Kind::kText, "", "when it is not asked for by name"},
      {"group", Kind::kText, "", "name of the tables that go with it; may be empty"},
      {"needs", Kind::kText, "", "what the trace must hold"}};
  Table list{"tables", "Every table of a report", columns};
  // Kinds of trace that have the same table share a row.
  std::vector<const TableInfo*> listed;
  const auto is_same = [](const TableInfo& a, const TableInfo& b) {
    return a.name == b.name && a.description == b.description && a.on == b.on && a.needs == b.needs;
  };
  for (const KindTables& kind : kKinds)
    for (const TableInfo& table : kind.tables()) {
      const auto same = [&](const TableInfo& other) { return is_same(table, other); };
      if (std::ranges::any_of(listed, [&](const TableInfo* other) { return same(*other); }))
        continue;
      listed.push_back(&table);
      std::string description{table.description};
      if (table.members != nullptr)
        description += fmt::format(": {}", fmt::join(table.members(), ", "));
      std::string kinds;
      for (const KindTables& other : kKinds)
        if (std::ranges::any_of(other.tables(), same))
          kinds.append(kinds.empty() ? "" : ", ").append(other.name);
      list.add_row(table.name, description, kinds, asked_for_by(table), table.group,
                   text_of(table.needs));
    }
  for (const VerbTables& verb : kVerbs)
    for (const TableInfo& table : verb.tables())
      if (table.group != kWarningsTable.group)
        list.add_row(table.name, table.description, verb.name,
                     fmt::format("by tracelens {}", verb.verb), table.group, text_of(table.needs));
  return list;
}

}  // namespace tracelens
