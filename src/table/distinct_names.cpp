#include <fmt/format.h>

#include <set>
#include <string>
#include <tracelens/table_text.hpp>
#include <vector>

namespace tracelens {

std::vector<std::string> distinct_names(std::vector<std::string> names) {
  std::set<std::string> taken;
  for (std::string& name : names) {
    std::string own = name;
    for (int number = 2; taken.contains(own); ++number) own = fmt::format("{}_{}", name, number);
    taken.insert(own);
    name = std::move(own);
  }
  return names;
}

}  // namespace tracelens
