#include "query/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tracelens/error.hpp>
#include <tracelens/gpu.hpp>
#include <utility>

#include "analysis/tables/registry.hpp"
#include "database/table_writer.hpp"
#include "facts/steps.hpp"
#include "facts/trace_kind.hpp"
#include "io/ascii.hpp"
#include "query/args_table.hpp"
#include "query/trace_tables.hpp"

namespace tracelens::query {

Schema::Schema(std::string schema, std::shared_ptr<TraceView> view)
    : schema_{std::move(schema)}, name_{view->trace().source().name}, view_{std::move(view)} {}

Schema::Schema(std::string schema, Report report)
    : schema_{std::move(schema)}, name_{std::move(report.trace_name)} {
  for (Table& table : report.tables) {
    std::string name = io::lower_case(table.name());
    made_.emplace(std::move(name), std::make_shared<const Table>(std::move(table)));
  }
}

std::string Schema::report_table(std::string_view name) const {
  const std::string wanted = io::lower_case(name);
  for (const TableInfo& row : tables_of(trace_kind(view_->trace()))) {
    if (row.members == nullptr) {
      if (io::lower_case(row.name) == wanted) return std::string{row.name};
      continue;
    }
    for (const std::string& member : row.members())
      if (io::lower_case(member) == wanted) return member;
  }
  return {};
}

std::shared_ptr<const Table> Schema::table(std::string_view name) {
  const std::string lower = io::lower_case(name);
  if (const auto found = made_.find(lower); found != made_.end()) return found->second;
  if (view_ == nullptr) return nullptr;
  for (const SmallTable& small : small_tables())
    if (small.name == lower)
      return made_.emplace(lower, std::make_shared<const Table>(small.make(*view_, small)))
          .first->second;
  const std::string spelled = report_table(name);
  if (spelled.empty()) return nullptr;
  ReportOptions options = view_->options();
  options.tables = {spelled};
  options.overview = false;
  Report report = make_report(view_->trace(), options);
  const auto found = std::ranges::find(report.tables, spelled, &Table::name);
  if (found == report.tables.end())
    throw Error{spelled, report.warnings.empty()
                             ? "not in the report of this trace"
                             : fmt::format("not in the report of this trace ({})",
                                           fmt::join(report.warnings, ". "))};
  return made_.emplace(lower, std::make_shared<const Table>(std::move(*found))).first->second;
}

void Schema::provide(std::span<const std::shared_ptr<const Table>> tables) {
  for (const std::shared_ptr<const Table>& table : tables)
    made_.emplace(io::lower_case(table->name()), table);
}

void Schema::list(Table& tables, Table& columns) {
  std::set<std::string> listed;
  const auto add_description = [&](std::string_view name, std::string_view description) {
    if (listed.insert(io::lower_case(name)).second) tables.add_row(name, description, kMissing);
  };
  if (view_ != nullptr) {
    for (const TableDef& def : column_tables()) {
      add_description(def.name, def.description);
      Table none = db::table_info();
      db::describe(description_of(def), def.name, none, columns);
    }
    add_description("args", kArgsDescription);
    Table none = db::table_info();
    db::describe(args_description(), "args", none, columns);
    for (const ViewDef& def : views()) add_description(def.name, def.description);
    for (const SmallTable& small : small_tables())
      if (!made_.contains(std::string{small.name})) add_description(small.name, small.description);
  }
  for (const auto& [lower, table] : made_)
    if (listed.insert(lower).second) db::describe(*table, table->name(), tables, columns);
  if (view_ == nullptr) return;
  for (const TableInfo& row : tables_of(trace_kind(view_->trace()))) {
    if (row.members == nullptr) add_description(row.name, row.description);
    if (row.members != nullptr)
      for (const std::string& member : row.members()) add_description(member, row.description);
  }
}

Table trace_info_of(const std::vector<std::unique_ptr<Schema>>& sources) {
  const ColumnSpec columns[] = {{"schema", Kind::kText, "", "its name in SQL"},
                                {"source", Kind::kText, "", "the file it was read from"},
                                {"format", Kind::kText, "", "kineto, perfetto, ..."},
                                {"packing", Kind::kText, "", "gzip, zstd, ..."},
                                {"events", Kind::kInteger, "", "elements of the profiler's list"},
                                {"start_ts", Kind::kInteger, "ns", "start of the first event"},
                                {"end_ts", Kind::kInteger, "ns", "end of the last event"},
                                {"cut_short", Kind::kBool, "", "1: the file ends inside an event"},
                                {"gpu", Kind::kText, "", "product name of its first GPU"}};
  Table table{"trace_info", "What can be asked about", columns};
  for (const auto& source : sources) {
    if (source->view() == nullptr) {
      table.add_row(source->schema(), source->name(), kMissing, kMissing, kMissing, kMissing,
                    kMissing, kMissing, kMissing);
      continue;
    }
    const Trace& trace = source->view()->trace();
    const TraceSpan span = trace_span(trace);
    const std::string gpu = device_name(trace);
    table.add_row(source->schema(), trace.source().name, trace.source().format,
                  trace.source().packing, trace.size(), span.start_ns, span.end_ns,
                  trace.source().cut_short, gpu.empty() ? Cell{kMissing} : Cell{gpu});
  }
  return table;
}

}  // namespace tracelens::query
