// query: SQL, for what no other tool answers.
#include <fmt/format.h>

#include "mcp/sql_rows.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kQueryArguments[] = {
    {.name = "sql", .description = "one SELECT or EXPLAIN", .is_required = true},
    {.name = "params", .kind = ArgumentKind::kObject, .description = "values of :name"},
    {.name = "timeout_s", .kind = ArgumentKind::kInteger, .least = 1, .most = 60, .otherwise = 10},
};

std::vector<QueryParam> params_of(const Value& given) {
  std::vector<QueryParam> params;
  for (std::size_t i = 0; i < given.keys().size(); ++i)
    params.push_back(
        query_param(given.keys()[i], given.items()[i], "params: expected texts and numbers"));
  return params;
}

Value run_query(Call& call) {
  const std::vector<QueryParam> params = params_of(call.value("params"));
  const TraceStore::Lease desk = call.open_trace();
  Answer answer;
  answer.offset = call.offset();
  SqlRows rows =
      run_sql(*desk, call.text("sql"), params,
              {.offset = answer.offset, .seconds = static_cast<double>(call.integer("timeout_s"))},
              call.control());
  answer.grid = std::move(rows.grid);
  answer.total = rows.total;
  if (!rows.total) answer.notes.emplace_back("more than a million rows: aggregate, or add a LIMIT");
  return call.result(std::move(answer), &*desk);
}

}  // namespace

const Tool kQueryTool{
    .name = "query",
    .title = "SQL",
    .description =
        "One SELECT over events (slice, gpu_event, kernel, launch, op, tree, memory) and "
        "report tables; times in ns. Use it for joins and single events, table for the rest. "
        "Schema: tracelens://help/sql.",
    .arguments = {kQueryArguments, trace_arguments()},
    .more_output = no_more_output,
    .run = run_query};

}  // namespace tracelens::mcp
