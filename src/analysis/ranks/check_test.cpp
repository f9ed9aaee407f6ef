#include "analysis/ranks/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"
#include "analysis/ranks/test_ranks.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TestKernel at(double ts, const char* members = "[0, 1]", std::int64_t size = 2) {
  return {.ts = ts, .dur = 5, .members = members, .group_size = size};
}

TEST(MissingKernels, AreToldByGroupAndRank) {
  const CollectiveRun run = test_run({{at(0), at(10), at(20)}, {at(0)}});
  EXPECT_THAT(missing_kernels(run),
              ElementsAre("process group 0: of 3 collectives rank 1 lacks 2"));
  EXPECT_THAT(column(process_groups(run), "incomplete"), ElementsAre("2"));
}

TEST(MissingKernels, ARankThatWasReadAndHasNoneLacksAll) {
  EXPECT_THAT(missing_kernels(test_run({{at(0), at(10)}, {}})),
              ElementsAre("process group 0: of 2 collectives rank 1 lacks 2"));
}

TEST(MissingKernels, WholeRunsHaveNone) {
  EXPECT_THAT(missing_kernels(test_run({{at(0), at(10)}, {at(0), at(10)}})), IsEmpty());
}

// The words are those of the Python TraceLens, which ends the run here.
TEST(MetadataMismatches, NameTheFieldTheCollectiveAndTheRanks) {
  TestKernel other = at(0);
  other.elements = 2048;
  EXPECT_THAT(
      metadata_mismatches(test_run({{at(0)}, {other}})),
      ElementsAre("Metadata mismatch in 'In msg nelems' for collective 0_0: 1024 on rank 0, "
                  "2048 on rank 1"));
}

TEST(LongWaits, AreToldWithFigures) {
  const auto waits = [](const CollectiveRun& run) {
    return long_waits(run, sync_collectives(run));
  };
  EXPECT_THAT(waits(test_run({{at(0), at(40)}, {at(30), at(70)}})), IsEmpty());
  EXPECT_THAT(
      waits(test_run({{at(0), at(40)}, {at(5e6), at(6e6)}})),
      ElementsAre("in 2 collectives a rank seems to wait longer than its trace lasts (1.000 s); in "
                  "0_1 rank 0 waits 6.000 s for rank 1: clocks are apart, or these kernels are not "
                  "one collective"));
}

TEST(UnlinkedKernels, AreCountedInOneSentence) {
  std::vector<RankTrace> ranks = test_ranks({{at(0)}, {at(0)}, {}});
  EXPECT_THAT(unlinked_kernels(CollectiveRun{ranks, {}}), IsEmpty());
  ranks[0].unlinked_kernels = 2;
  ranks[2].unlinked_kernels = 3;
  EXPECT_THAT(unlinked_kernels(CollectiveRun{ranks, {}}),
              ElementsAre("communication kernels without correlation and external id are left "
                          "out: 5 on 2 ranks"));
}

TEST(ProcessGroups, CollectivesAreIncompleteWhenTheTraceOfAMemberIsMissing) {
  const CollectiveRun run = test_run({{at(0, "[0, 1, 2]", 3)}, {at(0, "[0, 1, 2]", 3)}});
  const Table table = process_groups(run);
  EXPECT_THAT(column(table, "ranks seen"), ElementsAre("2"));
  EXPECT_THAT(column(table, "incomplete"), ElementsAre("1"));
  EXPECT_THAT(missing_kernels(run), IsEmpty());  // the missing rank itself is told elsewhere
}

}  // namespace
}  // namespace tracelens
