#include "analysis/gpu/graph_launches.hpp"

#include <gtest/gtest.h>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// Two launches of one graph (gemm 6, add 2), one of another (copy 4); a kernel of 8 outside.
struct Launches {
  TestTrace t;
  Launches() {
    t.op("aten::add", 0, 1);
    for (const double ts : {10, 20}) {
      const auto id = static_cast<std::int64_t>(ts);
      t.runtime("cudaGraphLaunch", ts, 2, id);
      t.gpu({.name = "nvjet_gemm", .ts = ts + 1, .dur = 6}, id);
      t.gpu({.name = "vectorized_elementwise_kernel", .ts = ts + 7, .dur = 2}, id);
    }
    t.runtime("cudaGraphLaunch", 30, 2, 30);
    t.gpu({.name = "Memcpy DtoD", .ts = 31, .dur = 4, .category = Category::kGpuMemcpy}, 30);
    t.launch("cudaLaunchKernel", 40, 1, {.name = "eager", .ts = 41, .dur = 8});
  }
};

TEST(GraphLaunches, WithoutCapturesKindsOfKernelsStandByGraph) {
  Launches launches;
  const Trace trace = launches.t.finish();
  const TraceFacts facts{trace};
  const GraphStitching stitching = unstitched_graphs(trace);
  const auto kernels = graph_kernels(facts, stitching, KernelRules::built_in());
  ASSERT_TRUE(kernels);
  ASSERT_EQ(kernels->rows(), 3u);
  EXPECT_EQ(kernels->column("graph").integers()[0], 1);
  EXPECT_EQ(kernels->column("launches").integers()[0], 2);
  EXPECT_EQ(kernels->column("kernel category").texts()[0], "gemm");
  EXPECT_DOUBLE_EQ(kernels->column("GPU time").reals()[0], 0.012);
  EXPECT_DOUBLE_EQ(kernels->column("share of graph").reals()[0], 75);
  EXPECT_EQ(kernels->column("graph").integers()[2], 2);

  const auto table = graph_stitching(facts, stitching);
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 3u);
  EXPECT_EQ(table->column("matched by").texts()[0], "not matched");
  EXPECT_EQ(table->column("reason").texts()[0], "no captures were given");
  EXPECT_NEAR(table->column("share of GPU time").reals()[2], 100 * 4 / 28.0, 1e-9);

  const std::vector<std::string> sentences = stitching_warnings(trace, stitching);
  ASSERT_EQ(sentences.size(), 1u);  // 20 of 28
  EXPECT_TRUE(sentences[0].starts_with("3 graph launches hold 71.4% of the GPU time"));
}

TEST(GraphLaunches, LittleCoverageIsSaidWithItsMainReason) {
  Launches launches;
  const Trace trace = launches.t.finish();
  const TraceFacts facts{trace};
  GraphStitching stitching = unstitched_graphs(trace);
  stitching.folder = "captures";
  stitching.launches[0].matched = 2;
  stitching.launches[0].matched_ns = stitching.launches[0].gpu_ns;
  stitching.launches[0].reason.clear();
  stitching.launches[1].reason = "cost most";
  const std::vector<std::string> sentences = stitching_warnings(trace, stitching);
  ASSERT_EQ(sentences.size(), 1u);
  EXPECT_EQ(sentences[0],
            "captured ops explain 40.0% of the GPU time inside graph launches, which is 71.4% of "
            "all; see graph_stitching: cost most");
  for (StitchedLaunch& launch : stitching.launches) {
    launch.matched = launch.kernels;
    launch.matched_ns = launch.gpu_ns;
    launch.alignment = Alignment::kByPosition;
  }
  EXPECT_TRUE(stitching_warnings(trace, stitching).empty());
  stitching.launches[0].alignment = Alignment::kByOrder;
  EXPECT_EQ(stitching_warnings(trace, stitching).size(), 1u);
}

TEST(GraphLaunches, ATraceWithoutGraphsHasNoTables) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.name = "k", .ts = 1, .dur = 8});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  const GraphStitching none = unstitched_graphs(trace);
  EXPECT_FALSE(graph_stitching(facts, none));
  EXPECT_FALSE(graph_kernels(facts, none, KernelRules::built_in()));
  EXPECT_TRUE(stitching_warnings(trace, none).empty());
}

}  // namespace
}  // namespace tracelens
