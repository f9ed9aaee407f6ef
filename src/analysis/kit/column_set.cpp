#include "analysis/kit/column_set.hpp"

namespace tracelens {

AnyColumn::AnyColumn(const ColumnSpec& spec, bool when, Fill fill_cells)
    : spec_{spec}, when_{when}, fill_{fill_cells} {}

void ColumnList::add(const AnyColumn& column) {
  if (column.when()) columns_.push_back(column);
}

Table ColumnList::make_table(std::string name, std::string description) const {
  std::vector<ColumnSpec> specs;
  for (const AnyColumn& column : columns_) specs.push_back(column.spec());
  return {std::move(name), std::move(description), specs};
}

void ColumnList::append(Table& table, const void* row) {
  cells_.clear();
  fill(row, cells_);
  table.append(cells_.cells());
}

void ColumnList::fill(const void* row, RowCells& cells) const {
  for (const AnyColumn& column : columns_) column.fill(row, cells);
}

}  // namespace tracelens
