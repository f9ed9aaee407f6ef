#include <tracelens/collectives.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> names_of(const std::vector<RankFile>& files) {
  std::vector<std::string> names;
  for (const RankFile& file : files)
    names.push_back(std::to_string(file.rank.value()) + " " +
                    file.path.substr(file.path.rfind('/') + 1));
  return names;
}

template <class Call>
std::string error_of(Call&& call) {
  try {
    static_cast<void>(call());
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(RanksInFolder, APlainTraceIsTakenBeforeAPackedOne) {
  const io::TemporaryFolder folder;
  for (const char* name : {"rank0_trace.json.gz", "rank1_trace.json", "rank1_trace.json.gz"})
    static_cast<void>(folder.write(name, "{}"));
  EXPECT_THAT(names_of(ranks_in_folder(folder.path(""), 2)),
              ElementsAre("0 rank0_trace.json.gz", "1 rank1_trace.json"));
  EXPECT_THAT(error_of([&] { return ranks_in_folder(folder.path(""), 3); }),
              AllOf(StartsWith("Expected trace file not found: "), EndsWith("/rank2_trace.json")));
}

TEST(RanksByPattern, TheStarIsTheRank) {
  const io::TemporaryFolder folder;
  static_cast<void>(folder.write("a0.json", "{}"));
  static_cast<void>(folder.write("a1.json", "{}"));
  EXPECT_THAT(names_of(ranks_by_pattern(folder.path("a*.json"), 2)),
              ElementsAre("0 a0.json", "1 a1.json"));
  EXPECT_THAT(error_of([&] { return ranks_by_pattern(folder.path("a*.json"), 3); }),
              AllOf(StartsWith("Expected trace file not found: "), EndsWith("/a2.json")));
  EXPECT_EQ(
      error_of([] { return ranks_by_pattern("x/*/*", 1); }),
      "x/*/*: trace_pattern must contain exactly one '*' character as a placeholder for rank id");
}

TEST(RanksByGlob, TheRegexFindsTheRankAndTheFirstFileOfARankCounts) {
  const io::TemporaryFolder folder;
  for (const char* name : {"b_r0.json", "a_r1.json", "b_r1.json", "c_r7.json"})
    static_cast<void>(folder.write(name, "{}"));
  const std::string glob = folder.path("*.json");
  EXPECT_THAT(names_of(ranks_by_glob(glob, "_r(\\d+)", 2)),
              ElementsAre("0 b_r0.json", "1 a_r1.json"));
  EXPECT_THAT(error_of([&] { return ranks_by_glob(glob, "_r(\\d+)", 4); }),
              StartsWith("Missing ranks after glob resolution: [2, 3]. "));
  EXPECT_THAT(
      error_of([&] { return ranks_by_glob(glob, "rank(\\d+)", 1); }),
      HasSubstr("--trace_glob matched 4 file(s), but none matched --rank_regex 'rank(\\d+)'"));
  const std::string nothing = folder.path("**/*.pftrace");
  EXPECT_EQ(error_of([&] { return ranks_by_glob(nothing, "rank(\\d+)", 1); }),
            "No files matched --trace_glob: " + nothing);
}

TEST(CommonFolder, IsTheInnermostOneOfAllFiles) {
  EXPECT_EQ(common_folder({{"/run/a/0.json"}, {"/run/a/1.json"}}), "/run/a");
  EXPECT_EQ(common_folder({{"/run/a/b/0.json"}, {"/run/ab/1.json"}}), "/run");
}

}  // namespace
}  // namespace tracelens
