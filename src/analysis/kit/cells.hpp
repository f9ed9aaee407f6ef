// cells.hpp: small helpers for filling the rows of op tables.
//   RowCells row;
//   row.add("aten::mm");  row.add(us(busy_ns));  row.add(std::optional<double>{});
//   table.append(row.cells());
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <utility>
#include <vector>

namespace tracelens {

[[nodiscard]] inline double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }
[[nodiscard]] inline double ms(std::int64_t ns) { return static_cast<double>(ns) / 1e6; }

// With three digits, or all of a whole number that has more: "0.0451 ms", "94.2 ms", "9730 ms".
[[nodiscard]] std::string rounded_ms(std::int64_t ns);

// part / whole in percent; none when the whole is nothing.
[[nodiscard]] inline std::optional<double> percent_of(double part, double whole) {
  if (whole == 0) return std::nullopt;
  return part / whole * 100;
}
[[nodiscard]] inline std::optional<double> percent_of(std::int64_t part, std::int64_t whole) {
  return percent_of(static_cast<double>(part), static_cast<double>(whole));
}

class RowCells {
 public:
  void add(std::string_view text) { cells_.emplace_back(std::string{text}); }
  void add(const char* text) { cells_.emplace_back(std::string{text}); }
  void add(std::string text) { cells_.emplace_back(std::move(text)); }
  void add(bool value) { cells_.emplace_back(value); }
  void add(double value) { cells_.emplace_back(value); }
  void add(std::int64_t value) { cells_.emplace_back(value); }
  void add(Value value) { cells_.emplace_back(std::move(value)); }
  void add(Missing) { cells_.emplace_back(Missing{}); }
  void add(Cell cell) { cells_.push_back(std::move(cell)); }
  template <class T>
  void add(const std::optional<T>& value) {
    if (value)
      add(*value);
    else
      add(kMissing);
  }
  std::span<Cell> cells() { return cells_; }
  void clear() { cells_.clear(); }

 private:
  std::vector<Cell> cells_;
};

// The same data with every tuple written as a list.
[[nodiscard]] Value as_list(const Value& value);

// "Percentage (%)" and "Cumulative Percentage (%)", row by row.
class RunningShare {
 public:
  struct Cells {
    std::optional<double> here, so_far;
  };

  explicit RunningShare(double whole) : whole_{whole} {}
  [[nodiscard]] Cells next(double part) {
    const std::optional<double> share = percent_of(part, whole_);
    if (!share) return {};
    so_far_ += *share;
    return {share, so_far_};
  }
  static ColumnSpec share_column(const std::string& of) {
    return {"Percentage (%)", Kind::kReal, "%", "share of the summed " + of};
  }
  static ColumnSpec so_far_column() {
    return {"Cumulative Percentage (%)", Kind::kReal, "%",
            "the same, summed up to and with this row"};
  }

  void add_to(RowCells& row, double part) {
    const Cells cells = next(part);
    row.add(cells.here);
    row.add(cells.so_far);
  }
  static void add_columns(std::vector<ColumnSpec>& columns, const std::string& of) {
    columns.push_back(share_column(of));
    columns.push_back(so_far_column());
  }

 private:
  double whole_, so_far_ = 0;
};

}  // namespace tracelens
