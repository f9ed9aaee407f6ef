#include "analysis/fusion/fusible.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

constexpr int kMany = 1 << 20;

Signature tensors(std::vector<std::pair<int, const char*>> of) {
  std::vector<Value> dims, types, strides, concrete;
  for (const auto& [elements, type] : of) {
    dims.push_back(Value::tuple({elements}));
    types.push_back(type);
    strides.push_back(Value::tuple({1}));
    concrete.push_back("");
  }
  Signature call;
  call.dims = Value::tuple(std::move(dims));
  call.types = Value::tuple(std::move(types));
  call.strides = Value::tuple(std::move(strides));
  call.concrete = Value::tuple(std::move(concrete));
  return call;
}
// A tensor and a number.
Signature floats(int elements = kMany) { return tensors({{elements, "float"}, {1, "float"}}); }

// Ops one after the other, each with one kernel of 10 us right behind the one before.
class ChainTrace : public TestTrace {
 public:
  void call(std::string_view op, const Signature& arguments, int tid = 1) {
    this->op(op, at_ + 1, 8, arguments, tid);
    launch("cudaLaunchKernel", at_ + 2, 2, {.name = op, .ts = at_ + 1000, .dur = 10}, tid);
    at_ += 10;
  }
  // A frame that ends before the next call.
  void module(std::string_view name, int calls) { python(name, at_, 10 * calls); }
  [[nodiscard]] double at() const { return at_; }

 private:
  double at_ = 0;
};

struct Analysed {
  explicit Analysed(ChainTrace& t) : trace{t.finish()} {}
  Trace trace;
  TraceFacts facts{trace, {.python_frames = true}};
  OpInput ops{facts, {.edition = Edition::kExtended}};
  HostRanges ranges{trace};
  OpPlaces places{trace, facts.tree(), ranges};
  FusionInput input{facts, ops, places};
};

TEST(FusibleRuns, AHandWrittenNormReadsAndWritesItsTensorOnce) {
  ChainTrace t;
  t.module("nn.Module: Norm_3", 5);
  t.call("aten::copy_", tensors({{kMany, "float"}, {kMany, "c10::BFloat16"}}));
  t.call("aten::pow", floats());
  t.call("aten::mean", floats());
  t.call("aten::mul", floats());
  t.call("aten::copy_", tensors({{kMany, "c10::BFloat16"}, {kMany, "float"}}));
  Analysed a{t};
  const auto runs = fusible_runs(a.input, 1000);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].kernels.size(), 5u);
  EXPECT_EQ(runs[0].ops.size(), 5u);
  EXPECT_EQ(runs[0].unit, "nn.Module: Norm");
  EXPECT_EQ(runs[0].phase, ProgramPhase::kForward);
  EXPECT_EQ(runs[0].time_ns, 50'000);
  EXPECT_EQ(runs[0].bytes_fused, 2.0 * kMany + 2.0 * kMany);  // bf16 in, bf16 out
  EXPECT_EQ(runs[0].fused_ns, 4194);
  EXPECT_TRUE(fusible_runs(a.input, 0).empty());  // nothing known of the GPU
}

TEST(FusibleRuns, ARunEndsAtAnotherModuleAndAtMatrixProducts) {
  ChainTrace t;
  t.module("nn.Module: Norm_0", 2);
  for (int i = 0; i < 2; ++i) t.call("aten::mul", floats());
  t.module("nn.Module: Norm_1", 5);
  for (int i = 0; i < 2; ++i) t.call("aten::mul", floats());
  t.call("aten::mm", matrices(64, 64, 64));
  for (int i = 0; i < 2; ++i) t.call("aten::mul", floats());
  Analysed a{t};
  EXPECT_TRUE(fusible_runs(a.input, 1000).empty());
}

TEST(FusibleRuns, AnActivationTakesPartInAChain) {
  ChainTrace t;
  t.module("nn.Module: Block_0", 3);
  for (const char* op : {"aten::mul", "aten::gelu", "aten::mul"}) t.call(op, floats());
  Analysed a{t};
  const auto runs = fusible_runs(a.input, 1000);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].kernels.size(), 3u);
}

TEST(FusibleRuns, SmallTensorsCopiesAndOpsOfTheirOwnAreNoChain) {
  ChainTrace t;
  t.module("nn.Module: Small_0", 3);
  for (int i = 0; i < 3; ++i) t.call("aten::mul", floats(1000));
  t.module("nn.Module: Copies_0", 4);
  for (int i = 0; i < 3; ++i) t.call("aten::copy_", tensors({{kMany, "float"}, {kMany, "float"}}));
  t.call("aten::mul", floats());
  t.module("nn.Module: Activations_0", 5);
  for (const char* op : {"aten::mul", "aten::gelu", "aten::gelu", "aten::_softmax", "aten::mul"})
    t.call(op, floats());
  Analysed a{t};
  EXPECT_TRUE(fusible_runs(a.input, 1000).empty());
}

TEST(FusibleRuns, KernelsOfOneLargeAndSomeSmallTensorsAreNoChain) {
  ChainTrace t;
  t.module("nn.Module: Linear_0", 3);
  t.call("aten::sum", floats());
  for (int i = 0; i < 2; ++i) t.call("aten::add", floats(1000));
  Analysed a{t};
  EXPECT_TRUE(fusible_runs(a.input, 1000).empty());
}

TEST(FusibleRuns, TheBackwardPassReadsWhatTheForwardPassSaved) {
  ChainTrace t;
  t.module("nn.Module: Mlp_0", 1);
  const EventId forward = t.op("aten::exp", 0, 1, floats());
  t.builder().set_sequence(forward, 9);
  const EventId wrapper =
      t.op("autograd::engine::evaluate_function: ExpBackward0", t.at(), 40, floats(), 2);
  t.builder().set_sequence(wrapper, 9);
  for (int i = 0; i < 3; ++i) t.call("aten::mul", floats(), 2);
  Analysed a{t};
  const auto runs = fusible_runs(a.input, 1000);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].unit, "nn.Module: Mlp");
  EXPECT_EQ(runs[0].phase, ProgramPhase::kBackward);
  EXPECT_EQ(runs[0].bytes_fused, 3.0 * 4 * kMany);
  // All three calls are of one op, which launched nothing else.
  ASSERT_EQ(runs[0].ops.size(), 1u);
  EXPECT_EQ(a.trace.name(runs[0].ops[0]), "autograd::engine::evaluate_function: ExpBackward0");
}

TEST(Epilogues, AnActivationOfTheResultsSizeBelongsToTheMatrixProduct) {
  ChainTrace t;
  t.module("nn.Module: Mlp_0", 4);
  t.module("nn.Module: Linear_0", 1);
  t.call("aten::mm", matrices(64, 32, 16));
  t.call("aten::gelu", floats(64 * 16));
  t.call("aten::mm", matrices(64, 32, 16));
  t.call("aten::mul", floats(64));  // another size
  Analysed a{t};
  const auto found = epilogues(a.input);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(a.trace.name(found[0].matrix), "aten::mm");
  EXPECT_EQ(found[0].kernels.size(), 1u);
  EXPECT_EQ(found[0].unit, "nn.Module: Linear");
  EXPECT_EQ(found[0].time_ns, 10'000);
}

TEST(Epilogues, ALongerChainIsNoEpilogue) {
  ChainTrace t;
  t.module("nn.Module: Mlp_0", 4);
  t.call("aten::mm", matrices(64, 32, 16));
  for (int i = 0; i < 3; ++i) t.call("aten::mul", floats(64 * 16));
  Analysed a{t};
  EXPECT_TRUE(epilogues(a.input).empty());
}

}  // namespace
}  // namespace tracelens
