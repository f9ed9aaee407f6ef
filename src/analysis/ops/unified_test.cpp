#include "analysis/ops/unified.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

Table unified(TestTrace& t, const OpTableOptions& options = {}, bool python = false) {
  const Trace trace = t.finish();
  const TraceFacts facts{trace, {.python_frames = python}};
  OpInput input{facts, options};
  return unified_perf_summary(input, collect_unified_ops(input)).value();
}

TEST(Unified, TheOutermostOpWithAModelStandsForAllBelowIt) {
  TestTrace t;
  t.op("aten::linear", 0, 100);
  t.op("aten::mm", 10, 50, matrices(2, 3, 4));
  t.op("aten::helper", 20, 10);
  t.launch("cudaLaunchKernel", 21, 1, {.name = "gemm", .ts = 200, .dur = 2});
  t.op("aten::plain", 70, 20);
  t.launch("cudaLaunchKernel", 71, 1, {.name = "k", .ts = 300, .dur = 1});
  const Table table = unified(t);
  EXPECT_THAT(column(table, "name"), ElementsAre("aten::mm", "aten::plain"));
  EXPECT_THAT(column(table, "has_perf_model"), ElementsAre("True", "False"));
  EXPECT_EQ(cell(table, "GFLOPS", 0), "4.8e-08");  // 2 * 2 * 3 * 4 FLOPs
  EXPECT_EQ(cell(table, "GFLOPS", 1), "");
  EXPECT_EQ(cell(table, "TFLOPS/s_mean", 0), "2.4e-05");  // 48 FLOPs in 2 us
  EXPECT_EQ(cell(table, "Compute Spec", 0), "matrix_bf16");
  EXPECT_EQ(cell(table, "total_duration_us", 0), "50.0");
}

TEST(Unified, WhatNoOpAccountsForGetsAMadeUpOne) {
  TestTrace t;
  t.op("aten::outer", 0, 100);  // looked through, since a model is below
  t.launch("cudaLaunchKernel", 1, 1, {.name = "stray", .ts = 200, .dur = 9});
  const EventId mm = t.op("aten::mm", 10, 50, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 11, 1, {.name = "gemm", .ts = 300, .dur = 2});
  t.launch("cudaGraphLaunch", 110, 1, {.name = "replayed", .ts = 400, .dur = 5});
  t.launch("cudaLaunchKernel", 120, 1, {.name = "ncclKernel", .ts = 500, .dur = 5});
  const Table table = unified(t);
  EXPECT_THAT(column(table, "name"),
              ElementsAre("aten::outer->stray (Synthetic Op)",
                          "cudaGraphLaunch->replayed (Synthetic Op)", "aten::mm"));
  EXPECT_EQ(cell(table, "ex_UID", 2), std::to_string(mm.row));
  // Orphans are numbered first, from behind the last event on.
  EXPECT_GT(std::stoi(cell(table, "ex_UID", 0)), std::stoi(cell(table, "ex_UID", 1)));
}

TEST(Unified, AnOpThatCommunicatesIsLeftToTheCollectiveTables) {
  TestTrace t;
  t.op("aten::mm", 0, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 100, .dur = 2});
  t.op("c10d::allreduce_", 20, 10);
  t.launch("cudaLaunchKernel", 21, 1, {.name = "ncclDevKernel", .ts = 200, .dur = 5});
  EXPECT_THAT(column(unified(t), "name"), ElementsAre("aten::mm"));
}

// The driver's launches make no leaf in the reference (O9); ours looks through them.
TEST(Unified, DriverLaunchesBelongToTheOpInTheExtendedEdition) {
  const auto make = [](Edition edition) {
    TestTrace t;
    t.op("my::op", 0, 10);
    t.event(Category::kCudaDriver, "cuLaunchKernel", 1, 1, 1, 77);
    t.gpu({.name = "k", .ts = 100, .dur = 2}, 77);
    t.flow_start(77);
    t.flow_end(77);
    return unified(t, {.edition = edition});
  };
  EXPECT_THAT(column(make(Edition::kReference), "name"), ElementsAre("my::op->k (Synthetic Op)"));
  EXPECT_THAT(column(make(Edition::kExtended), "name"), ElementsAre("my::op"));
}

// 64 query heads of 64, 8 for keys: two decode steps whose caches differ, in a profiler's step.
TestTrace serving_steps(std::string_view op) {
  Signature call;
  call.dims = Value::tuple({Value::tuple({64, 64, 64}), Value::tuple({64, 8, 64})});
  call.types = Value::tuple({"c10::BFloat16", "c10::BFloat16"});
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 1000, 2);
  for (const int i : {0, 1}) {
    const std::string sums = i == 0 ? "sq64sk131072sqsq64sqsk131072" : "sq64sk65536sqsq64sqsk65536";
    t.event(Category::kUserAnnotation,
            "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(" + sums + ")", 100 * i, 50, 2);
    t.op(op, 100 * i + 10, 10, call);
    t.launch("cudaLaunchKernel", 100 * i + 11, 1,
             {.name = "attention", .ts = 2000.0 + 10 * i, .dur = 2});
  }
  return t;
}

TEST(Unified, AttentionOfServingEnginesReadsTheTokensOfItsStep) {
  TestTrace t = serving_steps("vllm::unified_attention_with_output");
  const Table table = unified(t);
  EXPECT_THAT(column(table, "name"), ElementsAre("vllm::unified_attention_with_output"));
  EXPECT_EQ(cell(table, "GFLOPS", 0), "2.147483648");  // of the first call
  EXPECT_EQ(cell(table, "TFLOPS/s_max", 0), "1073.741824");
  EXPECT_EQ(cell(table, "TFLOPS/s_min", 0), "536.870912");
}

// The Python TraceLens looks for the step of one op only.
TEST(Unified, OtherServingAttentionHasNoStepInTheReferenceEdition) {
  const auto flops = [](Edition edition) {
    TestTrace t = serving_steps("aiter::mha_varlen_fwd");
    t.op("aten::mm", 300, 10, matrices(2, 3, 4));
    t.launch("cudaLaunchKernel", 301, 1, {.name = "gemm", .ts = 3000, .dur = 1});
    return cell(unified(t, {.edition = edition}), "GFLOPS", 0);
  };
  EXPECT_EQ(flops(Edition::kReference), "");
  EXPECT_EQ(flops(Edition::kExtended), "2.147483648");
}

TEST(Unified, MadeUpOpsKeepWhatIsWrittenIntoThem) {
  const auto flops = [](std::string_view details) {
    Signature call;
    call.dims = Value::tuple({Value::tuple({32, 3072}), Value::tuple({32, 32})});
    call.types = Value::tuple({"c10::BFloat16", "c10::BFloat16"});
    TestTrace t;
    const EventId op = t.op("pseudo_op::moe_triton_unfused_up", 0, 10, call);
    t.builder().set_details(op, t.builder().intern(details));
    t.launch("cudaLaunchKernel", 1, 1, {.name = "_matmul_ogs_mxfp4", .ts = 100, .dur = 2});
    t.op("aten::mm", 300, 10, matrices(2, 3, 4));
    t.launch("cudaLaunchKernel", 301, 1, {.name = "gemm", .ts = 3000, .dur = 1});
    return cell(unified(t), "GFLOPS", 0);
  };
  EXPECT_EQ(flops(R"({"MoE topk": 4, "MoE GEMM gated": true})"), "4.831838208");
  EXPECT_EQ(flops(R"({"MoE topk": 2, "MoE GEMM gated": false})"), "1.207959552");
  EXPECT_EQ(flops(R"({"MoE topk": "many"})"), "");
}

TEST(Unified, RecomputedCallsStandApart) {
  TestTrace t;
  t.python("train.py(1): step", 0, 100);
  t.op("aten::mm", 1, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 2, 1, {.name = "gemm", .ts = 200, .dur = 2});
  t.python("torch/utils/checkpoint.py(99): recompute_fn", 20, 50);
  t.op("aten::mm", 21, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 22, 1, {.name = "gemm", .ts = 300, .dur = 3});
  const Table table = unified(t, {.split_recompute = true}, true);
  EXPECT_THAT(column(table, "is_recompute"), ElementsAre("True", "False"));
}

// A backward thread, say: no Python frame at the root, but frames between the ops.
TestTrace op_frame_op() {
  TestTrace t;
  t.op("my::outer", 0, 100);
  t.python("lib/a.py(3): f", 1, 90);
  t.op("my::child", 2, 80);
  t.launch("cudaLaunchKernel", 3, 1, {.name = "k", .ts = 200, .dur = 2});
  return t;
}

TEST(Unified, AnOpBelowAFrameBelowAnOpKeepsItsNameAndStack) {
  TestTrace t = op_frame_op();
  const Table table = unified(t, {.call_stack = true}, true);
  EXPECT_THAT(column(table, "name"), ElementsAre("my::child"));
  EXPECT_THAT(column(table, "entry_point"), ElementsAre("lib/a.py(3): f"));
  EXPECT_EQ(cell(table, "call_stack_full", 0), "['my::outer', 'lib/a.py(3): f', 'my::child', 'k']");
}

TEST(Unified, TheOverlapTableHasTheStacksInItsKernelCells) {
  const auto cells = [](const OpTableOptions& options) {
    TestTrace t = op_frame_op();
    const Trace trace = t.finish();
    const TraceFacts facts{trace, {.python_frames = true}};
    OpInput input{facts, options};
    const auto ops = collect_unified_ops(input);
    return cell(unified_perf_summary_kl_overlap(input, ops).value(), "kernel_details_summary", 0);
  };
  EXPECT_THAT(cells({.overlap = true, .call_stack = true}),
              HasSubstr("'call_stack': ['my::outer', 'lib/a.py(3): f', 'my::child']"));
  EXPECT_THAT(cells({.edition = Edition::kExtended, .overlap = true, .call_stack = true}),
              Not(HasSubstr("call_stack")));
}

TEST(Unified, AKernelThatNoOpLaunchedDoesWhatItsNameSays) {
  TestTrace t;
  t.launch("hipModuleLaunchKernel", 1, 1, {.name = "_attn_fwd_split", .ts = 10, .dur = 8});
  t.launch("hipModuleLaunchKernel", 3, 1, {.name = "_my_step", .ts = 20, .dur = 4});
  t.op("my::linear", 5, 9);
  t.launch("cudaLaunchKernel", 6, 1, {.name = "my_quant_kernel", .ts = 30, .dur = 1});
  t.launch("cudaLaunchKernel", 8, 1, {.name = "my_gemm", .ts = 31, .dur = 2});
  EXPECT_THAT(column(unified(t, {.edition = Edition::kExtended}), "op category"),
              ElementsAre("attention_fwd", "triton", "GEMM"));
}

// Attention in its own autograd function, whose backward pass sums up the gradients of shared heads.
TestTrace attention_with_sums() {
  Signature call;
  const Value shape = Value::tuple({1, 8, 2, 16}), strides = Value::tuple({256, 32, 16, 1}),
              none = Value::tuple({});
  call.dims = Value::tuple({shape, shape, shape, none, none, none});
  call.types = Value::tuple(
      {"c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar"});
  call.strides = Value::tuple({strides, strides, strides, none, none, none});
  call.concrete = Value::tuple({"", "", "", "0.", "0.25", "True"});
  TestTrace t;
  t.builder().set_sequence(t.op("FlashAttnFunc", 0, 20, call), 7);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "fwd", .ts = 100, .dur = 3});
  const EventId wrapper =
      t.op("autograd::engine::evaluate_function: FlashAttnFuncBackward", 200, 90, 2);
  t.builder().set_sequence(wrapper, 7);
  t.op("FlashAttnFuncBackward", 205, 50, 2);
  t.launch("cudaLaunchKernel", 210, 1, {.name = "dot", .ts = 300, .dur = 2}, 2);
  t.launch("cudaLaunchKernel", 212, 1, {.name = "bwd", .ts = 302, .dur = 60}, 2);
  t.op("my::cast", 220, 5, 2);
  t.launch("cudaLaunchKernel", 221, 1, {.name = "cast", .ts = 362, .dur = 4}, 2);
  Signature sum;
  sum.dims = Value::tuple({Value::tuple({8, 4}), Value::tuple({})});
  sum.types = Value::tuple({"c10::BFloat16", ""});
  sum.concrete = Value::tuple({"", ""});
  t.op("aten::sum", 230, 5, sum, 2);
  t.launch("cudaLaunchKernel", 231, 1, {.name = "reduce", .ts = 370, .dur = 1}, 2);
  t.op("my::accumulate", 260, 5, 2);
  t.launch("cudaLaunchKernel", 261, 1, {.name = "accumulate", .ts = 380, .dur = 5}, 2);
  return t;
}

TEST(Unified, TheRestOfABackwardOpBesideOpsWithAModelIsAnsweredOnce) {
  TestTrace t = attention_with_sums();
  const Table table = unified(t, {.edition = Edition::kExtended});
  EXPECT_THAT(column(table, "name"),
              ElementsAre("FlashAttnFuncBackward", "my::accumulate", "FlashAttnFunc", "aten::sum"));
  EXPECT_THAT(column(table, "Kernel Time (µs)_sum"), ElementsAre("66.0", "5.0", "3.0", "1.0"));
  EXPECT_THAT(column(table, "has_perf_model"), ElementsAre("True", "False", "True", "True"));
  EXPECT_NE(cell(table, "GFLOPS", 0), "");
  EXPECT_EQ(cell(table, "op category", 0), "SDPA_bwd");
}

// A compiled region that launches a kernel itself, and a graph whose captured op was put below it.
TEST(Unified, TheOpsOfAReplayedGraphAreFoundBelowItsLaunch) {
  TestTrace t;
  t.op("Torch-Compiled Region", 0, 100);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "prepare", .ts = 150, .dur = 1});
  const auto [graph, kernel] =
      t.launch("cudaGraphLaunch", 3, 1, {.name = "gemm", .ts = 200, .dur = 2});
  TraceBuilder builder{t.finish()};
  const TrackId host = builder.intern(Track{TestTrace::kHostPid, 1});
  Signature call = matrices(2, 3, 4);
  call.name = builder.intern("aten::mm");
  const EventId op = builder.append({.phase = Phase::kComplete,
                                     .category = Category::kCpuOp,
                                     .name = call.name,
                                     .track = host,
                                     .signature = builder.intern(call)});
  const EventId launch = builder.append({.phase = Phase::kComplete,
                                         .category = Category::kCudaRuntime,
                                         .name = builder.intern("cudaLaunchKernel"),
                                         .track = host});
  builder.set_parent(op, graph);
  builder.set_parent(launch, op);
  builder.set_parent(kernel, launch);
  const Trace trace = std::move(builder).finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {.edition = Edition::kExtended}};
  const Table table = unified_perf_summary(input, collect_unified_ops(input)).value();
  EXPECT_THAT(column(table, "name"),
              ElementsAre("aten::mm", "Torch-Compiled Region->prepare (Synthetic Op)"));
  EXPECT_EQ(cell(table, "has_perf_model", 0), "True");
}

TEST(Unified, RooflineColumnsComeWithAGpu) {
  TestTrace t;
  t.op("aten::mm", 0, 10, matrices(1000, 1000, 1000));
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 100, .dur = 8});
  Gpu gpu;
  gpu.memory_gbps = 1000;
  gpu.peak_tflops["matrix_bf16"] = 500;
  const Table table = unified(t, {.gpu = &gpu});
  // 2e9 FLOPs at 500 TFLOP/s: 4 us; 6e6 bytes at 1000 GB/s: 6 us.
  EXPECT_EQ(cell(table, "Roofline Time (µs)_first", 0), "6.0");
  EXPECT_EQ(cell(table, "Roofline Bound", 0), "MEMORY_BOUND");
  EXPECT_EQ(cell(table, "Pct Roofline_mean", 0), "75.0");
}

}  // namespace
}  // namespace tracelens
