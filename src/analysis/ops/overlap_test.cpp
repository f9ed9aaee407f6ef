#include "analysis/ops/overlap.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/ops/input.hpp"
#include "analysis/ops/unified.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// Kernels that all run at the same time, dealt out to the streams.
Trace crowd(int kernels, int streams) {
  TestTrace t;
  for (int i = 0; i < kernels; ++i) {
    t.op("aten::add", 10 * i, 9);
    t.launch("cudaLaunchKernel", 10 * i + 1, 1,
             {.name = "add", .ts = 100'000, .dur = 50, .stream = i % streams});
  }
  return t.finish();
}

std::size_t compared(int kernels, int streams) {
  const Trace trace = crowd(kernels, streams);
  const TraceFacts facts{trace};
  const OpInput input{facts, {.overlap = true}};
  return input.overlaps->compared();
}

TEST(Overlaps, KernelsOfOneStreamAreNotHeldAgainstEachOther) { EXPECT_EQ(compared(2000, 1), 0u); }

TEST(Overlaps, TwiceTheKernelsAtOnceCostTwiceTheWork) {
  const std::size_t once = compared(1000, 250), twice = compared(2000, 500);
  EXPECT_GT(once, 0u);
  EXPECT_LE(twice, 2 * once + 2 * Overlaps::kMostAtOnce * Overlaps::kMostAtOnce);
}

TEST(Overlaps, StreamsThatHaveEndedCostNothing) {
  TestTrace t;
  for (int i = 0; i < 1000; ++i) {
    t.op("aten::add", 10 * i, 9);
    t.launch("cudaLaunchKernel", 10 * i + 1, 1,
             {.name = "add", .ts = 10.0 * i + 3, .dur = 5, .stream = i});
  }
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const OpInput input{facts, {.overlap = true}};
  EXPECT_LE(input.overlaps->compared(), 1000u);  // each is met once more, and gone
}

TEST(Overlaps, ACrowdIsCountedUpToTheLimitAndSaid) {
  const Trace trace = crowd(200, 100);
  const TraceFacts facts{trace};
  OpInput input{facts, {.overlap = true}};
  EXPECT_EQ(input.overlaps->crowded(), 200u - Overlaps::kMostAtOnce);
  ASSERT_EQ(input.warnings().size(), 1u);
  EXPECT_NE(input.warnings()[0].find("64 others"), std::string::npos) << input.warnings()[0];
}

TEST(Overlaps, AFewAtOnceAreAllCountedInTheOrderOfTheirStarts) {
  TestTrace t;
  const char* const names[] = {"long", "one", "two", "one"};
  for (int i = 0; i < 4; ++i) {
    t.op(names[i], 10 * i, 9);
    t.launch("cudaLaunchKernel", 10 * i + 1, 1,
             {.name = names[i],
              .ts = i == 0 ? 100.0 : 110.0 + 20 * i,
              .dur = i == 0 ? 100.0 : 10.0,
              .stream = i});
  }
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {.overlap = true}};
  const Launcher& op = *std::ranges::find_if(input.launches.launchers(), [&](const Launcher& each) {
    return trace.name(each.event) == "long";
  });
  const OverlapFields fields = input.overlaps->of(input.launches.own(op));
  ASSERT_EQ(fields.partners.size(), 2u);
  EXPECT_EQ(trace.text(fields.partners[0].name), "one");
  EXPECT_EQ(fields.partners[0].stream, 1);
  EXPECT_EQ(fields.partners[0].dur_ns, 10'000);
  EXPECT_EQ(trace.text(fields.partners[1].name), "two");
  EXPECT_DOUBLE_EQ(*fields.share, 0.3);
  EXPECT_TRUE(input.warnings().empty());
}

}  // namespace
}  // namespace tracelens
