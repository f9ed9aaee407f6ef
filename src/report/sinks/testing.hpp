// testing.hpp: what the tests of the sinks share.
#pragma once

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <tracelens/overview.hpp>
#include <tracelens/table.hpp>
#include <tracelens/value.hpp>
#include <vector>

namespace tracelens::testing {

// The names in a folder, hidden ones too, in order.
inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

// Every kind of column, with a full row, a row of missing cells and a row of awkward ones.
inline Table every_kind() {
  const ColumnSpec columns[] = {
      {"name", Kind::kText, "", "op name as traced"},      {"time", Kind::kReal, "ms", "busy time"},
      {"count", Kind::kInteger, "", "number of calls"},    {"modelled", Kind::kBool, "", ""},
      {"dims", Kind::kNested, "", "shapes of the inputs"},
  };
  Table table{"ops", "GPU time per op", columns};
  table.add_row("aten::mm", 12.0, 1234, true,
                Value::tuple({Value::tuple({8, 4}), Value::tuple({})}));
  table.add_row(kMissing, kMissing, kMissing, kMissing, kMissing);
  table.add_row("=a|<b>, \"c\"\n_d_", std::numeric_limits<double>::infinity(), -1, false,
                Value::dict({"k"}, {"it's"}));
  return table;
}

inline Table one_column(const std::string& name) {
  const ColumnSpec columns[] = {{"a", Kind::kReal, "", ""}};
  Table table{name, "", columns};
  table.add_row(1.5);
  table.add_row(kMissing);
  return table;
}

inline Overview some_overview() {
  Overview overview;
  overview.run = "H200, 3 steps";
  overview.bound = "host";
  overview.verdict = "Host-bound: a <b>";
  overview.split = {{"compute", 4'000'000, 40}, {"idle", 6'000'000, 60}};
  overview.idle_causes = {{"op dispatch", 6'000'000, 60}};
  overview.costs_title = "costliest";
  overview.costs = {{"GEMM", 3'000'000, 75, 50.5, "aten::mm"}, {"other", 1'000'000, 25}};
  overview.advice = {"Use graphs."};
  overview.commands = {"tracelens tree t.json"};
  return overview;
}

}  // namespace tracelens::testing
