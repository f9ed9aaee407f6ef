#include "io/control_groups.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string_view>

#include "io/temporary_folder.hpp"

namespace tracelens::io {
namespace {

// The files that Linux would show, in a folder.
class Groups {
 public:
  void write(const std::string& file, std::string_view text) const {
    const std::filesystem::path path = folder_.path(file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream{path} << text;
  }
  [[nodiscard]] ControlGroups read() const {
    return ControlGroups{folder_.path("list"), folder_.path("groups")};
  }

 private:
  TemporaryFolder folder_;
};

TEST(ControlGroups, AQuotaIsPartsOfCpus) {
  const Groups groups;
  groups.write("list", "0::/kube/pod7\n");
  groups.write("groups/kube/pod7/cpu.max", "150000 100000\n");
  groups.write("groups/kube/pod7/memory.max", "2147483648\n");
  EXPECT_EQ(groups.read().cpus(), 1.5);
  EXPECT_EQ(groups.read().memory(), std::uint64_t{2} << 30);
}

TEST(ControlGroups, TheLowestLimitOnTheWayUpCounts) {
  const Groups groups;
  groups.write("list", "0::/kube/pod7/box\n");
  groups.write("groups/kube/pod7/box/cpu.max", "max 100000\n");
  groups.write("groups/kube/pod7/cpu.max", "400000 100000\n");
  groups.write("groups/kube/cpu.max", "1600000 100000\n");
  groups.write("groups/kube/pod7/box/memory.max", "8000\n");
  groups.write("groups/kube/memory.max", "max\n");
  groups.write("groups/memory.max", "9000\n");
  EXPECT_EQ(groups.read().cpus(), 4.0);
  EXPECT_EQ(groups.read().memory(), 8000U);
}

TEST(ControlGroups, AContainerSeesItsOwnGroupAtTheRoot) {
  const Groups groups;
  groups.write("list", "5:memory:/host/pod7\n4:cpu,cpuacct:/host/pod7\n0::/\n");
  groups.write("groups/cpu/cpu.cfs_quota_us", "50000\n");
  groups.write("groups/cpu/cpu.cfs_period_us", "100000\n");
  groups.write("groups/memory/memory.limit_in_bytes", "123456789\n");
  EXPECT_EQ(groups.read().cpus(), 0.5);
  EXPECT_EQ(groups.read().memory(), 123'456'789U);
}

TEST(ControlGroups, OtherControllersHaveNoSay) {
  const Groups groups;
  groups.write("list", "4:cpuset:/a\n3:cpuacct:/a\n");
  groups.write("groups/cpu/a/cpu.cfs_quota_us", "50000\n");
  groups.write("groups/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(groups.read().cpus(), std::nullopt);
}

TEST(ControlGroups, WhatIsNotThereOrMakesNoSenseIsNoLimit) {
  const Groups groups;
  EXPECT_EQ(groups.read().cpus(), std::nullopt);
  EXPECT_EQ(groups.read().memory(), std::nullopt);
  groups.write("list", "no group\n1:cpu:/a\n0::/b\n\n:\n");
  groups.write("groups/cpu/a/cpu.cfs_quota_us", "-1\n");
  groups.write("groups/cpu/a/cpu.cfs_period_us", "100000\n");
  groups.write("groups/b/cpu.max", "100000 0\n");
  groups.write("groups/b/memory.max", "much\n");
  EXPECT_EQ(groups.read().cpus(), std::nullopt);
  EXPECT_EQ(groups.read().memory(), std::nullopt);
}

}  // namespace
}  // namespace tracelens::io
