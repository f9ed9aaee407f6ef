#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/rows.hpp>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

TEST(ModuleRows, GiveTheTimeOfEachAndWhatIsInNoneBelow) {
  TestTrace t;
  const EventId net = t.python("nn.Module: Net_0", 0, 100);
  const auto launch = [&](double ts, double gpu_ts, double dur, int stream = 7) {
    t.launch("cudaLaunchKernel", ts, 1, {.name = "k", .ts = gpu_ts, .dur = dur, .stream = stream});
  };
  launch(1, 200, 5);  // of the net itself
  const EventId first = t.python("nn.Module: Linear_0", 10, 20);
  launch(12, 210, 10);
  launch(14, 215, 10, 9);       // runs beside the other: 15 in all
  t.python("forward", 35, 40);  // a frame between a module and the next below
  const EventId second = t.python("nn.Module: Linear_1", 40, 20);
  launch(42, 230, 7);
  launch(80, 240, 1);  // of the net again
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace, {.python_frames = true});
  OpRows rows{trace, tree, {.edition = Edition::kReference}};
  const Table table = rows.modules(net);
  const auto uid = [](EventId event) { return std::to_string(event.row); };
  EXPECT_THAT(column(table, "UID"), ElementsAre(uid(net), uid(first), uid(second)));
  EXPECT_THAT(column(table, "parent"), ElementsAre("", uid(net), uid(net)));
  EXPECT_EQ(cell(table, "nn_module_children", 0), "[" + uid(first) + ", " + uid(second) + "]");
  EXPECT_THAT(column(table, "GPU Time"), ElementsAre("28.0", "15.0", "7.0"));
  EXPECT_THAT(column(table, "nn Parent GPU Time"), ElementsAre("", "28.0", "28.0"));
  EXPECT_THAT(column(table, "Non-nn.Module GPU Time"), ElementsAre("6.0", "", ""));
  EXPECT_THAT(module_children(tree, net), ElementsAre(first, second));
  EXPECT_EQ(rows.busy_ns(first), 15000);
  EXPECT_EQ(rows.modules(second).rows(), 1u);
}

TEST(ModuleRows, AreNoneOfWhatIsNoModuleOfTheTree) {
  TestTrace t;
  const EventId net = t.python("nn.Module: Net_0", 0, 100);
  const EventId op = t.op("aten::mm", 1, 10);
  const Trace trace = t.finish();
  const Tree with = build_tree(trace, {.python_frames = true}), without = build_tree(trace);
  EXPECT_EQ((OpRows{trace, without}.modules(net).rows()), 0u);
  EXPECT_EQ((OpRows{trace, with}.modules(op).rows()), 0u);
  EXPECT_EQ((OpRows{trace, with}.modules(net).rows()), 1u);
  EXPECT_TRUE(module_children(without, net).empty());
}

}  // namespace
}  // namespace tracelens
