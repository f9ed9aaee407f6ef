// table: rows of one table, filtered, sorted, grouped. It writes the SQL that a person would.
#include <fmt/format.h>

#include <algorithm>

#include "database/plain_names.hpp"
#include "mcp/sql_rows.hpp"
#include "mcp/table_names.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"
#include "sqlite/names.hpp"

namespace tracelens::mcp {
namespace {

constexpr std::string_view kOperators[] = {"=",  "!=",       "<",     "<=", ">",
                                           ">=", "contains", "regex", "in"};
constexpr std::string_view kFunctions[] = {"count", "sum", "avg", "min", "max", "median"};

constexpr Argument kWhere[] = {
    {.name = "column", .is_required = true},
    {.name = "op", .kind = ArgumentKind::kChoice, .is_required = true, .words = kOperators},
    {.name = "value", .kind = ArgumentKind::kAny, .is_required = true},
};
constexpr Argument kSort[] = {
    {.name = "column", .is_required = true},
    {.name = "desc", .kind = ArgumentKind::kBool},
};
constexpr Argument kAggregate[] = {
    {.name = "function", .kind = ArgumentKind::kChoice, .is_required = true, .words = kFunctions},
    {.name = "column"},
};
constexpr Argument kTableArguments[] = {
    {.name = "table", .is_required = true},
    {.name = "columns", .is_list = true, .most = 40},
    {.name = "where",
     .kind = ArgumentKind::kObject,
     .is_list = true,
     .most = 10,
     .members = kWhere},
    {.name = "sort", .kind = ArgumentKind::kObject, .is_list = true, .most = 4, .members = kSort},
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 500, .otherwise = 20},
    {.name = "group_by", .is_list = true, .most = 4},
    {.name = "aggregate",
     .kind = ArgumentKind::kObject,
     .is_list = true,
     .most = 8,
     .members = kAggregate},
};

class TableStatement {
 public:
  TableStatement(Call& call, TraceDesk& desk)
      : call_{call}, desk_{desk}, table_{call.text("table")}, columns_{columns_of(desk, table_)} {
    choose();
    filter();
    order();
  }

  [[nodiscard]] std::string sql() const {
    std::vector<std::string> shown;
    for (const Shown& each : shown_) shown.push_back(each.sql);
    std::string sql =
        fmt::format("SELECT {} FROM {}", fmt::join(shown, ", "), db::quoted_name(table_));
    if (!where_.empty()) sql += fmt::format(" WHERE {}", fmt::join(where_, " AND "));
    if (!groups_.empty()) sql += fmt::format(" GROUP BY {}", fmt::join(groups_, ", "));
    if (!order_.empty()) sql += fmt::format(" ORDER BY {}", fmt::join(order_, ", "));
    return sql;
  }
  [[nodiscard]] std::span<const QueryParam> params() const { return params_; }

  // The shown columns that name a row to `tree` and `replay`; none where rows are groups.
  [[nodiscard]] std::vector<std::string> key_columns() const {
    std::vector<std::string> keys;
    if (!groups_.empty()) return keys;
    for (const Shown& each : shown_)
      for (const std::string_view id : {"id", "event_id", "node", "ex_uid", "call_id"})
        if (each.name == id) return {each.name};
    for (const Shown& each : shown_)
      if (each.is_text && keys.size() < 3) keys.push_back(each.name);
    return keys;
  }

  // Units, and which columns go first where there is no room.
  void describe(Grid& grid) const {
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
      grid.columns[i].name = shown_[i].name;
      grid.columns[i].unit = shown_[i].unit;
      grid.columns[i].is_extra = shown_[i].is_extra;
      grid.columns[i].from_trace = grid.columns[i].from_trace || shown_[i].is_text;
    }
  }

 private:
  struct Shown {
    std::string name, sql, unit = {};
    bool is_extra = false, is_text = false;
  };

  [[nodiscard]] Shown column(const std::string& name) const {
    Shown shown{.name = name, .sql = db::quoted_name(name)};
    const auto names = columns_.column("column").texts();
    const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    shown.unit = columns_.column("unit").texts()[at];
    const std::string& kind = columns_.column("kind").texts()[at];
    shown.is_text = kind == "text" || kind == "nested" || kind == "json";
    return shown;
  }

  void choose() {
    const auto groups = call_.texts("group_by");
    const auto& aggregates = call_.value("aggregate").items();
    if (!groups.empty() || !aggregates.empty()) return choose_groups(groups, aggregates);
    const auto asked = call_.texts("columns");
    for (const std::string& name : asked) shown_.push_back(column(plain_column(columns_, name)));
    if (!asked.empty()) return;
    const auto compact = compact_columns(desk_, table_);
    for (const std::string& name : compact)
      if (std::ranges::count(columns_.column("column").texts(), name) > 0)
        shown_.push_back(column(name));
    if (!shown_.empty()) return;
    constexpr std::size_t kFirst = 10;
    for (const std::string& name : columns_.column("column").texts()) {
      shown_.push_back(column(name));
      shown_.back().is_extra = shown_.size() > kFirst;
    }
  }

  void choose_groups(const std::vector<std::string>& groups, const std::vector<Value>& aggregates) {
    for (const std::string& name : groups) {
      shown_.push_back(column(plain_column(columns_, name)));
      groups_.push_back(shown_.back().sql);
    }
    for (const Value& each : aggregates) {
      const std::string& function = member(each, "function").as_text();
      const std::string& given = member(each, "column").as_text();
      if (given.empty() && function != "count")
        throw ToolError{fmt::format("aggregate: {} needs a column", function)};
      if (given.empty()) {
        shown_.push_back({.name = "count", .sql = "count(*)"});
        continue;
      }
      const std::string name = plain_column(columns_, given);
      shown_.push_back({.name = fmt::format("{}_{}", function, name),
                        .sql = fmt::format("{}({})", function, db::quoted_name(name)),
                        .unit = function == "count" ? "" : column(name).unit});
    }
    if (aggregates.empty()) shown_.push_back({.name = "count", .sql = "count(*)"});
  }

  std::string bound(const Value& value) {
    std::string name = fmt::format("v{}", params_.size());
    params_.push_back(query_param(
        name, value, "where: value must be a text or a number; with op in, a list of them"));
    return ":" + name;
  }

  void filter() {
    for (const Value& each : call_.value("where").items()) {
      const std::string name =
          db::quoted_name(plain_column(columns_, member(each, "column").as_text()));
      const std::string& op = member(each, "op").as_text();
      const Value& value = member(each, "value");
      if (op == "contains") {
        where_.push_back(fmt::format("instr(lower({}), lower({})) > 0", name, bound(value)));
      } else if (op == "regex") {
        where_.push_back(fmt::format("{} REGEXP {}", name, bound(value)));
      } else if (op == "in") {
        std::vector<std::string> values;
        if (!value.is_sequence() || value.items().size() > 200)
          throw ToolError{"where: op in needs a list of at most 200 values"};
        for (const Value& one : value.items()) values.push_back(bound(one));
        where_.push_back(fmt::format("{} IN ({})", name, fmt::join(values, ", ")));
      } else if (value.is_null() && (op == "=" || op == "!=")) {
        where_.push_back(fmt::format("{} IS {}NULL", name, op == "=" ? "" : "NOT "));
      } else {
        where_.push_back(fmt::format("{} {} {}", name, op, bound(value)));
      }
    }
  }

  void order() {
    for (const Value& each : call_.value("sort").items()) {
      const std::string& given = member(each, "column").as_text();
      const auto aggregated = std::ranges::find(shown_, given, &Shown::name);
      const std::string sql = !groups_.empty() && aggregated != shown_.end()
                                  ? aggregated->sql
                                  : db::quoted_name(plain_column(columns_, given));
      order_.push_back(sql + (member(each, "desc").as_bool() ? " DESC NULLS LAST" : " NULLS LAST"));
    }
  }

  Call& call_;
  TraceDesk& desk_;
  std::string table_;
  Table columns_;
  std::vector<Shown> shown_;
  std::vector<std::string> where_, groups_, order_;
  std::vector<QueryParam> params_;
};

Value run_table(Call& call) {
  const TraceStore::Lease desk = call.open_trace();
  const TableStatement statement{call, *desk};
  Answer answer;
  answer.offset = call.offset();
  SqlRows rows =
      run_sql(*desk, statement.sql(), statement.params(),
              {.offset = answer.offset, .rows = static_cast<std::size_t>(call.integer("limit"))},
              call.control());
  statement.describe(rows.grid);
  answer.grid = std::move(rows.grid);
  answer.total = rows.total;
  const std::vector<std::string> keys = statement.key_columns();
  answer.more.emplace_back("key_columns", array(keys));
  if (!keys.empty()) answer.notes.push_back(fmt::format("a row's key: {}", fmt::join(keys, ", ")));
  return call.result(std::move(answer), &*desk);
}

Members table_output() { return {{"key_columns", type_schema("array")}}; }

}  // namespace

const Tool kTableTool{
    .name = "table",
    .title = "Rows of a table",
    .description =
        "Rows of a report table (ops_summary, kernel_summary, GEMM ...) or event table: "
        "filter, sort, group. Use it before query; without `columns` the most important ones.",
    .arguments = {kTableArguments, trace_arguments()},
    .more_output = table_output,
    .run = run_table};

}  // namespace tracelens::mcp
