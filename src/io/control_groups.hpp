// control_groups.hpp: how much of the machine the system lets a process and its neighbours in a container have.
//   if (const auto cpus = io::ControlGroups{}.cpus()) ...   // 1.5: three cores, half of the time
// Linux has two versions of these groups, and a process may be in groups of both. Groups stand in each other,
// and the lowest limit on the way up counts. What cannot be read is no limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace tracelens::io {

class ControlGroups {
 public:
  explicit ControlGroups(std::filesystem::path list = "/proc/self/cgroup",
                         std::filesystem::path root = "/sys/fs/cgroup")
      : list_{std::move(list)}, root_{std::move(root)} {}

  [[nodiscard]] std::optional<double> cpus() const;
  [[nodiscard]] std::optional<std::uint64_t> memory() const;  // bytes

 private:
  template <class Use>
  void for_each_folder(const std::string& controller, const Use& use) const;

  std::filesystem::path list_, root_;
};

}  // namespace tracelens::io
