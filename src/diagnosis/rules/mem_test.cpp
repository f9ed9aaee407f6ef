#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kMem1, kMem2, kMem4;

namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kGib = std::int64_t{1} << 30;

// A step in which an op hands out a block, which is taken back before the step ends.
Trace run_with_memory(std::int64_t block, std::int64_t reserved, std::int64_t before = kGib,
                      const std::vector<std::string_view>& ops = {"aten::bmm"}) {
  TestTrace t;
  std::int64_t total = before;
  std::int32_t next = 0;
  const auto change = [&](std::int64_t bytes, double ts) {
    total += bytes;
    const EventId event = t.builder().append({.phase = Phase::kInstant,
                                              .category = Category::kCpuInstant,
                                              .name = t.builder().intern("[memory]"),
                                              .track = t.builder().intern(Track{100, 1}),
                                              .ts_ns = static_cast<std::int64_t>(ts * 1000)});
    t.builder().set_memory_change(event, {.address = 1,
                                          .bytes = bytes,
                                          .allocated = total,
                                          .reserved = reserved,
                                          .order = next++,
                                          .device_type = 1,
                                          .device = 0});
  };
  t.builder().add_metadata("deviceProperties",
                           Value::list({Value::dict({"id", "totalGlobalMem"}, {0, 80 * kGib})}));
  for (std::size_t i = 0; i < ops.size(); ++i)  // each inside the one before
    t.op(ops[i], 0.1 * static_cast<double>(i), 10 - 0.2 * static_cast<double>(i));
  change(block, 1);
  const double end = add_ops(t, 10, 30, 5);
  change(-block, end + 1);
  add_step(t, 0, 0, end + 10);
  return t.finish();
}

TEST(Mem1, NearlyAllOfTheMemoryIsHeld) {
  TestRun run{run_with_memory(2 * kGib, 75 * kGib)};
  const auto draft = run.find(kMem1);
  ASSERT_TRUE(draft);
  EXPECT_THAT(draft->verdict, HasSubstr("93.8%"));
  TestRun less{run_with_memory(2 * kGib, 60 * kGib)};
  EXPECT_FALSE(less.find(kMem1));
}

TEST(Mem2, MuchMoreIsHeldThanUsed) {
  TestRun run{run_with_memory(2 * kGib, 6 * kGib)};
  EXPECT_TRUE(run.find(kMem2));
  TestRun less{run_with_memory(2 * kGib, 3 * kGib + kGib / 2)};
  EXPECT_FALSE(less.find(kMem2));
}

TEST(Mem4, OneOpMakesThePeak) {
  TestRun run{run_with_memory(2 * kGib, 4 * kGib)};
  const auto draft = run.find(kMem4);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->where.front().name, "aten::bmm");
  EXPECT_EQ(kMem4.title, "One op dominates the peak");  // its blocks are added up
  EXPECT_THAT(draft->tries.front(), HasSubstr("scaled_dot_product_attention"));
  TestRun less{run_with_memory(2 * kGib, 40 * kGib, 30 * kGib)};
  EXPECT_FALSE(less.find(kMem4));
}

TEST(Mem4, NamesTheOutermostOpAndAdvisesWhatHelpsIt) {
  TestRun run{run_with_memory(2 * kGib, 4 * kGib, kGib,
                              {"aten::batch_norm", "aten::native_batch_norm", "aten::empty"})};
  const auto draft = run.find(kMem4);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->where.front().name, "aten::batch_norm");
  EXPECT_THAT(draft->verdict, HasSubstr("handed out by aten::batch_norm"));
  for (const std::string& one : draft->tries)
    EXPECT_THAT(one, testing::Not(HasSubstr("scaled_dot_product_attention")));
  EXPECT_THAT(draft->tries.back(), HasSubstr("a smaller batch"));
}

TEST(Mem4, ACompiledFunctionIsNoOpToChange) {
  TestRun run{run_with_memory(2 * kGib, 4 * kGib, kGib,
                              {"Torch-Compiled Region: 0/0", "CompiledFunction"})};
  EXPECT_FALSE(run.find(kMem4));
}

}  // namespace
}  // namespace tracelens
