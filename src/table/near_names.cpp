#include <tracelens/near_names.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "io/ascii.hpp"
#include "table/letters_between.hpp"

namespace tracelens {

std::size_t letters_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::vector<std::string> nearest_names(std::string_view name, std::span<const std::string> names) {
  constexpr std::size_t kMostLetters = 64, kMostNames = 3;
  const std::string wanted = io::lower_case(name.substr(0, kMostLetters));
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& each : names) {
    const std::string other = io::lower_case(each);
    if (other.size() > kMostLetters) continue;
    const bool contains =
        wanted.size() > 3 && (other.find(wanted) != other.npos ||
                              (other.size() > 3 && wanted.find(other) != wanted.npos));
    const std::size_t letters = letters_between(wanted, other);
    if (letters <= 1 + wanted.size() / 4 || contains) found.emplace_back(letters, each);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<std::string> nearest;
  for (std::size_t i = 0; i < std::min(found.size(), kMostNames); ++i)
    nearest.push_back(found[i].second);
  return nearest;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> names) {
  const std::vector<std::string> near = nearest_names(name, names);
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, ", "));
}

}  // namespace tracelens
