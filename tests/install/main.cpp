// Makes a table with nothing but the installed headers and libraries.
#include <iostream>
#include <tracelens/error.hpp>
#include <tracelens/table.hpp>
#include <tracelens/version.hpp>

int main() {
  using tracelens::ColumnSpec;
  using tracelens::Kind;
  const ColumnSpec columns[] = {{"name", Kind::kText, "", "op name"},
                                {"time", Kind::kReal, "ms", "GPU time"}};
  tracelens::Table table{"ops", "GPU time per op", columns};
  table.add_row("aten::add", 0.5);
  table.add_row("aten::mm", 12.5);
  table.sort_by("time", tracelens::Order::kDescending);
  std::cout << "TraceLens " << tracelens::kVersion << ": " << table.column("name").texts().front()
            << '\n';
  return table.column("name").texts().front() == "aten::mm" ? 0 : 1;
}
