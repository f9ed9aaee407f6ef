#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/diff/ops.hpp"
#include "analysis/diff/test_pair.hpp"

namespace tracelens {
namespace {

// Ops below a call "layer" each, one kernel each.
struct Op {
  const char* name;
  double us;
};
Trace layers(const std::vector<std::vector<Op>>& all) {
  TestTrace t;
  double at = 0;
  for (const std::vector<Op>& ops : all) {
    t.op("layer", at, 100);
    for (const Op& op : ops) {
      t.op(op.name, ++at, 3);
      t.launch("cudaLaunchKernel", at + 1, 1, {.name = op.name, .ts = at + 1e4, .dur = op.us});
      at += 5;
    }
    at += 100;
  }
  return t.finish();
}

std::vector<ChangePart> parts(const std::vector<std::vector<Op>>& before,
                              const std::vector<std::vector<Op>>& after) {
  const DiffPair pair{layers(before), layers(after), Edition::kExtended};
  std::vector<ChangePart> found = change_parts(pair.input());
  std::int64_t sum[] = {0, 0};
  for (const ChangePart& part : found)
    for (const std::size_t side : {0U, 1U}) sum[side] += part.ns[side];
  for (const std::size_t side : {0U, 1U}) {  // whatever is a part, none of the time is lost
    double us = 0;
    for (const auto& ops : side == 0 ? before : after)
      for (const Op& op : ops) us += op.us;
    EXPECT_EQ(sum[side], std::llround(us * 1e3));
  }
  return found;
}
const ChangePart* find(const std::vector<ChangePart>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &ChangePart::name);
  return found == all.end() ? nullptr : &*found;
}

TEST(ChangeParts, WhatWasReplacedIsOnePartAndNoOpOfItsOwn) {
  const auto all =
      parts({{{"mm", 10}, {"mul", 4}, {"add", 2}}, {{"mm", 10}, {"mul", 4}, {"add", 2}}},
            {{{"mm", 12}, {"addcmul", 4}}, {{"mm", 12}, {"addcmul", 4}}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].removed, "mul + add");
  EXPECT_EQ(all[0].added, "addcmul");
  EXPECT_EQ(all[0].count, 2);
  EXPECT_EQ(all[0].ns[0], 12'000);
  EXPECT_EQ(all[0].ns[1], 8'000);
  ASSERT_TRUE(find(all, "mm"));
  EXPECT_EQ(find(all, "mm")->ns[1], 24'000);
}

TEST(ChangeParts, FormsOfOneExchangeAreOne) {
  const auto all = parts({{{"mm", 1}, {"softmax", 9}, {"where", 1}}, {{"mm", 1}, {"softmax", 9}}},
                         {{{"mm", 1}, {"flash", 3}}, {{"mm", 1}, {"flash", 3}}});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].removed, "softmax + where");
  EXPECT_EQ(all[0].count, 2);
  EXPECT_EQ(all[0].ns[0], 19'000);
}

TEST(ChangeParts, WorkThatBothHaveElsewhereWasNotExchanged) {
  // The second layer of the second run holds the product that the first one of the first run has.
  const auto all = parts({{{"mm", 10}, {"gelu", 1}}, {{"relu", 1}, {"sum", 1}}},
                         {{{"gelu", 1}}, {{"mm", 10}, {"sum", 1}}});
  ASSERT_TRUE(find(all, "mm"));
  EXPECT_EQ(find(all, "mm")->ns[0], 10'000);
  EXPECT_EQ(find(all, "mm")->ns[1], 10'000);
}

TEST(ChangeParts, WhatIsGoneElsewhereTooBelongsToTheExchange) {
  const auto all = parts({{{"mm", 1}, {"norm", 5}}, {{"mm", 1}, {"norm", 5}}},
                         {{{"mm", 1}, {"foreach_norm", 1}}, {{"mm", 1}}});
  EXPECT_FALSE(find(all, "norm"));
  EXPECT_EQ(all[0].ns[0], 10'000);
  EXPECT_EQ(all[0].ns[1], 1'000);
}

TEST(ChangeParts, AnOpThatOnlyWentIsNoExchange) {
  const auto all = parts({{{"mm", 1}, {"copy", 5}}}, {{{"mm", 1}}});
  ASSERT_EQ(all.size(), 2U);
  ASSERT_TRUE(find(all, "copy"));
  EXPECT_EQ(find(all, "copy")->kernels[1], 0);
}

}  // namespace
}  // namespace tracelens
