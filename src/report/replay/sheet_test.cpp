#include <gtest/gtest.h>

#include <tracelens/error.hpp>
#include <tracelens/json.hpp>
#include <tracelens/replay.hpp>

#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

class ReplaySheet : public ::testing::Test {
 protected:
  [[nodiscard]] std::string written(std::string_view text) const {
    return folder_.write("sheet.csv", text);
  }

 private:
  io::TemporaryFolder folder_;
};

constexpr std::string_view kHeader =
    "name,Input Dims,Input type,Input Strides,Concrete Inputs,operation_count,"
    "total_subtree_kernel_time_sum,ex_UID\n";

TEST_F(ReplaySheet, RowsOfATableAreRecordsCostliestFirst) {
  const std::string path = written(
      std::string{kHeader} +
      "aten::relu,\"((4, 8),)\",\"('float',)\",\"((8, 1),)\",\"('',)\",3,6.5,7\n"
      "aten::cat,\"(((4, 1), (4, 2)), ())\",\"('TensorList', 'Scalar')\",\"()\",\"('', '1')\",2,80,9\n"
      "annotation,,,,,1,900,0\n");
  ASSERT_TRUE(is_replay_sheet(path));
  const Replay replay = choose_replay_from_sheet(path, {.all_unique = true});
  ASSERT_EQ(replay.records.size(), 2u);  // what has no arguments is no op
  const ReplayRecord& cat = replay.records[0];
  EXPECT_EQ(cat.call.op, "aten::cat");
  EXPECT_EQ(json_text(cat.call.dims), "[[[4, 1], [4, 2]], []]");
  EXPECT_EQ(json_text(cat.call.types), R"(["TensorList", "Scalar"])");
  EXPECT_EQ(json_text(cat.call.concrete), R"(["", "1"])");
  EXPECT_EQ(cat.count, 2u);
  EXPECT_EQ(cat.kernel_ns, 80'000);
  EXPECT_EQ(cat.uid, 9u);
  EXPECT_EQ(choose_replay_from_sheet(path, {.top = 1}).records.size(), 1u);
  EXPECT_EQ(choose_replay_from_sheet(path, {.names = {"aten::relu"}}).records[0].count, 3u);
  EXPECT_THROW((void)choose_replay_from_sheet(path, {.names = {"none"}}), Error);
  EXPECT_THROW((void)choose_replay_from_sheet(path, {.subtree = 1}), Error);
}

TEST_F(ReplaySheet, RowsOfEqualArgumentsAreOneRecord) {
  const std::string relu = "aten::relu,\"((4, 8),)\",\"('float',)\",\"((8, 1),)\",\"('',)\",3,6.5,";
  const std::string path = written(std::string{kHeader} + relu + "7\n" + relu + "8\n");
  const Replay replay = choose_replay_from_sheet(path, {.all_unique = true});
  ASSERT_EQ(replay.records.size(), 1u);
  EXPECT_EQ(replay.records[0].count, 6u);
  EXPECT_EQ(replay.records[0].kernel_ns, 13'000);
  EXPECT_EQ(replay.records[0].uid, 7u);
}

TEST_F(ReplaySheet, OtherFilesAreNone) {
  EXPECT_FALSE(is_replay_sheet(written("Kernel_Name,Start\nk,1\n")));
  EXPECT_FALSE(is_replay_sheet("no such file.csv"));
  EXPECT_FALSE(is_replay_sheet("trace.json.gz"));
}

TEST_F(ReplaySheet, CellsThatAreNoListsAreEmptyOnes) {
  const std::string path =
      written(std::string{kHeader} + "a,((((,\"('float',)\",')',\"(\"\"\",-1,-5,-3\n");
  const Replay replay = choose_replay_from_sheet(path, {.all_unique = true});
  ASSERT_EQ(replay.records.size(), 1u);
  EXPECT_EQ(json_text(replay.records[0].call.dims), "[]");
  EXPECT_EQ(replay.records[0].count, 1u);
  EXPECT_EQ(replay.records[0].kernel_ns, 0);
}

}  // namespace
}  // namespace tracelens
