#include "readers/xplane/folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"

namespace tracelens::xplane {
namespace {

namespace fs = std::filesystem;

class ProfileFolder : public ::testing::Test {
 protected:
  void add(const std::string& file) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream{root_ / file} << "x";
  }
  [[nodiscard]] std::string error_of_search() const {
    try {
      (void)find_profile_run(root_.string());
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  const io::TemporaryFolder folder_;
  const fs::path root_ = folder_.path("");
};

TEST_F(ProfileFolder, TheNewestRunByNameIsTakenWithAllItsHosts) {
  add("plugins/profile/2026_01_01/a.xplane.pb");
  add("plugins/profile/2026_01_03/b.xplane.pb.gz");
  add("plugins/profile/2026_01_03/a.xplane.pb");
  add("plugins/profile/2026_01_03/a.trace.json.gz");
  add("plugins/profile/2026_01_04/empty");
  const ProfileRun run = find_profile_run(root_.string());
  EXPECT_EQ(fs::path{run.folder}.filename(), "2026_01_03");
  ASSERT_EQ(run.files.size(), 2u);
  EXPECT_EQ(fs::path{run.files[0]}.filename(), "a.xplane.pb");
  EXPECT_EQ(run.runs, 2u);
  EXPECT_EQ(find_profile_run((root_ / "plugins/profile").string()).files, run.files);
  EXPECT_EQ(find_profile_run(run.folder).files, run.files);
}

TEST_F(ProfileFolder, AProfileFurtherDownIsNotTaken) {
  add("project/logs/plugins/profile/2026_01_01/a.xplane.pb");
  EXPECT_NE(error_of_search().find("without *.xplane.pb"), std::string::npos);
}

TEST_F(ProfileFolder, AFolderOfSomethingElseGetsAHint) {
  add("rank0.json.gz");
  EXPECT_NE(error_of_search().find("tracelens collectives"), std::string::npos);
  add("kernel_trace/9_kernel_trace.csv");
  EXPECT_NE(error_of_search().find("genesis --capture-dir"), std::string::npos);
}

}  // namespace
}  // namespace tracelens::xplane
