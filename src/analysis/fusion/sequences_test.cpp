#include "analysis/fusion/sequences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

// Two modules of one class with two kernels each, and an op inside an op of its name.
class KernelSequences : public testing::Test {
 protected:
  KernelSequences() {
    for (int i = 0; i < 2; ++i) {
      const double at = 100 * i;
      t_.python(i == 0 ? "nn.Module: Mlp_0" : "nn.Module: Mlp_1", at, 50);
      t_.op("aten::linear", at + 10, 30);
      t_.op("aten::linear", at + 12, 20);
      t_.launch("cudaLaunchKernel", at + 15, 1, {.name = "gemm", .ts = at + 1000, .dur = 20});
      t_.launch("cudaLaunchKernel", at + 20, 1, {.name = "bias", .ts = at + 1025, .dur = 5});
    }
  }
  TestTrace t_;
};

TEST_F(KernelSequences, UnitsOfOneNameAndTheSameKernelsAreOneRow) {
  const Trace trace = t_.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  OpInput ops{facts, {.edition = Edition::kExtended}};
  const HostRanges ranges{trace};
  const OpPlaces places{trace, facts.tree(), ranges};
  const FusionInput input{facts, ops, places};
  const Table table = kernel_sequences(input);
  EXPECT_THAT(column(table, "unit"), ElementsAre("aten::linear", "nn.Module: Mlp"));
  EXPECT_THAT(column(table, "sequence"), ElementsAre("gemm|bias", "gemm|bias"));
  EXPECT_THAT(column(table, "count"), ElementsAre("2", "2"));  // the outer aten::linear
  EXPECT_THAT(column(table, "gpu_ms"), ElementsAre("0.05", "0.05"));
  EXPECT_THAT(column(table, "gap_ms"), ElementsAre("0.01", "0.01"));
  EXPECT_THAT(column(table, "host_ms"), ElementsAre("0.06", "0.1"));
  EXPECT_THAT(column(table, "short_kernels"), ElementsAre("2", "2"));
  EXPECT_EQ(kernel_sequences(input, {.of = "Mlp"}).rows(), 1u);
  EXPECT_EQ(kernel_sequences(input, {.fewest = 3}).rows(), 0u);
}

// A clock may begin anywhere.
TEST(KernelSequencesBeforeZero, HaveTheSameGaps) {
  TestTrace t;
  t.op("aten::linear", -990, 30);
  t.launch("cudaLaunchKernel", -985, 1, {.name = "gemm", .ts = -900, .dur = 20});
  t.launch("cudaLaunchKernel", -980, 1, {.name = "bias", .ts = -875, .dur = 5});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput ops{facts, {.edition = Edition::kExtended}};
  const HostRanges ranges{trace};
  const OpPlaces places{trace, facts.tree(), ranges};
  const FusionInput input{facts, ops, places};
  EXPECT_THAT(column(kernel_sequences(input), "gap_ms"), ElementsAre("0.005"));
}

TEST_F(KernelSequences, AsHtaEachInstanceOfAModuleIsApart) {
  const Trace trace = t_.finish();
  const TraceFacts facts{trace, {.python_frames = true}};
  EXPECT_THAT(column(hta_kernel_sequences(facts, {.of = "nn.Module: Mlp"}), "pattern"),
              ElementsAre("nn.Module: Mlp_0|gemm|bias", "nn.Module: Mlp_1|gemm|bias"));
  const Table linear = hta_kernel_sequences(facts, {.of = "aten::linear"});
  EXPECT_THAT(column(linear, "count"), ElementsAre("2"));
  EXPECT_THAT(column(linear, "GPU kernel duration (us)"), ElementsAre("50.0"));
}

}  // namespace
}  // namespace tracelens
