// query_shell.hpp: `tracelens query -i`: statements and dot commands, line by line.
#pragma once

#include <csignal>
#include <string>
#include <string_view>
#include <tracelens/query.hpp>

#include "console.hpp"
#include "query_output.hpp"

namespace tracelens::app {

struct ShellOptions {
  QueryFormat format = QueryFormat::kTable;
  std::size_t rows = 0;
  std::vector<QueryParam> params = {};
};

// Until .quit or the end of the input. The exit status: 0, or 2 when a statement failed and nobody
// sat before it.
[[nodiscard]] int run_shell(QuerySession& session, const ShellOptions& options, Console& console);

// Ctrl-C ends the statement that runs meanwhile, not the program.
class InterruptGuard {
 public:
  explicit InterruptGuard(QuerySession& session);
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  ~InterruptGuard();

 private:
  struct sigaction before_ = {};
};

// "error: ..." and the place in the statement.
void tell_query_error(const QueryError& error, const Console& console);

// What there is: all tables, or the columns of one.
[[nodiscard]] std::string schema_text(QuerySession& session, const std::string& table,
                                      const TerminalStyle& style);

}  // namespace tracelens::app
