#include <gtest/gtest.h>

#include <string>
#include <tracelens/error.hpp>
#include <tracelens/tree_text.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

std::string summary(const Trace& trace, const TreeTextOptions& options) {
  std::string out;
  write_tree_summary(trace, build_tree(trace, {.python_frames = true}), options,
                     [&](std::string_view piece) { out += piece; });
  return out;
}
// The lines below the two of the header.
std::string lines(const Trace& trace, const TreeTextOptions& options) {
  const std::string all = summary(trace, options);
  return all.substr(all.find('\n', all.find('\n') + 1) + 1);
}

// A step of training: two linear layers in a net, their backward on another thread, the optimizer.
struct Training {
  TestTrace t;
  Training() {
    t.python("main.py(1): main", 0, 1000);
    t.python("nn.Module: Net_0", 10, 500);
    for (const int layer : {0, 1}) {
      const double at = 20 + 100 * layer;
      t.python("nn.Module: Linear_" + std::to_string(layer), at, 90);
      t.builder().set_sequence(t.op("aten::linear", at + 10, 50), layer + 1);
      t.launch("cudaLaunchKernel", at + 15, 5, {.name = "gemm", .ts = at + 100, .dur = 1000});
    }
    for (const int layer : {1, 0}) {
      const double at = 600 - 100 * layer;
      const std::string name = "autograd::engine::evaluate_function: MmBackward0";
      t.builder().set_sequence(t.op(name, at, 50, 2), layer + 1);
      t.op("MmBackward0", at + 1, 40, 2);
      t.launch("cudaLaunchKernel", at + 5, 5, {.name = "wgrad", .ts = at + 100, .dur = 2000}, 2);
    }
    t.event(Category::kUserAnnotation, "Optimizer.step#SGD.step", 800, 100);
    t.op("aten::add_", 810, 20);
    t.launch("cudaLaunchKernel", 815, 5, {.name = "add", .ts = 900, .dur = 4000});
  }
};

TEST(TreeSummary, ModulesHaveTheirBackwardAndTheRestIsAccountedFor) {
  Training training;
  const Trace trace = training.t.finish();
  EXPECT_EQ(summary(trace, {.layers = TreeLayers::only_modules()}),
            "GPU time: 10.000 ms in 5 kernels, copies and fills, their durations added up\n"
            "  share        ms   forward  backward   calls\n"
            "  60.0%     6.000     2.000     4.000       1  nn.Module: Net_0\n"
            "  60.0%     6.000     2.000     4.000       2    2 x nn.Module: Linear\n"
            "  40.0%     4.000                              outside of any module\n"
            "  40.0%     4.000                                Optimizer.step#SGD.step\n"
            "  40.0%     4.000                           1      aten::add_\n");
}

TEST(TreeSummary, BackwardOpsStandBelowTheModuleOfTheirForwardOp) {
  Training training;
  const Trace trace = training.t.finish();
  EXPECT_EQ(lines(trace, {.layers = {.python = false, .calls = false}, .width = 100}),
            "  60.0%     6.000       1  nn.Module: Net_0\n"
            "  60.0%     6.000       2    2 x nn.Module: Linear\n"
            "  40.0%     4.000       2      MmBackward0\n"
            "  40.0%     4.000       2        wgrad\n"
            "  20.0%     2.000       2      aten::linear\n"
            "  20.0%     2.000       2        gemm\n"
            "  40.0%     4.000          outside of any module\n"
            "  40.0%     4.000            Optimizer.step#SGD.step\n"
            "  40.0%     4.000       1      aten::add_\n"
            "  40.0%     4.000       1        add\n");
}

TEST(TreeSummary, AChosenRootLeavesTheRestAsOneLine) {
  Training training;
  const Trace trace = training.t.finish();
  EXPECT_EQ(lines(trace, {.layers = TreeLayers::only_modules(), .root = "Linear_1"}),
            "  30.0%     3.000     1.000     2.000       1  nn.Module: Linear_1\n"
            "  70.0%     7.000                              in none of the lines above\n");
  EXPECT_EQ(lines(trace,
                  {.layers = {.calls = false, .gpu = false}, .root = "MmBackward0$", .width = 100}),
            "  40.0%     4.000       2  MmBackward0\n"
            "  60.0%     6.000          in none of the lines above\n");
  EXPECT_EQ(summary(trace, {.root = "no such name"}), "");
  EXPECT_THROW(summary(trace, {.root = "("}), Error);
}

TEST(TreeSummary, DepthEndsTheTreeWithoutLosingTime) {
  Training training;
  const Trace trace = training.t.finish();
  EXPECT_EQ(lines(trace, {.layers = TreeLayers::only_modules(), .depth = 1}),
            "  60.0%     6.000     2.000     4.000       1  nn.Module: Net_0\n"
            "  40.0%     4.000                              outside of any module\n");
}

TEST(TreeSummary, AModuleWithoutForwardWorkStillHasItsBackward) {
  TestTrace t;
  t.python("nn.Module: Net_0", 0, 100);
  t.python("nn.Module: View_0", 10, 50);
  t.builder().set_sequence(t.op("aten::view", 20, 10), 7);
  t.builder().set_sequence(t.op("autograd::engine::evaluate_function: ViewBackward0", 200, 20, 2),
                           7);
  t.launch("cudaLaunchKernel", 205, 1, {.name = "copy", .ts = 210, .dur = 5}, 2);
  EXPECT_EQ(lines(t.finish(), {.layers = TreeLayers::only_modules()}),
            " 100.0%     0.005               0.005       1  nn.Module: Net_0\n"
            " 100.0%     0.005               0.005       1    nn.Module: View_0\n");
}

TEST(TreeSummary, OneNameIsOneLineTheCostliestFirstAndTheSmallAreFolded) {
  TestTrace t;
  const auto op = [&](const char* name, double at, double us) {
    t.op(name, at, 10);
    t.launch("cudaLaunchKernel", at + 1, 1, {.name = "k", .ts = at + 5, .dur = us});
  };
  op("aten::add", 0, 100);
  op("aten::mm", 20, 400);
  op("aten::mm", 40, 500);
  op("aten::relu", 60, 3);
  op("aten::gelu", 80, 2);
  const Trace trace = t.finish();
  const TreeTextOptions options{
      .layers = {.modules = false, .python = false, .ops = true, .calls = false, .gpu = false}};
  EXPECT_EQ(lines(trace, options),
            "  89.6%     0.900       2  aten::mm\n"
            "  10.0%     0.100       1  aten::add\n"
            "   0.5%     0.005          … 2 more\n"
            "Below 1% is folded; --all shows every call.\n");
  TreeTextOptions larger = options;
  larger.min_us = 200;
  EXPECT_EQ(lines(trace, larger),
            "  89.6%     0.900       2  aten::mm\n"
            "  10.4%     0.105          … 3 more\n"
            "Below 200 µs is folded; --all shows every call.\n");
}

TEST(TreeSummary, OpsThatOnlyCallTheNextShareALine) {
  TestTrace t;
  t.op("aten::to", 0, 50);
  t.op("aten::_to_copy", 5, 40);
  t.op("aten::copy_", 10, 30);
  t.launch("cudaLaunchKernel", 15, 5,
           {.name = "void at::native::copy<float>(int)", .ts = 100, .dur = 2});
  EXPECT_EQ(lines(t.finish(), {.layers = {.python = false, .calls = false}, .width = 60}),
            " 100.0%     0.002       1  aten::to > aten::_to_copy > aten…\n"
            " 100.0%     0.002       1    copy<float>(int)\n");
}

TEST(TreeSummary, GpuWorkThatNoCallLaunchedIsTold) {
  TestTrace t;
  t.gpu({.name = "graph_kernel", .ts = 10, .dur = 3});
  t.gpu({.name = "graph_kernel", .ts = 20, .dur = 3});
  EXPECT_EQ(lines(t.finish(), {}),
            " 100.0%     0.006          launched by no call in the trace\n"
            " 100.0%     0.006       2    graph_kernel\n");
}

TEST(TreeSummary, AHundredThousandLevelsNeedNoRecursionAndNoWideLines) {
  constexpr int kDepth = 100'000;
  TestTrace t;
  for (int i = 0; i < kDepth; ++i) t.op(i % 2 == 0 ? "f" : "g", i, 2.0 * kDepth - 2 * i);
  t.launch("cudaLaunchKernel", kDepth, 0.5, {.ts = 0, .dur = 3});
  std::size_t longest = 0;
  const Trace trace = t.finish();
  write_tree_summary(trace, build_tree(trace), {},
                     [&](std::string_view line) { longest = std::max(longest, line.size()); });
  EXPECT_LT(longest, 120U);
}

TEST(TreeSummary, AnEmptyTraceGivesNothing) {
  TestTrace t;
  EXPECT_EQ(summary(t.finish(), {}), "");
}

}  // namespace
}  // namespace tracelens
