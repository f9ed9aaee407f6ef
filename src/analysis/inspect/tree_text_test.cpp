#include <tracelens/tree_text.hpp>

#include <gtest/gtest.h>

#include <string>
#include <tracelens/error.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

class TreeText : public ::testing::Test {
 protected:
  TreeText() {
    t.python("main.py(1): main", 0, 1000);
    t.python("nn.Module: Net_0", 10, 500);
    t.python("nn.Module: Linear_0", 20, 100);
    t.op("aten::linear", 30, 50);
    kernel = t.launch("cudaLaunchKernel", 40, 5, {.name = "gemm", .ts = 200, .dur = 12.5}).gpu;
    t.python("nn.Module: Dropout_0", 150, 100);  // launches nothing
    t.python("nn.Module: Linear_1", 300, 100);
    t.launch("cudaLaunchKernel", 340, 5, {.name = "gemm", .ts = 400, .dur = 0.25});
    trace = t.finish();
    tree = build_tree(trace, {.python_frames = true});
  }
  std::string text(const TreeTextOptions& options) {
    std::string out;
    write_tree_text(trace, tree, options, [&](std::string_view piece) { out += piece; });
    return out;
  }
  // Lines without their dots: "  name (1.00)".
  std::string names(const TreeTextOptions& options) {
    std::string out;
    std::string all = text(options);
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t end = all.find('\n', at);
      const std::string line = all.substr(at, end - at);
      out += line.substr(0, line.find(" ....")) + line.substr(line.rfind(" (")) + '\n';
      at = end + 1;
    }
    return out;
  }
  TestTrace t;
  EventId kernel;
  Trace trace;
  Tree tree;
};

TEST_F(TreeText, ALineIsNameDotsAndGpuMicroseconds) {
  const std::string line = text({.depth = 1});
  EXPECT_EQ(line, "main.py(1): main " + std::string(62, '.') + " (12.75)\n");
}

TEST_F(TreeText, ModulesOnlyKeepTheirOwnNesting) {
  EXPECT_EQ(names({.layers = TreeLayers::only_modules()}),
            "nn.Module: Net_0 (12.75)\n"
            "  nn.Module: Linear_0 (12.50)\n"
            "  nn.Module: Linear_1 (0.25)\n");
}

TEST_F(TreeText, NodesWithoutGpuWorkAreShownOnRequest) {
  EXPECT_EQ(names({.layers = TreeLayers::only_modules(), .without_gpu_work = true}),
            "nn.Module: Net_0 (12.75)\n"
            "  nn.Module: Linear_0 (12.50)\n"
            "  nn.Module: Dropout_0 (0.00)\n"
            "  nn.Module: Linear_1 (0.25)\n");
}

TEST_F(TreeText, DepthMinimumAndRootNarrowTheTree) {
  EXPECT_EQ(names({.layers = TreeLayers::only_modules(), .depth = 1}),
            "nn.Module: Net_0 (12.75)\n");
  EXPECT_EQ(names({.layers = TreeLayers::only_modules(), .min_us = 1}),
            "nn.Module: Net_0 (12.75)\n  nn.Module: Linear_0 (12.50)\n");
  EXPECT_EQ(names({.root = "Linear_[0-9]"}),
            "nn.Module: Linear_0 (12.50)\n"
            "  aten::linear (12.50)\n"
            "    cudaLaunchKernel (12.50)\n"
            "      gemm (12.50)\n"
            "nn.Module: Linear_1 (0.25)\n"
            "  cudaLaunchKernel (0.25)\n"
            "    gemm (0.25)\n");
  EXPECT_THROW(text({.root = "("}), Error);
}

TEST(TreeTextNames, CannotCommandTheTerminal) {
  TestTrace t;
  t.op("evil\n::error::\x1b[2J\r\u202e", 0, 50);
  const EventId kernel =
      t.launch("cudaLaunchKernel", 10, 5, {.name = "k\x9b", .ts = 20, .dur = 1}).gpu;
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace, {});
  std::string out;
  const auto sink = [&](std::string_view piece) { out += piece; };
  write_tree_text(trace, tree, {}, sink);
  write_path_text(trace, tree, kernel, sink);
  EXPECT_EQ(out.find_first_of("\x1b\r\x9b"), std::string::npos);
  EXPECT_EQ(out.find("\n::error"), std::string::npos);
  EXPECT_NE(out.find("evil ::error::\ufffd[2J \ufffd"), std::string::npos) << out;
}

TEST_F(TreeText, JsonHoldsTheSameTree) {
  std::string json;
  write_tree_json(trace, tree, {.layers = TreeLayers::only_modules()},
                  [&](std::string_view piece) { json += piece; });
  EXPECT_EQ(
      json,
      "{\"roots\": [\n"
      "  {\"uid\": 1, \"category\": \"python_function\", \"name\": \"nn.Module: Net_0\", "
      "\"gpu_us\": 12.75, \"gpu_events\": 2, \"children\": [\n"
      "    {\"uid\": 2, \"category\": \"python_function\", \"name\": \"nn.Module: Linear_0\", "
      "\"gpu_us\": 12.5, \"gpu_events\": 1, \"children\": []},\n"
      "    {\"uid\": 9, \"category\": \"python_function\", \"name\": \"nn.Module: Linear_1\", "
      "\"gpu_us\": 0.25, \"gpu_events\": 1, \"children\": []}]}\n"
      "]}\n");
}

TEST_F(TreeText, ThePathOfAKernelLeadsUpToItsPythonLine) {
  std::string path;
  write_path_text(trace, tree, kernel, [&](std::string_view piece) { path += piece; });
  std::size_t at = 0;
  for (const char* step : {"gemm", "cudaLaunchKernel", "aten::linear", "nn.Module: Linear_0",
                           "nn.Module: Net_0", "main.py(1): main"}) {
    at = path.find(step, at);
    ASSERT_NE(at, std::string::npos) << step << " in\n" << path;
  }
  EXPECT_THROW(write_path_text(trace, tree, EventId{1'000'000}, [](std::string_view) {}), Error);
}

TEST(TreePath, ABackwardOpIsFollowedByTheWayToItsForwardOp) {
  TestTrace t;
  t.python("forward()", 0, 50);
  t.builder().set_sequence(t.op("aten::mm", 1, 5), 7);
  t.builder().set_sequence(t.op("autograd::engine::evaluate_function: MmBackward0", 100, 20, 2), 7);
  const EventId kernel = t.launch("cudaLaunchKernel", 105, 1, {.name = "gemm", .ts = 110}, 2).gpu;
  const Trace trace = t.finish();
  std::string path;
  write_path_text(trace, build_tree(trace, {.python_frames = true}), kernel,
                  [&](std::string_view piece) { path += piece; });
  const std::size_t mark = path.find("its forward op:");
  ASSERT_NE(mark, std::string::npos) << path;
  EXPECT_LT(path.find("MmBackward0"), mark);
  EXPECT_GT(path.find("aten::mm"), mark);
  EXPECT_GT(path.find("forward()"), mark);
}

TEST(TreeTextDeep, AHundredThousandLevelsAreWrittenWithoutRecursion) {
  constexpr int kDepth = 100'000;
  TestTrace t;
  for (int i = 0; i < kDepth; ++i) t.python("f", i, 2.0 * kDepth - 2 * i);
  t.launch("cudaLaunchKernel", kDepth, 0.5, {.ts = 0, .dur = 3});
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace, {.python_frames = true});
  std::size_t opened = 0, closed = 0;
  write_tree_json(trace, tree, {}, [&](std::string_view piece) {
    for (const char c : piece) {
      opened += c == '{' ? 1 : 0;
      closed += c == '}' ? 1 : 0;
    }
  });
  EXPECT_EQ(opened, tree.size() + 1);
  EXPECT_EQ(closed, opened);
}

}  // namespace
}  // namespace tracelens
