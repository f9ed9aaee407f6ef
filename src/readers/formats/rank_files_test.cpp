#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>

#include "io/packing_samples.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

// The files found, without the folder they are in.
std::vector<std::string> names(const io::TemporaryFolder& folder,
                               const std::vector<std::string>& inputs) {
  std::vector<std::string> found;
  for (const RankFile& file : find_rank_files(inputs))
    found.push_back(file.path.substr(folder.path("").size()));
  return found;
}

TEST(RankInPath, IsFoundInTheNameFirst) {
  EXPECT_EQ(rank_in_path("host[rank0].pt.trace.json"), 0);
  EXPECT_EQ(rank_in_path("host_rank-1.json"), 1);
  EXPECT_EQ(rank_in_path("node1/rank1/x.json"), 1);
  EXPECT_EQ(rank_in_path("rank7/rank_10.json"), 10);
  EXPECT_FALSE(rank_in_path("trace.json"));
}

TEST(RankInPath, TakesTheExpressionGiven) {
  EXPECT_EQ(rank_in_path("worker12.json", R"(worker(\d+))"), 12);
  EXPECT_EQ(rank_in_path("a3b4.json", R"(a\d+b(?P<rank>\d+))"), 4);
  EXPECT_FALSE(rank_in_path("worker12.json", R"(worker\d+)"));
  EXPECT_THROW(static_cast<void>(rank_in_path("x", "(")), Error);
}

TEST(FormatByName, KnowsEveryEndingPackedOrNot) {
  for (const char* packing : {"", ".gz", ".zst", ".zip"})
    for (const auto& [ending, format] :
         {std::pair{".json", "kineto"}, std::pair{".xplane.pb", "jax"},
          std::pair{".pftrace", "perfetto"}, std::pair{".perfetto-trace", "perfetto"},
          std::pair{"_results.json", "rocprof"}, std::pair{"_kernel_trace.csv", "rocprof"},
          std::pair{".rpd", "rpd"}, std::pair{".sqlite", "nsight"}, std::pair{".db", "database"}})
      EXPECT_EQ(format_by_name(std::string{"a/Run"} + ending + packing), format)
          << ending << packing;
  EXPECT_EQ(format_by_name("ranks.zip"), "kineto");
  for (const char* other : {"notes.txt", "ops.csv", "json", "x.json.bz2", ""})
    EXPECT_EQ(format_by_name(other), "") << other;
  EXPECT_TRUE(has_trace_name("rank0.xplane.pb.zst"));
  EXPECT_FALSE(has_trace_name("report.db"));
  EXPECT_FALSE(has_trace_name("kernel_trace.csv"));
}

TEST(FindRankFiles, AFolderGivesItsTracesByRank) {
  const io::TemporaryFolder folder;
  for (const char* name : {"rank10_trace.json", "rank2_trace.json.gz", "notes.txt", "other.json"})
    static_cast<void>(folder.write(name, "{}"));
  EXPECT_THAT(names(folder, {folder.path("")}),
              ElementsAre("rank2_trace.json.gz", "rank10_trace.json", "other.json"));
}

TEST(FindRankFiles, AFolderOfJaxGivesTheHostsOfItsNewestRun) {
  const io::TemporaryFolder folder;
  for (const char* run : {"plugins/profile/2026_01_01", "plugins/profile/2026_01_02"})
    std::filesystem::create_directories(folder.path(run));
  static_cast<void>(folder.write("plugins/profile/2026_01_01/old.xplane.pb", ""));
  for (const char* name : {"a.xplane.pb", "b.xplane.pb"})
    static_cast<void>(folder.write(std::string{"plugins/profile/2026_01_02/"} + name, ""));
  EXPECT_THAT(names(folder, {folder.path("")}),
              ElementsAre("plugins/profile/2026_01_02/a.xplane.pb",
                          "plugins/profile/2026_01_02/b.xplane.pb"));
}

TEST(FindRankFiles, APatternMatchesNamesAndWithTwoStarsFolders) {
  const io::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("a/b"));
  for (const char* name : {"rank0.json", "rank1.json", "a/rank2.json", "a/b/rank3.json"})
    static_cast<void>(folder.write(name, "{}"));
  EXPECT_THAT(names(folder, {folder.path("rank*.json")}), ElementsAre("rank0.json", "rank1.json"));
  EXPECT_THAT(names(folder, {folder.path("**/rank[23].json")}),
              ElementsAre("a/rank2.json", "a/b/rank3.json"));
}

TEST(FindRankFiles, AFolderThatAPatternMatchesStandsForItsTraces) {
  const io::TemporaryFolder folder;
  for (const char* name : {"node0", "node1", "node1/old"})
    std::filesystem::create_directories(folder.path(name));
  for (const char* name :
       {"node0/rank0.json", "node0/notes.txt", "node1/rank1.json", "node1/old/rank1.json"})
    static_cast<void>(folder.write(name, "{}"));
  EXPECT_THAT(names(folder, {folder.path("node*")}),
              ElementsAre("node0/rank0.json", "node1/rank1.json"));
}

TEST(FindRankFiles, TracesInFoldersBelowAreToldWithThePatternThatTakesThem) {
  const io::TemporaryFolder folder;
  for (const char* name : {"node0", "node1"})
    std::filesystem::create_directories(folder.path(name));
  for (const char* name : {"node0/rank0.json.gz", "node1/rank1.json", "notes.txt"})
    static_cast<void>(folder.write(name, "{}"));
  const std::string pattern = folder.path("**/*.json*");
  try {
    static_cast<void>(find_rank_files({folder.path("")}));
    ADD_FAILURE() << "traces found";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("no traces here, but in folders below: '" + pattern + "'"));
  }
  EXPECT_THAT(names(folder, {pattern}), ElementsAre("node0/rank0.json.gz", "node1/rank1.json"));
}

TEST(FindRankFiles, TwoStarsMatchNoFolderToo) {
  const io::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("a/b"));
  std::filesystem::create_directories(folder.path(".old"));
  for (const char* name : {"rank0.json", "a/rank1.json", "a/b/rank2.json", "a/b/x3.json",
                           ".old/rank4.json", "a/.rank5.json"})
    static_cast<void>(folder.write(name, "{}"));
  EXPECT_THAT(names(folder, {folder.path("**/rank*.json")}),
              ElementsAre("rank0.json", "a/rank1.json", "a/b/rank2.json"));
  EXPECT_THAT(names(folder, {folder.path("**/a/**/b/**/rank*.json")}),
              ElementsAre("a/b/rank2.json"));
  EXPECT_THAT(names(folder, {folder.path("a/**")}),
              ElementsAre("a/rank1.json", "a/b/rank2.json", "a/b/x3.json"));
  EXPECT_THAT(names(folder, {folder.path("*/**/b/*.json")}),
              ElementsAre("a/b/rank2.json", "a/b/x3.json"));
}

TEST(FindRankFiles, AnArchiveOfSeveralTracesIsAFolder) {
  const io::TemporaryFolder folder;
  static_cast<void>(folder.write(
      "run.zip", io::zip({{"rank1.json", "{}"}, {"rank0.json", "{}"}, {"readme.txt", "hello"}})));
  static_cast<void>(folder.write("one.zip", io::zip({{"rank5.json", "{}"}})));
  EXPECT_THAT(names(folder, {folder.path("run.zip")}),
              ElementsAre("run.zip/rank0.json", "run.zip/rank1.json"));
  EXPECT_THAT(names(folder, {folder.path("one.zip")}), ElementsAre("one.zip"));
}

TEST(FindRankFiles, AFileNamedTwiceCountsOnce) {
  const io::TemporaryFolder folder;
  const std::string file = folder.write("rank0.json", "{}");
  EXPECT_THAT(names(folder, {file, file}), ElementsAre("rank0.json"));
}

TEST(FindRankFiles, NothingToReadIsAnError) {
  const io::TemporaryFolder folder;
  EXPECT_THROW(static_cast<void>(find_rank_files({folder.path("")})), Error);
  EXPECT_THROW(static_cast<void>(find_rank_files({folder.path("rank*.json")})), Error);
  EXPECT_THROW(static_cast<void>(find_rank_files({folder.path("missing.json")})), Error);
}

}  // namespace
}  // namespace tracelens
