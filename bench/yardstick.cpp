// yardstick.cpp: one file of ordinary C++ that never changes. bench/build compiles it to say how fast
// the machine is at the moment, so that build times can be told as ratios.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

struct Row {
  std::string name;
  std::variant<long, double, std::string> value;
  std::optional<double> share;
};

int main(int argc, char** argv) {
  std::map<std::string, std::vector<Row>> groups;
  std::unordered_map<std::string, std::function<double(const Row&)>> measures;
  measures["size"] = [](const Row& row) { return static_cast<double>(row.name.size()); };
  const std::regex word{"([a-z]+)_([0-9]+)"};
  for (int i = 1; i < argc; ++i) {
    std::smatch found;
    const std::string text{argv[i]};
    if (std::regex_match(text, found, word))
      groups[found[1]].push_back({found[2], std::stol(found[2]), std::nullopt});
    else
      groups[text].push_back({text, text, 1.0});
  }
  std::ostringstream out;
  for (auto& [name, rows] : groups) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.name < b.name; });
    for (const Row& row : rows) out << name << ' ' << measures["size"](row) << '\n';
  }
  return out.str().empty() ? 1 : 0;
}
