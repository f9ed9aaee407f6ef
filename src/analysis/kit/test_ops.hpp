// test_ops.hpp: calls with arguments and readers of cells, for the tests of the op tables.
#pragma once

#include <string>
#include <string_view>
#include <tracelens/table.hpp>
#include <tracelens/table_text.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {

// Two bf16 matrices: [m, k] x [k, n].
inline Signature matrices(int m, int k, int n) {
  Signature call;
  call.dims = Value::tuple({Value::tuple({m, k}), Value::tuple({k, n})});
  call.types = Value::tuple({"c10::BFloat16", "c10::BFloat16"});
  call.strides = Value::tuple({Value::tuple({k, 1}), Value::tuple({n, 1})});
  call.concrete = Value::tuple({"", ""});
  return call;
}

inline std::string cell(const Table& table, std::string_view column, std::size_t row) {
  return plain_text(table.column(column), row);
}
inline std::vector<std::string> column(const Table& table, std::string_view name) {
  std::vector<std::string> cells;
  for (std::size_t row = 0; row < table.rows(); ++row) cells.push_back(cell(table, name, row));
  return cells;
}

}  // namespace tracelens
