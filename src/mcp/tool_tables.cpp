// tables: what can be asked of a trace.
#include <fmt/format.h>

#include <algorithm>
#include <tracelens/error.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/table_names.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kTablesArguments[] = {
    {.name = "table", .description = "its columns instead"},
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 500, .otherwise = 200},
};

// Names, units and descriptions are ours, but of a file that somebody wrote.
Grid page_of(const Table& table, std::size_t offset, std::span<const std::string_view> columns,
             bool is_ours) {
  Table rows = table;
  Grid all = grid_of(rows, {columns.begin(), columns.end()});
  for (AnswerColumn& column : all.columns) column.from_trace = !is_ours && column.from_trace;
  all.rows.erase(all.rows.begin(),
                 all.rows.begin() + static_cast<std::ptrdiff_t>(std::min(offset, all.rows.size())));
  return all;
}

Value run_tables(Call& call) {
  const TraceStore::Lease desk = call.open_trace();
  const std::string& name = call.text("table");
  const bool is_ours = desk->has_trace();
  Answer answer;
  answer.offset = call.offset();
  if (name.empty()) {
    const Table tables = desk->session().tables();
    constexpr std::string_view kColumns[] = {"table", "description", "rows"};
    answer.title = "Tables; rows are known of those that were made already";
    answer.grid = page_of(tables, answer.offset, kColumns, is_ours);
    answer.total = tables.rows();
    return call.result(std::move(answer), &*desk);
  }
  const Table columns = columns_of(*desk, name);
  constexpr std::string_view kColumns[] = {"column", "title", "unit", "description"};
  answer.title = fmt::format("Columns of {}", in_quotes(name));
  answer.grid = page_of(columns, answer.offset, kColumns, is_ours);
  answer.total = columns.rows();
  return call.result(std::move(answer), &*desk);
}

}  // namespace

const Tool kTablesTool{
    .name = "tables",
    .title = "Tables and columns",
    .description =
        "Names and meanings of all tables; with `table` its columns. Use it when you do not "
        "know a name.",
    .arguments = {kTablesArguments, trace_arguments()},
    .more_output = no_more_output,
    .run = run_tables};

}  // namespace tracelens::mcp
