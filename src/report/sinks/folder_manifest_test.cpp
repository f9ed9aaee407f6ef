#include "report/sinks/folder_manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

using io::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

WrittenFile written(const std::string& name, std::string_view text) {
  ContentHash content;
  content.add(text);
  return content.of(name);
}

std::vector<std::string> names_of(const std::vector<WrittenFile>& files) {
  std::vector<std::string> names;
  for (const WrittenFile& file : files) names.push_back(file.name);
  return names;
}

TEST(FolderManifest, IsReadBackAsItWasWritten) {
  const TemporaryFolder folder;
  const WrittenFile file = written("a table, of µs.csv", "a\n1\n");
  (void)folder.write(".tracelens-files", manifest_text({&file, 1}));
  const std::vector<WrittenFile> read = read_manifest(folder.path(""));
  ASSERT_THAT(names_of(read), ElementsAre("a table, of µs.csv"));
  EXPECT_EQ(read[0].bytes, file.bytes);
  EXPECT_EQ(read[0].hash, file.hash);
}

TEST(FolderManifest, NamesThatLeadOutOfTheFolderOrAreNoTablesAreNotBelieved) {
  const TemporaryFolder folder;
  (void)folder.write(".tracelens-files",
                     "tracelens-files 1\n"
                     "00 4 ../up.csv\n00 4 /etc/t.csv\n00 4 sub/t.csv\n00 4 .hidden.csv\n"
                     "00 4 notes.txt\n00 4 \n00 4\n4 t.csv\nzz 4 t.csv\n00 -4 t.csv\n"
                     "00 99999999999999999999 t.csv\n00 4 good.csv\n00 4 cut.csv");
  EXPECT_THAT(names_of(read_manifest(folder.path(""))), ElementsAre("good.csv"));
  EXPECT_FALSE(remove_if_unchanged(folder.path("sub"), written("../.tracelens-files", "")));
}

TEST(FolderManifest, WhatIsNoListOfOursIsEmpty) {
  const TemporaryFolder folder;
  EXPECT_THAT(read_manifest(folder.path("")), IsEmpty());
  (void)folder.write(".tracelens-files", "00 4 t.csv\n");
  EXPECT_THAT(read_manifest(folder.path("")), IsEmpty());
  std::filesystem::remove(folder.path(".tracelens-files"));
  (void)folder.write("list", "tracelens-files 1\n00 4 t.csv\n");
  std::filesystem::create_symlink(folder.path("list"), folder.path(".tracelens-files"));
  EXPECT_THAT(read_manifest(folder.path("")), IsEmpty());
  std::filesystem::remove(folder.path(".tracelens-files"));
  ASSERT_EQ(::mkfifo(folder.path(".tracelens-files").c_str(), 0600), 0);
  EXPECT_THAT(read_manifest(folder.path("")), IsEmpty());
}

TEST(FolderManifest, OnlyAFileWithTheVeryContentIsRemoved) {
  const TemporaryFolder folder;
  (void)folder.write("same.csv", "a\n1\n");
  (void)folder.write("longer.csv", "a\n11\n");
  (void)folder.write("other.csv", "a\n2\n");
  std::filesystem::create_symlink(folder.path("same.csv"), folder.path("link.csv"));
  for (const char* name : {"longer.csv", "other.csv", "link.csv", "none.csv"})
    EXPECT_FALSE(remove_if_unchanged(folder.path(""), written(name, "a\n1\n"))) << name;
  EXPECT_TRUE(remove_if_unchanged(folder.path(""), written("same.csv", "a\n1\n")));
  EXPECT_THAT(folder.names(), UnorderedElementsAre("link.csv", "longer.csv", "other.csv"));
}

}  // namespace
}  // namespace tracelens
