// query.hpp: SQL over traces and over the tables of their reports. Implemented in src/query.
//   QuerySession session;
//   session.add(std::make_shared<const Trace>(read_trace("rank0.json.gz")));
//   session.run("SELECT name, sum(dur)/1e6 AS ms FROM kernel GROUP BY name ORDER BY ms DESC LIMIT 3",
//               {.on_row = [](std::span<const QueryCell> row) { return show(row); }});
// The engine is SQLite; the tables are the columns of the trace themselves: nothing is loaded or
// copied. Names, columns and functions are in docs/guide/query.md. Statements cannot change anything
// but temporary tables of the session, read no files, and end when their time or memory is up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/report.hpp>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tracelens {

struct QueryLimits {
  double seconds = 60;  // for a statement; 0: none
  // Of SQLite in this process, sorters and temporary tables included; 0: none.
  std::size_t memory_bytes = std::size_t{1} << 30;
  bool select_only = false;  // no temporary tables and views either
  // Ends a statement when it becomes true, as cancel() does; not owned.
  const std::atomic<bool>* stop = nullptr;
};

// A cell of a result. Texts and bytes live until the next row.
using QueryCell = std::variant<std::monostate, std::int64_t, double, std::string_view,
                               std::span<const std::byte>>;

// Where results go, row by row; each part may be empty.
struct QueryRows {
  // Before the rows of each statement that gives any.
  std::function<void(std::span<const std::string> columns)> on_columns = {};
  std::function<bool(std::span<const QueryCell> row)> on_row = {};  // false: no more of this result
  std::function<void()> on_end = {};                                // after them
};

// The value of :name in a statement.
struct QueryParam {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
};
// "limit=3": an integer, a real or a text by its form. Throws Error without "=".
[[nodiscard]] QueryParam parse_query_param(std::string_view text);

// A statement that is wrong, was denied, or came to its limits.
class QueryError : public Error {
 public:
  QueryError(const std::string& message, std::string place)
      : Error{"SQL", message}, place_{std::move(place)} {}
  // The line that is wrong and a caret below it; may be empty.
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  std::string place_;
};

// One thread at a time, but for cancel().
class QuerySession {
 public:
  explicit QuerySession(const QueryLimits& limits = {});
  QuerySession(QuerySession&&) noexcept;
  QuerySession& operator=(QuerySession&&) noexcept;
  ~QuerySession();

  // --- what is asked about: the first is schema main, the others are t2, t3, ... ---
  // The options are those of the report's tables, which are made when a statement names them.
  void add(std::shared_ptr<const Trace> trace, const ReportOptions& options = {});
  void add(Report report);  // its tables alone
  // Tables of the first trace's report that have been made already, with the same options.
  void provide(std::span<const std::shared_ptr<const Table>> tables);
  // A file that write_tables() or write_database() wrote; opened for reading alone. Throws Error.
  void add_database(const std::string& path);

  // --- asking ---
  // Runs statements separated by ';'. Throws QueryError, and what the functions throw.
  void run(std::string_view sql, const QueryRows& rows, std::span<const QueryParam> params = {});
  // Ends the running statement with a QueryError. Any thread and signal handlers may call it.
  void cancel() noexcept;
  void set_limits(const QueryLimits& limits);

  // --- what can be asked ---
  [[nodiscard]] Table tables();  // as table_info
  // As column_info; those of a report's table are known once it is made, which this does. Throws
  // Error when there is no such table.
  [[nodiscard]] Table columns(const std::string& table);
  // Names of tables, columns, functions and words of SQL, for completing what is typed; sorted.
  [[nodiscard]] std::vector<std::string> words();

 private:
  class Engine;
  std::unique_ptr<Engine> engine_;
};

// Whether a text of several lines is whole statements: its last word, comments apart, is a ';'.
[[nodiscard]] bool ends_statement(std::string_view text);

// Whether the file begins as a SQLite file does.
[[nodiscard]] bool is_database(const std::string& path);

// The report with the events of its trace as one SQLite file, of which the same SQL gives the same
// rows. Without events: write_report(report, "report.db"). Throws Error.
void write_database(const Report& report, std::shared_ptr<const Trace> trace,
                    const ReportOptions& options, const std::string& output);

// Questions that every trace can be asked, with their SQL.
struct QueryExample {
  std::string_view question, sql;
};
[[nodiscard]] std::span<const QueryExample> query_examples();

}  // namespace tracelens
