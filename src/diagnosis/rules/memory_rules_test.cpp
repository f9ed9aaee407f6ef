// MEM-1, MEM-2, MEM-4: what the allocator says of itself.
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kMem1, kMem2, kMem4;

namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

// A step of 30 ops, the first of which takes so much memory and gives it back at the end.
Trace run_with_memory(std::int64_t bytes, std::int64_t reserved) {
  TestTrace t;
  const auto change = [&](std::int64_t delta, std::int64_t allocated, double ts, int order) {
    const EventId event =
        t.builder().append({.phase = Phase::kInstant,
                            .category = Category::kCpuInstant,
                            .name = t.builder().intern("[memory]"),
                            .track = t.builder().intern(Track{TestTrace::kHostPid, 1}),
                            .ts_ns = static_cast<std::int64_t>(ts * 1000)});
    t.builder().set_memory_change(event, {.address = 1,
                                          .bytes = delta,
                                          .allocated = allocated,
                                          .reserved = reserved,
                                          .order = order,
                                          .device_type = 1,
                                          .device = 0});
  };
  const double end = add_ops(t, 0, 30, 2);
  change(bytes, kGib + bytes, 5, 0);
  change(-bytes, kGib, end - 5, 1);
  add_step(t, 0, 0, end + 10);
  return t.finish();
}

TEST(Mem2, MemoryThatIsHeldAndNotInUse) {
  TestRun run{run_with_memory(3 * kGib, 8 * kGib)};
  const auto draft = run.find(kMem2);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->evidence.back().value, 50);  // 4 of 8 GiB
  EXPECT_EQ(run.saving_percent(*draft), 0);
  TestRun tight{run_with_memory(3 * kGib, 4 * kGib + kGib / 2)};
  EXPECT_FALSE(tight.find(kMem2));
}

TEST(Mem4, OneOpOwnsThePeak) {
  TestRun run{run_with_memory(3 * kGib, 8 * kGib)};
  const auto draft = run.find(kMem4);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->where.front().name, "aten::mul");
  EXPECT_EQ(draft->evidence.front().value, 75);
  TestRun small{run_with_memory(kGib / 4, 8 * kGib)};
  EXPECT_FALSE(small.find(kMem4));
}

TEST(Mem1, NothingWhereTheSizeOfTheGpuIsNotKnown) {
  TestRun run{run_with_memory(3 * kGib, 8 * kGib)};
  EXPECT_FALSE(run.find(kMem1));
}

}  // namespace
}  // namespace tracelens
