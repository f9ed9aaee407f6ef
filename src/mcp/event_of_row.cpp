#include "mcp/event_of_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "database/plain_names.hpp"
#include "mcp/sql_rows.hpp"
#include "mcp/table_names.hpp"
#include "mcp/tool_result.hpp"
#include "sqlite/names.hpp"
#include "table/utf8.hpp"

namespace tracelens::mcp {
namespace {

QueryParam param_of(std::string name, const Value& value) {
  if (value.is_text()) return {std::move(name), value.as_text()};
  if (value.is_int()) return {std::move(name), value.as_int()};
  if (value.is_number()) return {std::move(name), value.as_real()};
  throw ToolError{"row: expected texts and numbers in key"};
}

std::optional<std::int64_t> first_integer(TraceDesk& desk, const std::string& sql,
                                          std::span<const QueryParam> params,
                                          CallControl& control) {
  const SqlRows rows = run_sql(desk, sql, params, {.rows = 1, .counted = 1}, control);
  if (rows.grid.rows.empty() || !rows.grid.rows[0][0].is_int()) return std::nullopt;
  return rows.grid.rows[0][0].as_int();
}

}  // namespace

EventId checked_event(const Trace& trace, std::int64_t number) {
  if (number < 0 || number >= static_cast<std::int64_t>(trace.size()))
    throw ToolError{fmt::format("there is no event {}: the trace has {}, numbered from 0", number,
                                trace.size())};
  return EventId{static_cast<std::uint32_t>(number)};
}

EventId event_of_row(TraceDesk& desk, const Value& row, CallControl& control) {
  const std::string& table = member(row, "table").as_text();
  const Value& key = member(row, "key");
  const Table columns = columns_of(desk, table);
  std::vector<std::string> tests;
  std::vector<QueryParam> params;
  for (std::size_t i = 0; i < key.keys().size(); ++i) {
    const std::string name = fmt::format("k{}", i);
    const std::string column = db::quoted_name(plain_column(columns, key.keys()[i]));
    const std::string& text = key.items()[i].as_text();
    // A name as an answer has it, its middle cut out.
    if (const std::size_t cut = text.find(kEllipsis); cut != text.npos) {
      tests.push_back(
          fmt::format("substr({0}, 1, length(:{1})) = :{1} AND "
                      "substr({0}, -length(:{1}e)) = :{1}e",
                      column, name));
      params.push_back({name, text.substr(0, cut)});
      params.push_back({name + "e", text.substr(cut + kEllipsis.size())});
      continue;
    }
    tests.push_back(fmt::format("{} = :{}", column, name));
    params.push_back(param_of(name, key.items()[i]));
  }
  if (tests.empty())
    throw ToolError{"row: key names no cell; give one that tells the row, such as name"};
  const SqlRows found = run_sql(
      desk,
      fmt::format("SELECT * FROM {} WHERE {}", db::quoted_name(table), fmt::join(tests, " AND ")),
      params, {.rows = 1, .counted = 1}, control);
  if (found.grid.rows.empty()) throw ToolError{"row: no row of the table has these cells"};
  const auto cell = [&](std::string_view name) -> const Value& {
    static const Value kNone;
    const auto at = std::ranges::find(found.grid.columns, name, &AnswerColumn::name);
    return at == found.grid.columns.end()
               ? kNone
               : found.grid.rows[0][static_cast<std::size_t>(at - found.grid.columns.begin())];
  };
  for (const std::string_view name : {"event_id", "id", "uid", "ex_uid", "gpu_id", "call_id"})
    if (cell(name).is_int()) return checked_event(desk.trace(), cell(name).as_int());
  std::optional<std::int64_t> event;
  if (const Value& kernel = cell("kernel_name"); kernel.is_text()) {
    std::vector<QueryParam> of_kernel{param_of("name", kernel)};
    const Value& op = cell("parent_cpu_op");  // others may launch the same kernel
    if (op.is_text()) of_kernel.push_back(param_of("op", op));
    event = first_integer(desk,
                          fmt::format("SELECT id FROM gpu_event WHERE name = :name{} ORDER BY dur "
                                      "DESC LIMIT 1",
                                      op.is_text() ? " AND op = :op" : ""),
                          of_kernel, control);
  }
  if (const Value& op = cell("name"); !event && op.is_text()) {
    if (const Value& dims = cell("input_dims"); dims.is_text())
      event =
          first_integer(desk,
                        "SELECT op.id FROM op JOIN signature s ON op.signature_id = s.id WHERE "
                        "op.name = :name AND s.input_dims = :dims ORDER BY subtree_ns DESC LIMIT 1",
                        std::array{param_of("name", op), param_of("dims", dims)}, control);
    if (!event)
      event = first_integer(desk,
                            "SELECT event_id FROM tree WHERE name = :name ORDER BY gpu_ns DESC "
                            "LIMIT 1",
                            std::array{param_of("name", op)}, control);
  }
  if (!event)
    throw ToolError{"row: this row is about no single event; give event, or find with a name"};
  return checked_event(desk.trace(), *event);
}

}  // namespace tracelens::mcp
