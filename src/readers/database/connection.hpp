// connection.hpp: a database that somebody else wrote, opened so that it can do nothing.
//   const DatabaseFile file = DatabaseFile::of_file("run_results.db");
//   const Connection connection = file.connect();            // used by one thread at a time
//   Statement rows{connection, "SELECT id, \"end\" FROM \"rocpd_region\""};
//   while (rows.step()) use(rows.integer(0), rows.integer(1));
// Nothing is written to the file or beside it. What the file brings as code (views, triggers, virtual
// tables) is never run: only the tables that tables() lists can be read.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/ascii.hpp"
#include "readers/database/opening.hpp"
#include "readers/database/statement.hpp"

namespace tracelens {

struct DatabaseOptions {
  bool salvage = false;  // a file that is cut or damaged gives what is left of it
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

// Names of tables and columns, as SQLite compares them.
struct LessIgnoringCase {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    return std::ranges::lexicographical_compare(a, b, {}, io::lower, io::lower);
  }
};

class DatabaseFile {
 public:
  // A file of any size. Throws Error when it is no sound database, is cut, or cannot be opened
  // without writing to it.
  static DatabaseFile of_file(const std::string& path, const DatabaseOptions& options = {});
  // The same for bytes; `name` stands in for the path in messages.
  static DatabaseFile of_bytes(std::string name, std::string bytes,
                               const DatabaseOptions& options = {});
  // The same for a file that has no name any more.
  static DatabaseFile of_descriptor(std::string name, Descriptor file,
                                    const DatabaseOptions& options = {});

  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::uint64_t bytes() const;
  // A connection of one's own: a connection serves one thread at a time.
  [[nodiscard]] Connection connect() const;

  // --- what it holds: real tables only, with the columns that are stored; in any case of letters ---
  using Columns = std::set<std::string, LessIgnoringCase>;
  [[nodiscard]] const std::map<std::string, Columns, LessIgnoringCase>& tables() const;
  [[nodiscard]] bool has(std::string_view table) const;
  [[nodiscard]] bool has(std::string_view table, std::string_view column) const;
  // Whether something that is no real table goes by this name: a view, or a virtual table.
  [[nodiscard]] bool has_view(std::string_view name) const;
  [[nodiscard]] bool has_row_numbers(std::string_view table) const;
  // Whether a row is found by this column without a search.
  [[nodiscard]] bool is_row_number(std::string_view table, std::string_view column) const;

  // --- damage ---
  [[nodiscard]] bool salvages() const;           // reading goes on behind damaged pages
  [[nodiscard]] const std::string& cut() const;  // a sentence when its end is missing
  [[nodiscard]] bool has_changed() const;        // since it was opened
  // Rows that take more room than the file has are no rows; see Statement::stored_bytes().
  [[nodiscard]] std::uint64_t most_stored_bytes() const;
  // The same for all tables that were read: an overfull file has more in them than can be.
  void add_stored_bytes(std::uint64_t count) const;
  [[nodiscard]] bool is_overfull() const;

 private:
  struct State;
  explicit DatabaseFile(std::shared_ptr<State> state);
  void learn_tables();
  std::shared_ptr<State> state_;
};

}  // namespace tracelens
