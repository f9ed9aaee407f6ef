#include "report/recipes/folded_columns.hpp"

#include "analysis/tables/registry.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kWideTable = 20;  // columns that are all open

// The parameters of a family are its shape; strides and types are not.
bool is_shape(std::string_view column) {
  return column.starts_with("param: ") && column.find("stride") == column.npos &&
         column.find("dtype") == column.npos;
}

}  // namespace

bool is_folded_in_report(const Table& table, std::string_view column) {
  if (table.columns().size() <= kWideTable || is_shape(column)) return false;
  return is_off_screen(table, column);
}

}  // namespace tracelens
