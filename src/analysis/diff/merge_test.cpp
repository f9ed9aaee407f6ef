#include "analysis/diff/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/diff/ops.hpp"
#include "analysis/diff/stats.hpp"
#include "analysis/diff/summary.hpp"
#include "analysis/diff/test_pair.hpp"
#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A convolution, an addition and a ReLU by HIP, and the same by CUDA with a sum more.
Trace hip_model() {
  TestTrace t;
  t.op("aten::conv2d", 0, 100);
  t.op("aten::_convolution", 2, 96);
  t.op("aten::miopen_convolution", 4, 60);
  t.op("aten::add_", 70, 20);
  t.op("aten::relu", 200, 20);
  t.launch("hipModuleLaunchKernel", 10, 2, {.name = "igemm", .ts = 300, .dur = 50});
  t.launch("hipModuleLaunchKernel", 20, 2, {.name = "transpose", .ts = 360, .dur = 30});
  t.launch("hipLaunchKernel", 75, 2, {.name = "add_k", .ts = 400, .dur = 5});
  t.launch("hipLaunchKernel", 205, 2, {.name = "relu_k", .ts = 500, .dur = 7});
  return t.finish();
}
Trace cuda_model() {
  TestTrace t;
  t.op("aten::conv2d", 0, 100);
  t.op("aten::_convolution", 2, 96);
  t.op("aten::cudnn_convolution", 4, 60);
  t.op("aten::add_", 70, 20);
  t.op("aten::relu", 200, 20);
  t.op("aten::sum", 300, 20);
  t.launch("cuLaunchKernel", 10, 2, {.name = "cutlass_fprop", .ts = 300, .dur = 40});
  t.launch("cudaLaunchKernel", 75, 2, {.name = "add_k2", .ts = 400, .dur = 4});
  t.launch("cudaLaunchKernel", 205, 2, {.name = "relu_k2", .ts = 500, .dur = 6});
  t.launch("cudaLaunchKernel", 305, 2, {.name = "sum_k", .ts = 600, .dur = 8});
  return t.finish();
}

TEST(MergedTree, PrintsWhatBothHaveFirstThenEachSide) {
  const DiffPair pair{hip_model(), cuda_model(), Edition::kReference};
  EXPECT_EQ(merged_tree_text(pair.input()),
            "├── aten::conv2d\n"
            "│   └── aten::_convolution\n"
            "│       ├── combined: aten::miopen_convolution | aten::cudnn_convolution\n"
            "│       │   ├── combined: hipModuleLaunchKernel | cuLaunchKernel\n"
            "│       │   │   └── combined: transpose | cutlass_fprop\n"
            "│       │   └── >> trace1: hipModuleLaunchKernel\n"
            "│       │       └── >> trace1: igemm\n"
            "│       └── aten::add_\n"
            "│           ├── >> trace1: hipLaunchKernel\n"
            "│           │   └── >> trace1: add_k\n"
            "│           └── << trace2: cudaLaunchKernel\n"
            "│               └── << trace2: add_k2\n"
            "├── aten::relu\n"
            "│   ├── >> trace1: hipLaunchKernel\n"
            "│   │   └── >> trace1: relu_k\n"
            "│   └── << trace2: cudaLaunchKernel\n"
            "│       └── << trace2: relu_k2\n"
            "└── << trace2: aten::sum\n"
            "    └── << trace2: cudaLaunchKernel\n"
            "        └── << trace2: sum_k\n");
}

TEST(DiffStats, EveryGpuEventBelowADivergenceHasARowWithItsAncestor) {
  const DiffPair pair{hip_model(), cuda_model(), Edition::kReference};
  const Table rows = diff_stats_table(pair.input(), collect_diff_stats(pair.input()));
  EXPECT_THAT(column(rows, "name"), ElementsAre("igemm", "transpose", "cutlass_fprop", "add_k",
                                                "add_k2", "relu_k", "relu_k2", "sum_k"));
  EXPECT_THAT(column(rows, "lowest_common_ancestor_id"),
              ElementsAre("2", "6", "6", "7", "7", "12", "12", ""));
  EXPECT_THAT(column(rows, "busy_time"),
              ElementsAre("50.0", "30.0", "40.0", "5.0", "4.0", "7.0", "6.0", "8.0"));
}

TEST(DiffSummary, OpsOfOneDivergenceOutsideModulesAreUnifiedAsRoot) {
  const DiffPair pair{hip_model(), cuda_model(), Edition::kReference};
  const Table rows = diff_stats_table(pair.input(), collect_diff_stats(pair.input()));
  const DiffSummary summary = summarize_diff(rows);
  EXPECT_THAT(summary.op_map, HasSubstr("\"root\": {\n    \"trace1\": {\n      \"kernels\": [\n"));
  EXPECT_THAT(summary.op_map_trace1, HasSubstr("\"aten::miopen_convolution\": [\n    \"igemm\","));
  const DiffSummary extended = summarize_diff(rows, {.edition = Edition::kExtended});
  EXPECT_EQ(extended.op_map.find("\"root\": {"), std::string::npos);
}

TEST(ImprovedMerge, AnExtraOpAtTheStartShiftsNothing) {
  TestTrace a, b;
  for (TestTrace* t : {&a, &b}) {
    if (t == &b) {
      t->op("aten::zeros", 0, 5);
      t->launch("cudaLaunchKernel", 1, 1, {.name = "fill", .ts = 1000, .dur = 3});
    }
    for (int i = 0; i < 3; ++i) {
      t->op("aten::mm", 10 + 20 * i, 10);
      t->launch("cudaLaunchKernel", 11 + 20 * i, 1,
                {.name = "gemm", .ts = 2000.0 + 20 * i, .dur = 10});
      t->op("aten::relu", 20 + 20 * i, 5);
      t->launch("cudaLaunchKernel", 21 + 20 * i, 1,
                {.name = "relu", .ts = 2010.0 + 20 * i, .dur = 1});
    }
  }
  const DiffPair pair{a.finish(), b.finish(), Edition::kExtended};
  const std::vector<OpChange> changes = op_changes(pair.input(), {}, {});
  ASSERT_EQ(changes.front().name, "aten::zeros");
  EXPECT_EQ(changes.front().verdict, ChangeVerdict::kNew);
  for (std::size_t i = 1; i < changes.size(); ++i) EXPECT_EQ(changes[i].difference_ns(), 0);
}

// One model step after the other: an op with two shapes, and an op that can be replaced.
Trace steps(double slow_us, bool fused) {
  TestTrace t;
  double kernel = 10'000;
  for (int i = 0; i < 24; ++i) {
    const double at = 100.0 * i;
    t.op("model::layer", at, 90);
    t.op("aten::mm", at + 1, 10, matrices(8, 16, i % 2 == 0 ? 32 : 64));
    const double gemm = 10 + (i % 2 == 0 ? slow_us : 0);
    t.launch("cudaLaunchKernel", at + 2, 1, {.name = "gemm", .ts = kernel, .dur = gemm});
    kernel += 50;
    if (fused) {
      t.op("aten::addcmul", at + 20, 10);
      t.launch("cudaLaunchKernel", at + 21, 1, {.name = "fma", .ts = kernel, .dur = 4});
      kernel += 50;
    } else {
      t.op("aten::mul", at + 20, 10);
      t.launch("cudaLaunchKernel", at + 21, 1, {.name = "mul", .ts = kernel, .dur = 3});
      kernel += 50;
      t.op("aten::add", at + 40, 10);
      t.launch("cudaLaunchKernel", at + 41, 1, {.name = "add", .ts = kernel, .dur = 3});
      kernel += 50;
    }
    t.op("aten::relu", at + 60, 10);
    t.launch("cudaLaunchKernel", at + 61, 1, {.name = "relu", .ts = kernel, .dur = 2});
    kernel += 50;
  }
  return t.finish();
}

TEST(OpChanges, ATraceAndItselfDifferNowhere) {
  const DiffPair pair{steps(0, false), steps(0, false), Edition::kExtended};
  const std::vector<OpChange> changes = op_changes(pair.input(), {}, {});
  for (const OpChange& change : changes) {
    EXPECT_EQ(change.difference_ns(), 0) << change.name;
    EXPECT_EQ(change.verdict, ChangeVerdict::kSame) << change.name;
  }
  EXPECT_TRUE(substitutions(pair.input()).empty());
  EXPECT_DOUBLE_EQ(common_share(changes), 1);
  EXPECT_TRUE(collect_diff_stats(pair.input()).is_identical);
}

TEST(OpChanges, ASlowedOpIsFoundWithItsShapeAndExactAmount) {
  const DiffPair pair{steps(0, false), steps(2.5, false), Edition::kExtended};
  const std::vector<OpChange> changes = op_changes(pair.input(), {}, {});
  EXPECT_EQ(changes.front().name, "aten::mm");
  EXPECT_EQ(changes.front().dims, "((8, 16), (16, 32))");
  EXPECT_EQ(changes.front().difference_ns(), 12 * 2'500);
  for (std::size_t i = 1; i < changes.size(); ++i) EXPECT_EQ(changes[i].difference_ns(), 0);
}

TEST(Substitutions, TwoOpsReplacedByOneAreOneSubstitutionCountedEachTime) {
  const DiffPair pair{steps(0, false), steps(0, true), Edition::kExtended};
  const std::vector<Substitution> found = substitutions(pair.input());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].removed, "aten::mul + aten::add");
  EXPECT_EQ(found[0].added, "aten::addcmul");
  EXPECT_EQ(found[0].where, "model::layer");
  EXPECT_EQ(found[0].count, 24);
  EXPECT_EQ(found[0].ns[1] - found[0].ns[0], 24 * (4'000 - 6'000));
}

// One GPU's runs of a JAX module; kernels hang below HLO ops without a launch between.
Trace jax_runs(int runs, const char* conv, const char* kernel) {
  TestTrace t;
  for (int i = 0; i < runs; ++i) {
    const double at = 100.0 * i;
    t.op("jit_f", at, 90);
    t.op(conv, at + 1, 20);
    t.launch("launch", at + 2, 1, {.name = kernel, .ts = 1e4 + at, .dur = 10});
    t.op("copy.2 (jit(f)/transpose, m.py:4)", at + 30, 20);
    t.launch("launch", at + 31, 1, {.name = "copy", .ts = 1e4 + at + 20, .dur = 5});
  }
  t.builder().source().recorder = Recorder::kJax;
  return t.finish();
}

TEST(OpChanges, AnHloOpIsTheSameWhenItsLineMovedOrTheCompilerNumberedItAnew) {
  for (const char* other :
       {"conv.1 (jit(f)/conv, m.py:9)", "conv.7.0 (jit(f)/jit(main)/conv, n.py:3)"}) {
    const DiffPair pair{jax_runs(3, "conv.1 (jit(f)/conv, m.py:3)", "conv_kernel.kd"),
                        jax_runs(1, other, "conv_kernel"), Edition::kExtended};
    const std::vector<OpChange> changes = op_changes(pair.input(), {}, {});
    ASSERT_EQ(changes.size(), 2U) << other;
    for (const OpChange& change : changes) {
      EXPECT_EQ(change.calls[0], 3) << change.name;
      EXPECT_EQ(change.calls[1], 1) << change.name;
    }
    EXPECT_TRUE(substitutions(pair.input()).empty()) << other;
  }
}

TEST(OpChanges, EveryCallCountsWhetherItFoundAPartnerOrNot) {
  const char *const conv = "conv.1 (jit(f)/conv, m.py:3)", *const kernel = "conv_kernel";
  const DiffPair pair{jax_runs(40, conv, kernel), jax_runs(13, conv, kernel), Edition::kExtended};
  for (const OpChange& change : op_changes(pair.input(), {}, {})) {
    EXPECT_EQ(change.calls[0], 40) << change.name;
    EXPECT_EQ(change.calls[1], 13) << change.name;
  }
}

TEST(MergeTrees, TenThousandChildrenOfOneNameAreAlignedInTime) {
  const auto wide = [](int count) {
    TestTrace t;
    t.op("loop", 0, 100.0 * count);
    for (int i = 0; i < count; ++i) {
      t.op("aten::mul", 1 + 10.0 * i, 8);
      t.launch("cudaLaunchKernel", 2 + 10.0 * i, 1,
               {.name = "mul", .ts = 1e6 + 10.0 * i, .dur = 2});
    }
    return t.finish();
  };
  for (const Edition edition : {Edition::kReference, Edition::kExtended}) {
    const DiffPair pair{wide(10'000), wide(10'050), edition};
    EXPECT_EQ(pair.merged().roots().size(), 1U);
    const auto children = pair.merged().children(pair.merged().roots()[0]);
    EXPECT_EQ(std::ranges::count_if(
                  children, [&](std::uint32_t id) { return pair.merged().node(id).is_combined(); }),
              10'000);
  }
}

TEST(MergeTrees, DeepStacksAreNoRecursion) {
  const auto deep = [](int frames) {
    TestTrace t;
    for (int i = 0; i < frames; ++i)
      t.python("f.py(" + std::to_string(i) + "): f", i, 40'000 - 2 * i);
    t.op("aten::mm", 19'000, 10);
    t.launch("cudaLaunchKernel", 19'001, 1, {.name = "gemm", .ts = 50'000, .dur = 2});
    return t.finish();
  };
  const DiffPair pair{deep(10'000), deep(9'000), Edition::kReference, true};
  const std::string text = merged_tree_text(pair.input());
  EXPECT_THAT(text, HasSubstr("aten::mm"));
  EXPECT_LT(text.size(), 50'000'000u);  // lines are indented so far and no further
}

TEST(MergeTrees, TracesWithoutGpuWorkGiveEmptyTables) {
  for (const Edition edition : {Edition::kReference, Edition::kExtended}) {
    TestTrace a, b;
    a.op("aten::add", 0, 5);
    b.op("aten::add", 0, 5);
    const DiffPair pair{a.finish(), b.finish(), edition};
    EXPECT_TRUE(collect_diff_stats(pair.input()).rows.empty());
    EXPECT_TRUE(op_changes(pair.input(), {}, {}).empty());
    const Table rows = diff_stats_table(pair.input(), collect_diff_stats(pair.input()));
    EXPECT_EQ(summarize_diff(rows).op_map, "{}");
  }
}

TEST(Judge, SmallChangesAndLargeSpreadsAreNoise) {
  const auto spread = [](double mean, double deviation) { return StepSpread{10, mean, deviation}; };
  EXPECT_EQ(judge(spread(1000, 1), spread(1010, 1)), ChangeVerdict::kNoise);  // 1%
  EXPECT_EQ(judge(spread(1000, 300), spread(1100, 300)), ChangeVerdict::kNoise);
  EXPECT_EQ(judge(spread(1000, 10), spread(1100, 10)), ChangeVerdict::kSlower);
  EXPECT_EQ(judge(spread(1000, 0), spread(900, 0)), ChangeVerdict::kFaster);
  EXPECT_EQ(judge({1, 1000, 0}, {1, 900, 0}), ChangeVerdict::kUnknown);
}

}  // namespace
}  // namespace tracelens
