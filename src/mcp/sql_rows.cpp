#include "mcp/sql_rows.hpp"

#include <fmt/format.h>

#include "mcp/clean_text.hpp"
#include "mcp/json.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

// No answer shows more of a text, and a statement can make texts of any length.
constexpr std::size_t kKeptOfText = 2 * kLongestName;
// Texts of all rows that are kept: those that come then are for the next page.
constexpr std::size_t kKeptOfPage = std::size_t{4} << 20;

// Cut between characters.
std::string_view first_bytes(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto is_inside = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  std::size_t end = most;
  while (end > most - 4 && is_inside(end)) --end;
  return text.substr(0, end);
}

Value value_of_cell(const QueryCell& cell) {
  struct Visitor {
    Value operator()(std::monostate) const { return {}; }
    Value operator()(std::int64_t value) const { return value; }
    Value operator()(double value) const { return value; }
    Value operator()(std::string_view text) const {
      return text_value(first_bytes(text, kKeptOfText));
    }
    Value operator()(std::span<const std::byte> bytes) const {
      std::string hex;
      for (const std::byte byte : bytes.first(std::min<std::size_t>(bytes.size(), 64)))
        hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
      return hex;
    }
  };
  return std::visit(Visitor{}, cell);
}

// What the command line calls otherwise.
std::string for_tools(std::string text) {
  for (const auto& [from, to] :
       {std::pair{"a ? without a name has no value: give it one with --param",
                  "a ? has no value: write :name for it, and give that one "
                  "by `params`"},
        std::pair{"--schema lists the tables", "`tables` lists them"},
        std::pair{"with --param", "by `params`"}})
    if (const std::size_t at = text.find(from); at != text.npos)
      text.replace(at, std::string_view{from}.size(), to);
  return text;
}

std::string sql_sentence(const QueryError& error) {
  std::string text = clean_sentence(for_tools(error.what()));
  if (error.place().empty()) return text;
  // A line of the statement and a caret below: what the client itself wrote.
  std::string place;
  for (const char c : error.place()) place += c == '`' ? '\'' : c;
  return fmt::format("{}\n```\n{}\n```", text, place);
}

// The session looks at this call's flag as long as the call lasts.
class LimitedFor {
 public:
  LimitedFor(QuerySession& session, double seconds, const CallControl& control)
      : session_{session} {
    session.set_limits(limits(seconds, &control.stopped()));
  }
  LimitedFor(const LimitedFor&) = delete;
  LimitedFor& operator=(const LimitedFor&) = delete;
  ~LimitedFor() { session_.set_limits(limits(10, nullptr)); }

 private:
  static QueryLimits limits(double seconds, const std::atomic<bool>* stop) {
    return {.seconds = seconds,
            .memory_bytes = std::size_t{256} << 20,
            .select_only = true,
            .stop = stop};
  }
  QuerySession& session_;
};

}  // namespace

QueryParam query_param(std::string name, const Value& value, std::string_view complaint) {
  QueryParam param{std::move(name), std::int64_t{0}};
  if (value.is_text())
    param.value = value.as_text();
  else if (value.is_int() || is_bool(value))
    param.value = is_bool(value) ? std::int64_t{value.as_bool()} : value.as_int();
  else if (value.is_number())
    param.value = value.as_real();
  else
    throw ToolError{std::string{complaint}};
  return param;
}

SqlRows run_sql(TraceDesk& desk, const std::string& sql, std::span<const QueryParam> params,
                const RowWindow& window, CallControl& control) {
  QuerySession& session = desk.session();
  const LimitedFor limited{session, window.seconds, control};
  SqlRows rows{.grid = {}, .total = 0};
  std::size_t statements = 0, seen = 0, kept_bytes = 0;
  QueryRows sink;
  sink.on_columns = [&](std::span<const std::string> columns) {
    if (++statements > 1) throw ToolError{"one statement at a time: call query again for the next"};
    for (const std::string& column : columns)
      rows.grid.columns.push_back({.name = clean_text(column)});
  };
  sink.on_row = [&](std::span<const QueryCell> cells) {
    const bool is_shown =
        seen >= window.offset && rows.grid.rows.size() < window.rows && kept_bytes < kKeptOfPage;
    if (++seen > window.counted) {
      rows.total.reset();
      return false;
    }
    if (!is_shown) return true;
    std::vector<Value>& row = rows.grid.rows.emplace_back();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      row.push_back(value_of_cell(cells[i]));
      // Nobody can tell where a text of a statement comes from.
      if (row.back().is_text()) rows.grid.columns[i].from_trace = true;
      kept_bytes += row.back().as_text().size();
    }
    return true;
  };
  try {
    session.run(sql, sink, params);
  } catch (const QueryError& error) {
    control.check();
    throw ToolError{sql_sentence(error)};
  }
  if (statements == 0) throw ToolError{"this statement gives no rows: expected one SELECT"};
  if (rows.total) rows.total = seen;
  return rows;
}

}  // namespace tracelens::mcp
