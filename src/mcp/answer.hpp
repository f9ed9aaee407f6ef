// answer.hpp: what a tool answers, and how it is made to fit into the tokens that it may take.
//   Answer answer{.trace = "rank0.json.gz", .grid = grid_of(table), .total = table.rows()};
//   return result_of(std::move(answer), {.max_tokens = 2000, .cursor_at = ...});
// Every answer is told twice: as structure with exact numbers, and as text, which is all that many
// clients show to their model. Each of the two keeps the limit by itself. What does not fit goes in this
// order: the ends of names, columns that matter less, rows; for the first row, whatever is in the way:
// tables below, notes, the ends of all texts, columns from the right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/value.hpp>
#include <vector>

#include "mcp/json.hpp"

namespace tracelens::mcp {

struct AnswerColumn {
  std::string name, unit = {};
  bool from_trace = false;   // texts that the profiled program may have written
  bool is_extra = false;     // goes first where there is no room
  bool is_sentence = false;  // never cut
};

struct Grid {
  std::vector<AnswerColumn> columns = {};
  std::vector<std::vector<Value>> rows = {};
};

// A table below the first, small enough to be told whole.
struct Section {
  std::string name;      // in the structure
  std::string title;     // above it in the text
  std::string whole_by;  // the call that gives all of it: "table ops_summary"
  Grid grid;
};

struct Answer {
  std::string trace = {};  // as the client may name it; empty: none
  Grid grid = {};          // rows from `offset` on, at least as many as a page takes
  std::size_t offset = 0;
  std::optional<std::size_t> total = {};  // rows in all; none: nobody counted to the end
  std::string title = {};                 // above the table in the text
  std::string lead = {}, tail = {};       // Markdown before and behind the tables
  Members more = {};  // further members of the structure, each told in the text too
  std::vector<Section> sections = {};
  std::vector<std::string> notes = {};
  // How the text shows a row, in place of a table: as a line of a block.
  std::string (*row_line)(const std::vector<Value>& row) = nullptr;
  // Those behind go where not even one row has room; row_line finds null in their place.
  std::size_t fewest_columns = 1;
};

struct Fit {
  std::size_t max_tokens = 2000;
  std::size_t limit = 500;  // rows
  bool full_names = false;
  std::function<std::string(std::size_t offset)> cursor_at = {};
  // The number of a text in table `string`; none where it is not known.
  std::function<std::optional<std::int64_t>(std::string_view text)> string_id = {};
};

// content, structuredContent and isError of a tool's result.
[[nodiscard]] Value result_of(Answer answer, const Fit& fit);
// The schema of structuredContent, with further members (name, schema).
[[nodiscard]] Value output_schema(const Members& more);

// Tokens are not counted but estimated: names of kernels are dense.
[[nodiscard]] constexpr std::size_t tokens_of(std::size_t bytes) { return (bytes + 2) / 3; }

// The columns `shown` of a table, under their plain names, those named first not extra; all, when
// empty. `rows` at most.
[[nodiscard]] Grid grid_of(const Table& table, const std::vector<std::string_view>& shown = {},
                           std::size_t rows = static_cast<std::size_t>(-1));
[[nodiscard]] Value value_of(const Cell& cell);

}  // namespace tracelens::mcp
