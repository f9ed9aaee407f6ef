// query_output.hpp: rows of SQL as text: a table for people, CSV, JSON or Markdown for programs.
//   QueryOutput output{QueryFormat::kCsv, 0, [&](std::string_view text) { console.print(text); }};
//   session.run(sql, output.rows());
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/query.hpp>
#include <tracelens/table_text.hpp>
#include <vector>

namespace tracelens::app {

enum class QueryFormat { kTable, kCsv, kJson, kJsonLines, kMarkdown };
[[nodiscard]] const std::vector<std::string>& query_format_names();  // table csv json jsonl md
[[nodiscard]] QueryFormat query_format(std::string_view name);       // one of these
// Of a file, by the end of its name; nothing when that is none of a format.
[[nodiscard]] std::optional<QueryFormat> format_of_file(std::string_view path);

class QueryOutput {
 public:
  using Write = std::function<void(std::string_view text)>;
  // `most_rows`: of each result; 0: all. Of a table 1,000 are shown then, and the number of all.
  QueryOutput(QueryFormat format, std::size_t most_rows, TerminalStyle style, Write write);
  [[nodiscard]] QueryRows rows();

 private:
  void begin(std::span<const std::string> columns);
  bool add(std::span<const QueryCell> row);
  void end();
  void flush_if_large();

  QueryFormat format_;
  std::size_t most_rows_;
  TerminalStyle style_;
  Write write_;
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> kept_;  // of a table
  std::string text_;
  std::size_t count_ = 0, results_ = 0;
};

}  // namespace tracelens::app
