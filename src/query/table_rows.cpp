#include "query/table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "database/plain_names.hpp"
#include "database/table_writer.hpp"
#include "sqlite/names.hpp"

namespace tracelens::query {
namespace {

// A table and where the values of its integer columns stand. Cursors share it: a table that is made anew
// for a later one leaves this to those that are still in the middle of it.
class IndexedTable {
 public:
  explicit IndexedTable(std::shared_ptr<const Table> table)
      : table_{std::move(table)}, by_value_(table_->columns().size()) {}

  [[nodiscard]] const Table& table() const { return *table_; }
  [[nodiscard]] bool is_of(const std::shared_ptr<const Table>& table) const {
    return table_ == table;
  }

  // The rows whose cell in an integer column is this, ascending.
  [[nodiscard]] std::span<const std::uint32_t> rows_with(int column, std::int64_t value) {
    const Table::Column& cells = table_->columns()[static_cast<std::size_t>(column)];
    auto& rows = by_value_[static_cast<std::size_t>(column)];
    const auto value_of = [&](std::uint32_t row) { return cells.integers()[row]; };
    if (!rows) {
      rows.emplace();
      for (std::uint32_t row = 0; row < table_->rows(); ++row)
        if (!cells.is_missing(row)) rows->push_back(row);
      std::ranges::stable_sort(*rows, {}, value_of);
    }
    return {std::ranges::lower_bound(*rows, value, {}, value_of),
            std::ranges::upper_bound(*rows, value, {}, value_of)};
  }

 private:
  std::shared_ptr<const Table> table_;
  std::vector<std::optional<std::vector<std::uint32_t>>> by_value_;  // by column
};

class TableRows final : public VirtualTable {
 public:
  explicit TableRows(TableNow now)
      : now_{std::move(now)}, indexed_{std::make_shared<IndexedTable>(now_())} {}

  [[nodiscard]] std::string declaration() const override {
    const std::vector<std::string> names = db::plain_names(table());
    std::string columns;
    for (std::size_t i = 0; i < names.size(); ++i)
      fmt::format_to(std::back_inserter(columns), "{}{} {}", i == 0 ? "" : ", ",
                     db::quoted_name(names[i]), db::sql_type(table().columns()[i].spec().kind));
    return fmt::format("CREATE TABLE x({})", columns);
  }

  int best_index(sqlite3_index_info& info) override {
    const auto rows = static_cast<double>(table().rows());
    info.estimatedCost = rows + 1;
    info.estimatedRows = static_cast<sqlite3_int64>(rows);
    for (int i = 0; i < info.nConstraint; ++i) {
      const auto& constraint = info.aConstraint[i];
      if (constraint.usable == 0 || constraint.op != SQLITE_INDEX_CONSTRAINT_EQ ||
          constraint.iColumn < 0 || !is_integer(constraint.iColumn))
        continue;
      info.aConstraintUsage[i].argvIndex = 1;
      info.idxNum = constraint.iColumn + 1;
      info.estimatedCost = rows / 20 + 1;
      info.estimatedRows = static_cast<sqlite3_int64>(rows / 20) + 1;
      break;
    }
    return SQLITE_OK;
  }

  [[nodiscard]] std::unique_ptr<VirtualCursor> open() override;

 private:
  [[nodiscard]] const Table& table() const { return indexed_->table(); }
  [[nodiscard]] bool is_integer(int column) const {
    const Kind kind = table().columns()[static_cast<std::size_t>(column)].spec().kind;
    return kind == Kind::kInteger || kind == Kind::kBool;
  }

  TableNow now_;
  std::shared_ptr<IndexedTable> indexed_;
};

class TableRowsCursor final : public VirtualCursor {
 public:
  explicit TableRowsCursor(std::shared_ptr<IndexedTable> indexed) : indexed_{std::move(indexed)} {}

  void filter(int plan, const char* /*text*/, std::span<sqlite3_value* const> values) override {
    at_ = 0;
    chosen_ = {};
    is_chosen_ = plan > 0;
    // Any other value equals no integer, or is compared by SQLite again.
    if (is_chosen_ && sqlite3_value_numeric_type(values[0]) == SQLITE_INTEGER)
      chosen_ = indexed_->rows_with(plan - 1, sqlite3_value_int64(values[0]));
    else if (is_chosen_ && sqlite3_value_numeric_type(values[0]) == SQLITE_FLOAT)
      is_chosen_ = false;
  }
  [[nodiscard]] bool done() const override {
    return at_ >= (is_chosen_ ? chosen_.size() : table().rows());
  }
  void next() override { ++at_; }
  [[nodiscard]] std::int64_t rowid() const override { return static_cast<std::int64_t>(row()); }

  void column(sqlite3_context* to, int number) const override {
    const Table::Column& column = table().columns()[static_cast<std::size_t>(number)];
    if (column.is_missing(row())) return;
    switch (column.spec().kind) {
      case Kind::kText:
        return set_result(to, std::string_view{column.texts()[row()]});
      case Kind::kInteger:
      case Kind::kBool:
        return sqlite3_result_int64(to, column.integers()[row()]);
      case Kind::kReal:
        return sqlite3_result_double(to, column.reals()[row()]);
      case Kind::kNested:
        return set_result(to, column.nested()[row()]);
    }
  }

 private:
  [[nodiscard]] const Table& table() const { return indexed_->table(); }
  [[nodiscard]] std::size_t row() const { return is_chosen_ ? chosen_[at_] : at_; }

  std::shared_ptr<IndexedTable> indexed_;  // as it was when the cursor was opened
  std::span<const std::uint32_t> chosen_;
  bool is_chosen_ = false;
  std::size_t at_ = 0;
};

std::unique_ptr<VirtualCursor> TableRows::open() {
  if (std::shared_ptr<const Table> fresh = now_(); !indexed_->is_of(fresh))
    indexed_ = std::make_shared<IndexedTable>(std::move(fresh));
  return std::make_unique<TableRowsCursor>(indexed_);
}

}  // namespace

std::unique_ptr<VirtualTable> table_rows(TableNow table) {
  return std::make_unique<TableRows>(std::move(table));
}

}  // namespace tracelens::query
