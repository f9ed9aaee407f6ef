// csv_kinds.hpp: cells read back from a file, as a Table whose columns have their kinds
// again.
//   LooseTable loose{.name = "ops", .header = {"name", "count"}, .columns = {{"a"},
//   {std::int64_t{3}}}}; const Table table = typed_table(std::move(loose));
// A column of whole numbers is kInteger, or kReal as soon as a cell is blank; of numbers kReal; of
// truth values without a blank kBool; anything else is text.
#pragma once

#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

struct LooseTable {
  std::string name = {};
  std::vector<std::string> header = {};
  std::vector<std::vector<Cell>> columns = {};  // one per header; all of the same length
};

// The kind of each cell decides. A header that occurs twice gets a number: "a", "a.1".
[[nodiscard]] Table typed_table(LooseTable loose);

// The texts that spreadsheets and data frames write for "no value", the empty text among them.
[[nodiscard]] bool is_blank_text(std::string_view text);

// One field of a CSV file: nothing, a whole number, a number, True or False, or text.
[[nodiscard]] Cell cell_of_text(std::string_view text);

}  // namespace tracelens
