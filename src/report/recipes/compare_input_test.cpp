#include "report/recipes/compare_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/sinks.hpp>

#include "io/temporary_folder.hpp"
#include "report/sinks/testing.hpp"

namespace tracelens {
namespace {

using ::testing::ElementsAre;

TEST(DefaultTag, IsTheFileNameWithoutFolderAndSuffixes) {
  EXPECT_EQ(default_tag("runs/base.json.gz"), "base");
  EXPECT_EQ(default_tag("runs/base.xplane.pb.gz"), "base");
  EXPECT_EQ(default_tag("runs/base.v2.xlsx"), "base.v2");
  EXPECT_EQ(default_tag("runs/base/"), "base");
}

TEST(DistinctTags, FileNamesThatDifferAreTheTags) {
  EXPECT_THAT(distinct_tags({"a/base.json", "b/new.json"}), ElementsAre("base", "new"));
}

TEST(DistinctTags, EqualFileNamesAreToldApartByTheInnermostFoldersThatDiffer) {
  EXPECT_THAT(distinct_tags({"base/t.json.gz", "new/t.json.gz"}), ElementsAre("base", "new"));
  EXPECT_THAT(distinct_tags({"r/1/out/t.json", "r/2/out/t.json"}), ElementsAre("1", "2"));
  EXPECT_THAT(distinct_tags({"a/x.json", "b/x.json", "b/y.json"}),
              ElementsAre("a_x", "b_x", "b_y"));
}

TEST(DistinctTags, OneFileTwiceIsNumbered) {
  EXPECT_THAT(distinct_tags({"a/t.json", "a/t.json"}), ElementsAre("t_1", "t_2"));
  EXPECT_THAT(distinct_tags({"base/", "base.xlsx"}), ElementsAre("base_1", "base_2"));
}

TEST(ReadCompared, TheCoverOfAWorkbookIsNoTable) {
  const io::TemporaryFolder folder;
  const Overview overview = testing::some_overview();
  write_tables(std::vector{testing::one_column("gpu_timeline")}, folder.path("r.xlsx"),
               {.overview = &overview});
  // Gates look at all sheets.
  const ComparedReport report =
      read_compared(folder.path("r.xlsx"), "r", {.gates = {"total_time > 5%"}}).report;
  ASSERT_EQ(report.tables.size(), 1u);
  EXPECT_EQ(report.tables.front().name(), "gpu_timeline");
}

}  // namespace
}  // namespace tracelens
