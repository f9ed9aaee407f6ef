// table.cpp: storage, sorting and cutting of a Table.
#include <tracelens/table.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>
#include <type_traits>
#include <utility>
#include <variant>

#include "io/check.hpp"

namespace tracelens {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool counts_as_missing(const Value& value) {
  return value.is_null() || (value.kind() == Value::Kind::kReal && std::isnan(value.as_real()));
}

bool counts_as_missing(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return std::isnan(*real);
  if (const auto* value = std::get_if<Value>(&cell)) return counts_as_missing(*value);
  return std::holds_alternative<Missing>(cell);
}

bool fits(const Cell& cell, Kind kind) {
  if (counts_as_missing(cell)) return true;
  switch (kind) {
    case Kind::kText:
      return std::holds_alternative<std::string>(cell);
    case Kind::kInteger:
      return std::holds_alternative<std::int64_t>(cell);
    case Kind::kBool:
      return std::holds_alternative<bool>(cell);
    case Kind::kReal:
      return std::holds_alternative<double>(cell) || std::holds_alternative<std::int64_t>(cell);
    case Kind::kNested:
      return true;
  }
  return false;
}

double to_real(const Cell& cell) {
  const auto* integer = std::get_if<std::int64_t>(&cell);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(cell);
}

Value to_value(Cell&& cell) {
  return std::visit(
      [](auto&& content) -> Value {
        if constexpr (std::is_same_v<std::decay_t<decltype(content)>, Missing>)
          return {};
        else
          return std::forward<decltype(content)>(content);
      },
      std::move(cell));
}

template <class T>
void reorder(std::vector<T>& items, const std::vector<std::size_t>& order) {
  if (items.empty()) return;  // a vector the column's kind does not use
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const std::size_t row : order) sorted.push_back(std::move(items[row]));
  items = std::move(sorted);
}

template <class T>
void cut(std::vector<T>& items, std::size_t rows) {
  if (items.size() > rows)
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(rows), items.end());
}

// One sort key, ready to compare two rows of its column.
class RowOrder {
 public:
  RowOrder(const Table::Column& column, Order order) : column_{&column}, order_{order} {
    if (column.spec().kind != Kind::kNested) return;
    // Nested cells have no order of their own; the one of their text is at least visible.
    for (const Value& value : column.nested()) nested_texts_.push_back(python_repr(value));
  }

  // Below 0: a stands before b; 0: this key does not decide.
  [[nodiscard]] int compare(std::size_t a, std::size_t b) const {
    const bool a_missing = column_->is_missing(a), b_missing = column_->is_missing(b);
    if (a_missing || b_missing) return static_cast<int>(a_missing) - static_cast<int>(b_missing);
    const int ascending = compare_present(a, b);
    return order_ == Order::kAscending ? ascending : -ascending;
  }

 private:
  template <class T>
  static int three_way(const T& a, const T& b) {
    return static_cast<int>(b < a) - static_cast<int>(a < b);
  }

  [[nodiscard]] int compare_present(std::size_t a, std::size_t b) const {
    switch (column_->spec().kind) {
      case Kind::kText:
        return column_->texts()[a].compare(column_->texts()[b]);
      case Kind::kInteger:
      case Kind::kBool:
        return three_way(column_->integers()[a], column_->integers()[b]);
      case Kind::kReal:
        return three_way(column_->reals()[a], column_->reals()[b]);
      case Kind::kNested:
        return nested_texts_[a].compare(nested_texts_[b]);
    }
    return 0;
  }

  const Table::Column* column_;
  Order order_;
  std::vector<std::string> nested_texts_;
};

}  // namespace

Table::Table(std::string name, std::string description, std::span<const ColumnSpec> columns)
    : name_{std::move(name)}, description_{std::move(description)}, columns_(columns.size()) {
  for (std::size_t i = 0; i < columns.size(); ++i) columns_[i].spec_ = columns[i];
}

const Table::Column& Table::column(std::string_view name) const {
  for (const Column& column : columns_)
    if (column.spec().name == name) return column;
  throw Error{name_, "this table has no column '" + std::string{name} + "'"};
}

bool Table::has_column(std::string_view name) const {
  return std::ranges::any_of(columns_,
                             [name](const Column& column) { return column.spec().name == name; });
}

Cell Table::cell(std::size_t row, std::size_t column) const {
  TL_CHECK(row < rows_ && column < columns_.size());
  const Column& from = columns_[column];
  if (from.is_missing(row)) return Missing{};
  switch (from.spec_.kind) {
    case Kind::kText:
      return from.texts_[row];
    case Kind::kInteger:
      return from.integers_[row];
    case Kind::kBool:
      return from.integers_[row] != 0;
    case Kind::kReal:
      return from.reals_[row];
    case Kind::kNested:
      return from.nested_[row];
  }
  return Missing{};
}

void Table::append(std::span<Cell> row) {
  TL_CHECK(row.size() == columns_.size());
  for (std::size_t i = 0; i < row.size(); ++i) TL_CHECK(fits(row[i], columns_[i].spec_.kind));
  for (std::size_t i = 0; i < row.size(); ++i) {
    Column& column = columns_[i];
    Cell& cell = row[i];
    const bool present = !counts_as_missing(cell);
    column.present_.push_back(present ? 1 : 0);
    switch (column.spec_.kind) {
      case Kind::kText:
        column.texts_.push_back(present ? std::get<std::string>(std::move(cell)) : std::string{});
        break;
      case Kind::kInteger:
        column.integers_.push_back(present ? std::get<std::int64_t>(cell) : 0);
        break;
      case Kind::kBool:
        column.integers_.push_back(present && std::get<bool>(cell) ? 1 : 0);
        break;
      case Kind::kReal:
        column.reals_.push_back(present ? to_real(cell) : kNaN);
        break;
      case Kind::kNested:
        column.nested_.push_back(present ? to_value(std::move(cell)) : Value{});
        break;
    }
  }
  ++rows_;
}

void Table::sort_by(std::string_view column, Order order) {
  const SortKey key[] = {{column, order}};
  sort_by(key);
}

void Table::sort_by(std::span<const SortKey> keys) {
  std::vector<RowOrder> comparisons;
  comparisons.reserve(keys.size());
  for (const SortKey& key : keys) comparisons.emplace_back(column(key.column), key.order);

  std::vector<std::size_t> order(rows_);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&comparisons](std::size_t a, std::size_t b) {
    for (const RowOrder& comparison : comparisons)
      if (const int decided = comparison.compare(a, b); decided != 0) return decided < 0;
    return false;
  });

  for (Column& column : columns_) {
    reorder(column.present_, order);
    reorder(column.integers_, order);
    reorder(column.reals_, order);
    reorder(column.texts_, order);
    reorder(column.nested_, order);
  }
}

void Table::keep_first(std::size_t rows) {
  if (rows >= rows_) return;
  rows_ = rows;
  for (Column& column : columns_) {
    cut(column.present_, rows);
    cut(column.integers_, rows);
    cut(column.reals_, rows);
    cut(column.texts_, rows);
    cut(column.nested_, rows);
  }
}

}  // namespace tracelens
