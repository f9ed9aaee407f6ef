#include "mcp/table_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tracelens/error.hpp>
#include <tracelens/near_names.hpp>
#include <tracelens/report.hpp>

#include "database/plain_names.hpp"
#include "io/ascii.hpp"
#include "mcp/clean_text.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

// Tables of events have many columns, of which few are looked at.
constexpr std::string_view kSlice[] = {"id", "ts", "dur", "category", "name"};
constexpr std::string_view kGpuEvent[] = {"id", "name",   "dur",  "kind",
                                          "op", "module", "step", "stream"};
constexpr std::string_view kOp[] = {"id",         "name",       "category", "dur",
                                    "subtree_ns", "gpu_events", "module"};
constexpr std::string_view kTree[] = {"node", "event_id", "kind", "name", "gpu_ns", "gpu_count"};
constexpr std::string_view kEvent[] = {"id", "phase", "ts", "dur", "category", "name"};

std::span<const std::string_view> event_columns(std::string_view table) {
  if (table == "slice" || table == "slices") return kSlice;
  if (table == "gpu_event" || table == "kernel") return kGpuEvent;
  if (table == "op") return kOp;
  if (table == "tree") return kTree;
  if (table == "event") return kEvent;
  return {};
}

std::vector<std::string> texts_of(const Table& table, std::string_view column) {
  const auto texts = table.column(column).texts();
  return {texts.begin(), texts.end()};
}

}  // namespace

Table columns_of(TraceDesk& desk, const std::string& table) {
  std::string reason;
  try {
    return desk.columns(table);
  } catch (const QueryError& error) {
    reason = "there is no such table";
  } catch (const Error& error) {  // "GEMM: not in the report of this trace (...)"
    reason = clean_sentence(error.what());
  }
  const auto names = texts_of(desk.session().tables(), "table");
  const bool is_known = std::ranges::any_of(names, [&](const std::string& name) {
    return io::lower_case(name) == io::lower_case(table);
  });
  if (is_known) throw ToolError{reason};
  throw ToolError{fmt::format("there is no table {}{}; `tables` lists all of them",
                              in_quotes(table), did_you_mean(table, names))};
}

std::string plain_column(const Table& columns, const std::string& name) {
  const auto names = texts_of(columns, "column"), titles = texts_of(columns, "title");
  const std::string plain = db::plain_name(name);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name || names[i] == plain || titles[i] == name) return names[i];
  const auto near = nearest_names(plain, names);
  throw ToolError{fmt::format("there is no column {}{}; the columns are {}", in_quotes(name),
                              near.empty() ? "" : fmt::format(", did you mean {}?", near.front()),
                              clean_sentence(fmt::format("{}", fmt::join(names, ", "))))};
}

std::vector<std::string> compact_columns(TraceDesk& desk, const std::string& table) {
  const auto known = event_columns(io::lower_case(table));
  if (!known.empty()) return {known.begin(), known.end()};
  std::shared_ptr<const Table> made = desk.made(table);
  if (made == nullptr && desk.has_trace()) {
    try {
      made = desk.table(table);
    } catch (const Error&) {  // none of the report
    }
  }
  std::vector<std::string> columns;
  if (made == nullptr) return columns;
  for (const std::string_view title : excerpt_of(*made).columns)
    columns.push_back(db::plain_name(title));
  return columns;
}

}  // namespace tracelens::mcp
