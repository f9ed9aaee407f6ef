// dialect.hpp: SQL text before SQLite sees it: single statements, and those that only Perfetto has.
//   for (std::string_view rest = text; const auto statement = next_statement(rest);) run(*statement);
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracelens::query {

// The next statement, without comments before it and ';' behind it; takes it off `rest`.
[[nodiscard]] std::optional<std::string_view> next_statement(std::string_view& rest);

// A statement as SQLite understands it: CREATE PERFETTO TABLE becomes CREATE TEMP TABLE. Empty:
// there is nothing to do (INCLUDE PERFETTO MODULE). Throws Error that says what is not supported.
[[nodiscard]] std::string plain_sql(std::string_view statement);

// The statement with the column "title", in double quotes, under another name; nothing when it is
// not in it.
[[nodiscard]] std::optional<std::string> with_name(std::string_view statement,
                                                   std::string_view title, std::string_view name);

}  // namespace tracelens::query
