#include "readers/database/package_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>

#include <fstream>

#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kHead = "rocprofiler-sdk:\n  rocpd:\n    rocpd_package_version: \"1.0\"\n";

std::vector<std::string> files_of(const std::string& below) {
  EXPECT_TRUE(is_package_list(kHead + below)) << below;
  return package_list(kHead + below).files;
}

TEST(PackageList, FilesAreListedInAnySpelling) {
  EXPECT_THAT(files_of("    path: \".\"\n    files:\n      - a.db\n      - 'b.db' # the other\n"),
              ElementsAre("a.db", "b.db"));
  EXPECT_THAT(files_of("    files:\n    - a.db\n    path: data\n"), ElementsAre("a.db"));
  EXPECT_THAT(files_of("    files: rank[01]*.db\n"), ElementsAre("rank[01]*.db"));
  EXPECT_THAT(files_of("    files: [a.db,\n      rank[01].db]\n    other: 1\n"),
              ElementsAre("a.db", "rank[01].db"));
  EXPECT_THAT(files_of("    \"files\": [\"a.db\"]\n"), ElementsAre("a.db"));
  EXPECT_THAT(files_of("    my_files: no.db\n    files: a.db\n"), ElementsAre("a.db"));
  EXPECT_THAT(files_of("    description: \"files: none\"\n    note: files: no\n    files: a.db\n"),
              ElementsAre("a.db"));
  EXPECT_THAT(files_of("    files:\n    path: x\n"), IsEmpty());
}

TEST(PackageList, AMapMayStandInBraces) {
  const PackageList yaml = package_list(
      "rocprofiler-sdk: {rocpd: {files: data/*.db, rocpd_package_version: \"1.0\", my_path: /x, path: "
      "sub}}\n");
  EXPECT_THAT(yaml.files, ElementsAre("data/*.db"));
  EXPECT_EQ(yaml.folder, "sub");
  const std::string json = R"({"rocprofiler-sdk":{"rocpd":{"path":".","files":["a.db","b.db"]}}})";
  EXPECT_TRUE(is_package_list(json));
  EXPECT_THAT(package_list(json).files, ElementsAre("a.db", "b.db"));
}

TEST(PackageList, OtherFilesAreNone) {
  EXPECT_FALSE(is_package_list(R"({"rocprofiler-sdk-tool": [{"rocpd": 1, "files": []}]})"));
  EXPECT_FALSE(is_package_list("rocprofiler-sdk: {rocpd: {path: files}}"));
  EXPECT_TRUE(package_list("\"").files.empty());
  EXPECT_TRUE(package_list("[[[\n- - -\n'").files.empty());
}

TEST(PackageList, PatternsMayBeInFolders) {
  const io::TemporaryFolder folder;
  for (const char* const below : {"d0", "d1", "e"}) {
    std::filesystem::create_directory(folder.path(below));
    std::ofstream{folder.path(below) + "/x.db"} << "x";
  }
  const std::filesystem::path top = std::filesystem::path{folder.path("d0")}.parent_path();
  const auto listed = [&](std::vector<std::string> names) {
    return listed_files({.folder = "", .files = std::move(names)}, top, "list.yaml");
  };
  EXPECT_THAT(listed({"d*/x.db"}),
              ElementsAre((top / "d0/x.db").string(), (top / "d1/x.db").string()));
  EXPECT_THAT(listed({"?/[xy].db", "a.db", "?/[xy].db", "a.db"}),
              ElementsAre((top / "e/x.db").string(), (top / "a.db").string()));
  EXPECT_THAT(listed({"z/*.db"}), IsEmpty());
  EXPECT_THROW(static_cast<void>(listed({"none*/../e/x.db"})), Error);
}

// One list may not have folders looked through again and again, by however many patterns.
TEST(PackageList, ManyPatternsAreRefused) {
  const io::TemporaryFolder folder;
  for (int i = 0; i < 200; ++i) std::ofstream{folder.path("f" + std::to_string(i))} << "x";
  PackageList list{.folder = "", .files = {}};
  for (int i = 0; i < 1000; ++i) list.files.push_back("f*[" + std::to_string(i) + "]");
  const std::filesystem::path top = std::filesystem::path{folder.path("f0")}.parent_path();
  EXPECT_THROW(static_cast<void>(listed_files(list, top, "list.yaml")), Error);
}

}  // namespace
}  // namespace tracelens
