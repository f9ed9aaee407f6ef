#include "report/import/read_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Traces as they were read, the way a folder lists them, and the ranks they got.
class AssignRanks : public testing::Test {
 protected:
  void add(const char* path, const char* format, std::optional<std::int64_t> declared = {}) {
    files_.push_back({path, rank_in_path(path)});
    ranks_.push_back({.file = path,
                      .source = static_cast<std::uint32_t>(files_.size() - 1),
                      .format = format,
                      .declared_rank = declared,
                      .events = 1});
  }
  void add_host(const char* path, std::int64_t gpus) {
    for (std::int64_t gpu = 0; gpu < gpus; ++gpu) {
      if (gpu == 0)
        add(path, "xplane");
      else
        ranks_.push_back(ranks_.back());
      ranks_.back().gpu = gpu;
    }
  }
  std::vector<std::int64_t> assign(const RankAssignment& options = {}) {
    assign_ranks(ranks_, files_, options, warnings_);
    std::vector<std::int64_t> numbers;
    for (const RankTrace& rank : ranks_) numbers.push_back(rank.rank);
    return numbers;
  }

  std::vector<RankFile> files_;
  std::vector<RankTrace> ranks_;
  std::vector<std::string> warnings_;
};

TEST_F(AssignRanks, AFileOfAnotherFormatIsNoRank) {
  add("rank0.json", "kineto", 0);
  add("rank1.json", "kineto", 1);
  add("rank2.xplane.pb", "xplane");
  EXPECT_THAT(assign(), ElementsAre(0, 1));
  EXPECT_THAT(
      warnings_,
      ElementsAre(
          "rank2.xplane.pb: its format is xplane, that of the other ranks kineto; left out"));
}

TEST_F(AssignRanks, OfAsManyFilesTheFormatThatTellsRanksIsTheJobs) {
  add("host.xplane.pb", "xplane");
  add("rank0.json", "kineto");
  EXPECT_THAT(assign(), ElementsAre(0));
  EXPECT_EQ(ranks_[0].file, "rank0.json");
}

TEST_F(AssignRanks, AFileWithoutARankAmongFilesWithOneIsLeftOut) {
  add("rank0.json", "kineto");
  add("rank1.json", "kineto");
  add("summary.json", "kineto");
  EXPECT_THAT(assign(), ElementsAre(0, 1));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("summary.json: neither the trace nor its name")));
}

TEST_F(AssignRanks, WhereNoFileTellsItsRankThePositionIsTheRank) {
  add("a.json", "kineto");
  add("b.json", "kineto");
  EXPECT_THAT(assign(), ElementsAre(0, 1));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("taken as 0"), HasSubstr("taken as 1")));
}

TEST_F(AssignRanks, ByPositionNothingHasToTellARank) {
  add("rank0.json", "kineto");
  add("b.json", "kineto");
  EXPECT_THAT(assign({.by_position = true}), ElementsAre(0, 1));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(AssignRanks, TheGpusOfHostsAreNumberedInTheOrderOfTheNumbersInTheirNames) {
  add_host("host10.xplane.pb", 2);
  add_host("host9.xplane.pb", 2);
  EXPECT_THAT(assign(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(ranks_[0].file, "host9.xplane.pb");
  EXPECT_EQ(ranks_[3].file, "host10.xplane.pb");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("host9.xplane.pb has rank 0")));
}

TEST_F(AssignRanks, AHostWhoseNameTellsItsNumberKeepsItsPlaceWhenOthersAreMissing) {
  add_host("rank0.xplane.pb", 2);
  add_host("rank2.xplane.pb", 2);
  EXPECT_THAT(assign(), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(warnings_, ElementsAre("2 of 6 ranks are missing: 2, 3"));
}

TEST_F(AssignRanks, ANameThatContradictsItsTraceIsTold) {
  add("rank0.json", "kineto", 1);
  add("rank1.json", "kineto", 0);
  EXPECT_THAT(assign(), ElementsAre(0, 1));
  EXPECT_THAT(warnings_, ElementsAre("rank1.json: its name says rank 1, the trace rank 0, which "
                                     "counts; so it is with 1 more files"));
}

TEST_F(AssignRanks, AFolderThatLooksLikeARankContradictsNothing) {
  add("lowrank4/a.json", "kineto", 0);
  add("lowrank4/b.json", "kineto", 1);
  EXPECT_THAT(assign(), ElementsAre(0, 1));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(AssignRanks, RanksThatDisagreeOnTheWorldSizeAreTold) {
  for (const char* const name : {"rank0.json", "rank1.json", "rank2.json"}) add(name, "kineto");
  for (RankTrace& rank : ranks_) rank.world_size = 3;
  ranks_[2].world_size = 2;
  EXPECT_THAT(assign(), ElementsAre(0, 1, 2));
  EXPECT_THAT(warnings_,
              ElementsAre("ranks disagree on the world size, and may be of different jobs: 2 on "
                          "rank 2; 3 on rank 0, 1",
                          "rank 2 is not below the world size that its trace tells"));
}

TEST_F(AssignRanks, AWorldSizeThatIsNotTheTracesIsTold) {
  add("rank0.json", "kineto");
  ranks_[0].world_size = 1;
  EXPECT_THAT(assign({.world_size = 2}), ElementsAre(0));
  EXPECT_THAT(warnings_, ElementsAre("the world size is given as 2, but the traces say 1",
                                     "1 of 2 ranks are missing: 1"));
}

TEST_F(AssignRanks, ByPositionTheGpusOfAHostStayApart) {
  add_host("a.xplane.pb", 2);
  EXPECT_THAT(assign({.by_position = true}), ElementsAre(0, 1));
}

}  // namespace
}  // namespace tracelens
