// Makes a table with nothing but the installed headers and the archive.
#include <iostream>
#include <string>
#include <tracelens/tracelens.hpp>

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
  const std::string macros = std::to_string(TRACELENS_VERSION_MAJOR) + "." +
                             std::to_string(TRACELENS_VERSION_MINOR) + "." +
                             std::to_string(TRACELENS_VERSION_PATCH);
  return table.column("name").texts().front() == "aten::mm" && macros == tracelens::kVersion ? 0
                                                                                             : 1;
}
