// join.hpp: the same table of several reports side by side, with differences.
//   const TableJoin join{{{"base", &a, {}}, {"new", &b, {}}}, {.keys = {"name"}, .metrics =
//   {"Count"}},
//                        notes};
//   const Table all = join.all("ops_summary", "Count");   // name, Count__new_diff, Count__new_pct,
//                                                         // base::Count, new::Count
// A full outer join: rows of equal keys stand side by side. Blank keys are equal. Rows are ordered
// by key (numbers by size, text by code point, blanks last), then by their place in the first
// table, the second, and so on. The tables must outlive the join.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

struct JoinSide {
  std::string tag = {};  // goes before the names of its columns
  const Table* table = nullptr;
  std::vector<std::string> dropped = {};  // columns to leave out; need not exist
};

struct JoinSpec {
  std::vector<std::string> keys = {};     // columns that every side has
  std::vector<std::string> metrics = {};  // numbers to take the difference of
  // A key that occurs several times: the first row with the first one, the second with the second.
  // Off: every row with every other, as the Python TraceLens does.
  bool in_order = false;
};

class TableJoin {
 public:
  // The first side is the baseline. A metric that a side lacks is left out, and a key that is a
  // number here and text of anything else there is compared as text; both put a sentence into `notes`. Throws Error
  // when duplicate keys would make more rows than any reader wants.
  TableJoin(std::vector<JoinSide> sides, JoinSpec spec, std::vector<std::string>& notes);

  // Every row and column, the largest value of `metric` in the baseline first; no metric: by key.
  [[nodiscard]] Table all(const std::string& name, std::string_view metric) const;

  // What becomes of the rows when one other report is compared with the baseline.
  enum class Part : std::uint8_t { kIntersect, kOnlyBaseline, kOnlyVariant };
  // The rows whose first metric is in both, or in one of them only; the columns of those reports;
  // no column that is blank throughout.
  [[nodiscard]] Table part(Part part, std::size_t variant, const std::string& name,
                           std::string_view metric) const;

  [[nodiscard]] const std::vector<std::string>& metrics() const { return spec_.metrics; }

 private:
  enum class Role : std::uint8_t { kKey, kDifference, kPercent, kValue };
  struct Column {
    Role role = Role::kValue;
    std::size_t side = 0;   // of a value, or the variant of a difference
    std::size_t index = 0;  // of a value: column of the table; else place among keys or metrics
    ColumnSpec spec = {};
  };

  using RowsBySide = std::vector<std::vector<std::uint32_t>>;
  void join_rows(std::vector<std::string>& notes);
  void find_text_keys(std::vector<std::string>& notes);
  void add_rows(const RowsBySide& rows);
  void make_columns();
  void add_differences(std::size_t metric);
  [[nodiscard]] ColumnSpec value_spec(std::size_t side, std::size_t index) const;
  [[nodiscard]] std::size_t rows() const { return rows_.size() / sides_.size(); }
  [[nodiscard]] std::uint32_t row_of(std::size_t row, std::size_t side) const {
    return rows_[row * sides_.size() + side];
  }
  [[nodiscard]] Cell cell(std::size_t row, const Column& column) const;
  [[nodiscard]] std::optional<double> number(std::size_t row, std::size_t side,
                                             std::size_t metric) const;
  [[nodiscard]] std::optional<std::size_t> metric_index(std::string_view metric) const;
  void sort_rows(std::vector<std::size_t>& rows, std::size_t side, std::string_view metric) const;
  [[nodiscard]] Table make_table(const std::string& name, const std::vector<std::size_t>& rows,
                                 const std::vector<const Column*>& columns) const;

  std::vector<JoinSide> sides_;
  JoinSpec spec_;
  std::vector<std::vector<std::size_t>> key_columns_, metric_columns_;  // by side
  std::vector<bool> keys_as_text_;
  std::vector<std::uint32_t> rows_;  // one row of each side, or kNoRow
  std::vector<bool> complete_;       // by side: every joined row has one
  std::vector<Column> columns_;
};

}  // namespace tracelens
