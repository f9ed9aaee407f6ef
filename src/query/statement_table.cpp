#include "query/statement_table.hpp"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "database/plain_names.hpp"
#include "query/virtual_table.hpp"
#include "sqlite/names.hpp"

namespace tracelens::query {
namespace {

constexpr StatementTableDef kStatementTables[] = {
    {"ancestor_slice", "slice_id_given",
     "WITH RECURSIVE up(id) AS (SELECT parent_id FROM slice WHERE id = ?1 UNION ALL "
     "SELECT s.parent_id FROM up CROSS JOIN slice s ON s.id = up.id WHERE up.id IS NOT NULL) "
     "SELECT s.* FROM up CROSS JOIN slice s ON s.id = up.id",
     "Slices around a slice on its track"},
    {"descendant_slice", "slice_id_given",
     "WITH RECURSIVE down(id) AS (SELECT id FROM slice WHERE parent_id = ?1 UNION ALL "
     "SELECT s.id FROM down CROSS JOIN slice s ON s.parent_id = down.id) "
     "SELECT s.* FROM down CROSS JOIN slice s ON s.id = down.id",
     "Slices inside a slice on its track"},
    {"following_flow", "slice_id_given",
     "WITH RECURSIVE along(id, next) AS (SELECT id, slice_in FROM flow WHERE slice_out = ?1 UNION "
     "SELECT f.id, f.slice_in FROM along CROSS JOIN flow f ON f.slice_out = along.next) "
     "SELECT f.* FROM along CROSS JOIN flow f ON f.id = along.id",
     "Arrows that begin at a slice, and those that follow them"},
    {"preceding_flow", "slice_id_given",
     "WITH RECURSIVE along(id, next) AS (SELECT id, slice_out FROM flow WHERE slice_in = ?1 UNION "
     "SELECT f.id, f.slice_out FROM along CROSS JOIN flow f ON f.slice_in = along.next) "
     "SELECT f.* FROM along CROSS JOIN flow f ON f.id = along.id",
     "Arrows that end at a slice, and those before them"},
    {"directly_connected_flow", "slice_id_given",
     "SELECT * FROM flow WHERE slice_out = ?1 UNION SELECT * FROM flow WHERE slice_in = ?1",
     "Arrows that begin or end at a slice"},
    {"subtree", "node_given",
     "SELECT t.* FROM tree t WHERE t.node >= ?1 AND t.node < (SELECT subtree_end FROM tree "
     "WHERE node = ?1)",
     "A node of the call tree and all below it"},
};

class StatementCursor final : public VirtualCursor {
 public:
  StatementCursor(const db::Database& database, std::string_view sql) : statement_{database, sql} {}

  void filter(int plan, const char* /*text*/, std::span<sqlite3_value* const> values) override {
    statement_.reset();
    row_ = 0;
    sqlite3_clear_bindings(statement_.get());
    if (plan == 1) sqlite3_bind_value(statement_.get(), 1, values[0]);
    done_ = plan != 1 || !statement_.step();
  }
  [[nodiscard]] bool done() const override { return done_; }
  void next() override {
    ++row_;
    done_ = !statement_.step();
  }
  void column(sqlite3_context* to, int column) const override {
    const int count = sqlite3_column_count(statement_.get());
    if (column < count) sqlite3_result_value(to, sqlite3_column_value(statement_.get(), column));
    // Its argument, whatever was given, equals itself.
    if (column == count) sqlite3_result_null(to);
  }
  [[nodiscard]] std::int64_t rowid() const override { return row_; }

 private:
  db::Statement statement_;
  std::int64_t row_ = 0;
  bool done_ = true;
};

class StatementTable final : public VirtualTable {
 public:
  StatementTable(const db::Database& database, const StatementTableDef& def)
      : database_{database}, def_{def} {
    const db::Statement statement{database, def.sql};
    columns_ = sqlite3_column_count(statement.get());
    for (int i = 0; i < columns_; ++i)
      fmt::format_to(std::back_inserter(names_), "{}, ",
                     db::quoted_name(sqlite3_column_name(statement.get(), i)));
  }
  [[nodiscard]] std::string declaration() const override {
    return fmt::format("CREATE TABLE x({}{} HIDDEN)", names_, def_.argument);
  }
  int best_index(sqlite3_index_info& info) override {
    info.estimatedCost = 1e9;  // without its argument there is no row
    info.estimatedRows = 100;
    for (int i = 0; i < info.nConstraint; ++i) {
      if (info.aConstraint[i].iColumn != columns_ ||
          info.aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
        continue;
      if (info.aConstraint[i].usable == 0) return SQLITE_CONSTRAINT;
      info.aConstraintUsage[i].argvIndex = 1;
      info.aConstraintUsage[i].omit = 1;
      info.idxNum = 1;
      info.estimatedCost = 100;
      break;
    }
    return SQLITE_OK;
  }
  [[nodiscard]] std::unique_ptr<VirtualCursor> open() override {
    return std::make_unique<StatementCursor>(database_, def_.sql);
  }

 private:
  const db::Database& database_;
  const StatementTableDef& def_;
  std::string names_;
  int columns_ = 0;
};

}  // namespace

std::span<const StatementTableDef> statement_tables() { return kStatementTables; }

void add_statement_tables(const db::Database& database, bool& trusted) {
  for (const StatementTableDef& def : kStatementTables)
    add_module(
        database, std::string{def.name},
        [&database, &def](std::span<const std::string>) {
          return std::make_unique<StatementTable>(database, def);
        },
        trusted, true);
}

}  // namespace tracelens::query
