#include "io/control_groups.hpp"

#include <algorithm>
#include <fstream>

namespace tracelens::io {
namespace {

namespace fs = std::filesystem;

template <class T>
void lower(std::optional<T>& lowest, T limit) {
  lowest = std::min(lowest.value_or(limit), limit);
}

template <class T>
std::optional<T> first_number(const fs::path& file) {
  std::ifstream in{file};
  if (T number{}; in >> number) return number;  // "max" is none
  return std::nullopt;
}

}  // namespace

// The folders of this process's groups, each before the one it stands in: "0::/jobs/7" in version 2,
// "4:cpu,cpuacct:/jobs/7" in version 1. In a container they may be named as its host sees them while its own
// stand at the root: of the others there are no files then.
template <class Use>
void ControlGroups::for_each_folder(const std::string& controller, const Use& use) const {
  std::ifstream list{list_};
  for (std::string line; std::getline(list, line);) {
    const std::size_t names = line.find(':') + 1, path = line.find(':', names) + 1;
    if (names == 0 || path == 0) continue;
    const bool is_second = line.starts_with("0::");
    const std::string controllers = "," + line.substr(names, path - names - 1) + ",";
    if (!is_second && controllers.find("," + controller + ",") == std::string::npos) continue;
    const fs::path root = is_second ? root_ : root_ / controller;
    for (fs::path group = fs::path{line.substr(path)}.relative_path();;
         group = group.parent_path()) {
      use(root / group, is_second);
      if (group.empty()) break;
    }
  }
}

// "150000 100000" or "max 100000" in version 2; two files in version 1, where -1 is no limit.
std::optional<double> ControlGroups::cpus() const {
  std::optional<double> lowest;
  for_each_folder("cpu", [&](const fs::path& folder, bool is_second) {
    std::optional<double> quota, period;
    if (is_second) {
      std::ifstream in{folder / "cpu.max"};
      if (double time = 0, of = 0; in >> time >> of) quota = time, period = of;
    } else {
      quota = first_number<double>(folder / "cpu.cfs_quota_us");
      period = first_number<double>(folder / "cpu.cfs_period_us");
    }
    if (quota && period && *quota > 0 && *period > 0) lower(lowest, *quota / *period);
  });
  return lowest;
}

std::optional<std::uint64_t> ControlGroups::memory() const {
  std::optional<std::uint64_t> lowest;
  for_each_folder("memory", [&](const fs::path& folder, bool is_second) {
    const char* const file = is_second ? "memory.max" : "memory.limit_in_bytes";
    if (const auto bytes = first_number<std::uint64_t>(folder / file)) lower(lowest, *bytes);
  });
  return lowest;
}

}  // namespace tracelens::io
