// table.hpp: the one shape in which answers leave TraceLens. Implemented in src/table.
//   const ColumnSpec kColumns[] = {{"name", Kind::kText, "", "op name as traced"},
//                                  {"time", Kind::kReal, "ms", "busy time of its kernels"}};
//   Table table{"ops", "GPU time per op", kColumns};
//   table.add_row("aten::mm", 12.5);
//   table.add_row("aten::add", kMissing);          // an empty cell
//   table.sort_by("time", Order::kDescending);     // stable; missing cells last
// A Table owns its cells. Analyses make tables, sinks print them; neither knows the other.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <utility>
#include <variant>
#include <vector>

namespace tracelens {

enum class Kind : std::uint8_t { kText, kInteger, kReal, kBool, kNested };
enum class Order : std::uint8_t { kAscending, kDescending };

// What a column means. The docs page and the header notes of a workbook are made from this.
struct ColumnSpec {
  std::string name;
  Kind kind = Kind::kText;
  std::string unit;         // "ms", "%", "GB/s", "id" (only a name), "text" (sentences), or empty
  std::string description;  // one line
};

struct Missing {
  bool operator==(const Missing&) const = default;
};
inline constexpr Missing kMissing;

// One cell, by value: for adding rows and for reading them back. NaN and a null Value count as
// missing.
using Cell = std::variant<Missing, bool, std::int64_t, double, std::string, Value>;

struct SortKey {
  std::string_view column;
  Order order = Order::kAscending;
};

class Table {
 public:
  // Columns are stored by type, so that whole columns can be handed out without a copy.
  class Column {
   public:
    [[nodiscard]] const ColumnSpec& spec() const { return spec_; }
    [[nodiscard]] std::size_t size() const { return present_.size(); }
    [[nodiscard]] bool is_missing(std::size_t row) const { return present_[row] == 0; }
    // Valid for the column's own kind; a missing cell reads as 0, NaN or "".
    [[nodiscard]] std::span<const std::int64_t> integers() const { return integers_; }  // kBool too
    [[nodiscard]] std::span<const double> reals() const { return reals_; }
    [[nodiscard]] std::span<const std::string> texts() const { return texts_; }
    [[nodiscard]] std::span<const Value> nested() const { return nested_; }
    [[nodiscard]] std::span<const std::uint8_t> present() const { return present_; }

   private:
    friend class Table;
    ColumnSpec spec_;
    std::vector<std::uint8_t> present_;
    std::vector<std::int64_t> integers_;
    std::vector<double> reals_;
    std::vector<std::string> texts_;
    std::vector<Value> nested_;
  };

  Table(std::string name, std::string description, std::span<const ColumnSpec> columns);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::span<const Column> columns() const { return columns_; }
  // Throws Error when there is no such column.
  [[nodiscard]] const Column& column(std::string_view name) const;
  [[nodiscard]] bool has_column(std::string_view name) const;
  [[nodiscard]] Cell cell(std::size_t row, std::size_t column) const;

  // One argument per column. Text takes anything string-like, reals take integers too, nested
  // cells take everything; a cell of the wrong kind is our own mistake and ends in TL_CHECK.
  template <class... Cells>
  void add_row(Cells&&... cells) {
    Cell row[] = {to_cell(std::forward<Cells>(cells))...};
    append(row);
  }
  void append(std::span<Cell> row);

  // Stable; missing cells come last whatever the order.
  void sort_by(std::string_view column, Order order = Order::kAscending);
  void sort_by(std::span<const SortKey> keys);
  void keep_first(std::size_t rows);

 private:
  static Cell to_cell(Missing) { return Missing{}; }
  static Cell to_cell(Cell cell) { return cell; }
  static Cell to_cell(bool value) { return value; }
  static Cell to_cell(double value) { return value; }
  template <std::integral T>
  static Cell to_cell(T value) {
    return static_cast<std::int64_t>(value);
  }
  static Cell to_cell(std::string value) { return value; }
  static Cell to_cell(std::string_view value) { return std::string{value}; }
  static Cell to_cell(const char* value) { return std::string{value}; }
  static Cell to_cell(Value value) { return value; }
  template <class T>
  static Cell to_cell(const std::optional<T>& value) {
    return value ? to_cell(*value) : Cell{Missing{}};
  }

  std::string name_, description_;
  std::size_t rows_ = 0;
  std::vector<Column> columns_;
};

}  // namespace tracelens
