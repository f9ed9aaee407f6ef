#include <tracelens/pseudo_ops.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tracelens/tree.hpp>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Texts = std::vector<std::string>;

const PseudoOpOptions kReference{.edition = Edition::kReference};

Signature arguments(std::vector<Value> dims, std::vector<Value> concrete = {}) {
  Signature call;
  call.dims = Value::tuple(std::move(dims));
  call.concrete = Value::tuple(std::move(concrete));
  return call;
}

// One op after the other, each with calls that launch a kernel each.
class Kernels {
 public:
  explicit Kernels(TestTrace& trace) : trace_{trace} {}
  void launch(std::string_view kernel) {
    at_ += 2;
    trace_.launch("hipLaunchKernel", at_, 1, {.name = kernel, .ts = 1000 + at_, .dur = 1});
  }
  void go_to(double ts) { at_ = ts; }

 private:
  TestTrace& trace_;
  double at_ = 0;
};

// What was added: "name below parent around child, child".
Texts added(const Trace& trace) {
  const Tree tree = build_tree(trace, {.python_frames = true});
  Texts lines;
  for (std::uint32_t row = trace.recorded(); row < trace.size(); ++row) {
    const NodeId node = tree.node({row});
    std::string line{trace.name({row})};
    if (!node.valid()) {
      lines.push_back(line + " is in no tree");
      continue;
    }
    line += " below " + std::string{trace.name(tree.event(tree.parent(node)))} + " around";
    for (NodeId child{node.row + 1}; child.row < tree.end(node).row; child = tree.end(child))
      line += " " + std::string{trace.name(tree.event(child))};
    for (const EventId kernel : tree.gpu_events(node))
      line += " / " + std::string{trace.name(kernel)};
    lines.push_back(line);
  }
  return lines;
}

Value extra(const Trace& trace, std::uint32_t nth, std::string_view key) {
  const Value details = trace.details({trace.recorded() + nth});
  const Value* found = details.find(key);
  return found ? *found : Value{};
}

// --- names ---

TEST(PseudoOps, OpsOfSglangLoseTheirRunningNumber) {
  TestTrace t;
  const EventId first = t.op("sglang_profiler::gemm_a8_1", 0, 5, arguments({Value::tuple({8, 4})}));
  const EventId second =
      t.op("sglang_profiler::gemm_a8_27", 10, 5, arguments({Value::tuple({8, 4})}));
  const EventId plain = t.op("sglang_profiler::gemm_a8", 20, 5);
  const EventId bare = t.op("sglang_profiler::_3", 30, 5);
  const EventId frame = t.python("sglang_profiler::f_3", 40, 5);
  const EventId other = t.op("aten::mm_12", 50, 5);
  const Trace trace = add_pseudo_ops(t.finish());
  for (const EventId event : {first, second, plain})
    EXPECT_EQ(trace.name(event), "sglang_profiler::gemm_a8");
  EXPECT_EQ(trace.signatures()[first.row], trace.signatures()[second.row]);
  EXPECT_EQ(trace.signature(trace.signatures()[first.row]).name, trace.names()[first.row]);
  EXPECT_EQ(trace.name(bare), "sglang_profiler::_3");
  EXPECT_EQ(trace.name(frame), "sglang_profiler::f_3");
  EXPECT_EQ(trace.name(other), "aten::mm_12");
  EXPECT_THAT(added(trace), IsEmpty());
}

// --- one kernel ---

Trace aiter_moe(std::initializer_list<std::string_view> kernels, bool has_op_inside = false) {
  TestTrace t;
  t.op("vllm::moe_forward", 0, 100);
  t.op("vllm::rocm_aiter_fused_moe", 10, 80, arguments({Value::tuple({8, 4})}));
  if (has_op_inside) t.op("aiter::inner", 11, 70);
  Kernels work{t};
  work.go_to(12);
  for (const std::string_view kernel : kernels) work.launch(kernel);
  return t.finish();
}

TEST(PseudoOps, TheOneFusedKernelOfAnAiterMoeIsAnOp) {
  const Trace trace = add_pseudo_ops(
      aiter_moe({"aiter::fmoe_MoeSorting", "aiter::fmoe_Quantize", "aiter::fmoe_bf16_g1u1"}),
      kReference);
  EXPECT_THAT(added(trace),
              ElementsAre("pseudo_op::moe_aiter_fused_1stage below vllm::rocm_aiter_fused_moe "
                          "around hipLaunchKernel / aiter::fmoe_bf16_g1u1"));
  const std::uint32_t row = trace.recorded();
  EXPECT_EQ(trace.signature(trace.signatures()[row]).dims, Value::tuple({Value::tuple({8, 4})}));
  EXPECT_EQ(extra(trace, 0, "Pseudo op"), Value{true});
}

TEST(PseudoOps, NoneOfSeveralFusedKernelsIsTaken) {
  EXPECT_THAT(added(add_pseudo_ops(aiter_moe({"aiter::fmoe_a", "aiter::fmoe_b"}))), IsEmpty());
  EXPECT_THAT(added(add_pseudo_ops(aiter_moe({"something else"}))), IsEmpty());
}

TEST(PseudoOps, AnAiterMoeWithOpsOfItsOwnNeedsNone) {
  EXPECT_THAT(added(add_pseudo_ops(aiter_moe({"aiter::fmoe_a"}, true))), IsEmpty());
}

// In the reference's edition all but what goes down the tree sees the op around it (oddity I-18).
TEST(PseudoOps, ASingleKernelIsChargedToThePseudoOpInOurEdition) {
  for (const Edition edition : {Edition::kReference, Edition::kExtended}) {
    const Trace trace = add_pseudo_ops(aiter_moe({"aiter::fmoe_a"}), {.edition = edition});
    const Tree tree = build_tree(trace);
    ASSERT_EQ(trace.size(), trace.recorded() + 1u);
    const EventId pseudo{trace.recorded()};
    const NodeId kernel = tree.node(tree.linked_gpu_events()[0]);
    const bool is_ours = edition == Edition::kExtended;
    EXPECT_EQ(tree.nearest_op(kernel) == tree.node(pseudo), is_ours);
    EXPECT_EQ(trace.dur_ns()[pseudo.row], is_ours ? 1000 : kAbsent);
    EXPECT_EQ(tree.gpu_count(tree.node(pseudo)), 1u);
  }
}

TestTrace triton_moe(bool with_topk) {
  TestTrace t;
  t.op("vllm::moe_forward", 0, 100, arguments({Value::tuple({32, 128}), Value::tuple({32, 8})}));
  if (with_topk) t.op("TopKForward", 1, 2, arguments({}, {"", "6", ""}));
  Kernels work{t};
  work.go_to(4);
  for (const char* const kernel : {"_matmul_ogs_NNT_mxfp4_swiglu", "_topk", "_matmul_OGS_NNT_mxfp4",
                                   "_finalize_matmul_scatter"})
    work.launch(kernel);
  return t;
}

TEST(PseudoOps, ThePartsOfATritonMoeAreOps) {
  const Trace trace = add_pseudo_ops(triton_moe(true).finish());
  EXPECT_THAT(
      added(trace),
      ElementsAre("pseudo_op::moe_triton_unfused_up below vllm::moe_forward around "
                  "hipLaunchKernel / _matmul_ogs_NNT_mxfp4_swiglu",
                  "pseudo_op::moe_triton_unfused_down below vllm::moe_forward around "
                  "hipLaunchKernel / _matmul_OGS_NNT_mxfp4",
                  "pseudo_op::moe_triton_unfused_finalize_matmul_scatter below vllm::moe_forward "
                  "around hipLaunchKernel / _finalize_matmul_scatter"));
  EXPECT_EQ(extra(trace, 0, "MoE topk"), Value{6});
  EXPECT_EQ(extra(trace, 0, "MoE GEMM gated"), Value{true});
  EXPECT_EQ(extra(trace, 1, "MoE GEMM gated"), Value{false});
}

TEST(PseudoOps, ATritonMoeThatDoesNotTellVisitsFourExpertsPerToken) {
  EXPECT_EQ(extra(add_pseudo_ops(triton_moe(false).finish()), 0, "MoE topk"), Value{4});
}

TEST(PseudoOps, ATritonMoeIsNoneWhereAiterFusesIt) {
  TestTrace t = triton_moe(true);
  t.op("vllm::rocm_aiter_fused_moe", 200, 5);
  EXPECT_THAT(added(add_pseudo_ops(t.finish())), IsEmpty());
}

TEST(PseudoOps, TheProductsOfAQuantizedMoeAreOps) {
  TestTrace t;
  const Value none = Value::tuple({});
  t.op("vllm::outplace_fused_experts", 0, 100,
       arguments({none, none, none, none, Value::tuple({128, 2})}));
  Kernels work{t};
  work.launch("fused_moe_kernel_gptq_awq");
  work.launch("silu");
  work.launch("fused_moe_kernel_gptq_awq");
  const Trace trace = add_pseudo_ops(t.finish());
  ASSERT_THAT(added(trace),
              ElementsAre("pseudo_op::moe_gptq_awq_up below vllm::outplace_fused_experts around "
                          "hipLaunchKernel / fused_moe_kernel_gptq_awq",
                          "pseudo_op::moe_gptq_awq_down below vllm::outplace_fused_experts around "
                          "hipLaunchKernel / fused_moe_kernel_gptq_awq"));
  EXPECT_EQ(extra(trace, 0, "MoE topk"), Value{2});
  EXPECT_EQ(extra(trace, 0, "MoE GEMM gated"), Value{true});
  EXPECT_EQ(extra(trace, 1, "MoE GEMM gated"), Value{false});
}

// --- a call ---

Trace flydsl_moe() {
  TestTrace t;
  t.op("aiter::fused_moe_", 0, 100, arguments({Value::tuple({8, 4})}));
  t.python("moe.py(7): run", 1, 90);
  Kernels work{t};
  t.python("aiter/moe.py(3): flydsl_moe_stage1", 2, 10);
  work.go_to(2);
  work.launch("stage 1");
  t.python("aiter/moe.py(9): flydsl_moe_stage2", 20, 10);
  work.go_to(20);
  work.launch("stage 2");
  t.python("aiter/moe.py(3): flydsl_moe_stage1", 150, 10);  // in no such op
  work.go_to(150);
  work.launch("other");
  return t.finish();
}

TEST(PseudoOps, TheStagesOfAFlydslMoeAreOps) {
  const Trace trace = add_pseudo_ops(flydsl_moe());
  EXPECT_THAT(added(trace), ElementsAre("pseudo_op::moe_flydsl_stage1 below moe.py(7): run around "
                                        "aiter/moe.py(3): flydsl_moe_stage1 / stage 1",
                                        "pseudo_op::moe_flydsl_stage2 below moe.py(7): run around "
                                        "aiter/moe.py(9): flydsl_moe_stage2 / stage 2"));
  const std::uint32_t row = trace.recorded();
  EXPECT_EQ(trace.ts_ns()[row], 2000);
  EXPECT_EQ(trace.dur_ns()[row], 10000);
  EXPECT_EQ(trace.signature(trace.signatures()[row]).dims, Value::tuple({Value::tuple({8, 4})}));
}

TEST(PseudoOps, PythonFramesMayBeLeftOut) {
  EXPECT_THAT(added(add_pseudo_ops(flydsl_moe(), {.python_frames = false})), IsEmpty());
}

// --- all that a call does ---

TEST(PseudoOps, AllThatAnMlaFunctionDoesIsOneOp) {
  TestTrace t;
  Kernels work{t};
  const auto function = [&](const char* frame, double at, const char* op) {
    t.python(frame, at, 50);
    t.op("aten::empty", at + 1, 1);
    t.op(op, at + 10, 30, arguments({Value::tuple({64, 16, 576})}));
    work.go_to(at + 10);
    work.launch("stage 1");
    work.go_to(at + 42);
    work.launch("reduce");
  };
  function("aiter/mla.py(12): mla_decode_fwd", 0, "aiter::mla_decode_stage1_asm_fwd");
  function("atom/attention.py(5): mla_fp8_prefill_attn", 100, "aiter::mla_prefill_ps_asm_fwd");
  function("atom/attention.py(5): mla_fp8_prefill_attn2", 200, "aiter::mla_prefill_ps_asm_fwd");
  t.python("aiter/mla.py(12): mla_decode_fwd", 300, 50);  // without the op
  work.go_to(310);
  work.launch("other");
  const Trace trace = add_pseudo_ops(t.finish(), kReference);
  EXPECT_THAT(
      added(trace),
      ElementsAre("pseudo_mla_decode_fwd below aiter/mla.py(12): mla_decode_fwd around aten::empty "
                  "aiter::mla_decode_stage1_asm_fwd hipLaunchKernel / stage 1 / reduce",
                  "pseudo_mla_prefill_fwd below atom/attention.py(5): mla_fp8_prefill_attn around "
                  "aten::empty aiter::mla_prefill_ps_asm_fwd hipLaunchKernel / stage 1 / reduce"));
  EXPECT_EQ(trace.dur_ns()[trace.recorded()], 50000);
  EXPECT_EQ(trace.signature(trace.signatures()[trace.recorded()]).dims,
            Value::tuple({Value::tuple({64, 16, 576})}));
}

TEST(PseudoOps, SparseDecodeOfV4IsNamedByTheKernelsBesideIt) {
  TestTrace t;
  Kernels work{t};
  const auto layer = [&](double at, std::initializer_list<std::string_view> kernels) {
    t.op("aiter::v4_attention_with_output", at, 90, arguments({Value::tuple({64, 7168})}));
    work.go_to(at);
    for (const std::string_view kernel : kernels) work.launch(kernel);
    t.python("v4/paged_decode.py(8): sparse_attn_v4_paged_decode", at + 50, 20);
    work.go_to(at + 50);
    work.launch("attention");
  };
  layer(0, {"qk_norm_rope_H32_D512_RD64_flydsl"});
  layer(100, {"_update_compressor_states_kernel"});
  layer(200, {"fused_compress_attn_D512", "hca_norm_rope_scatter_D512"});
  t.python("v4/paged_decode.py(8): sparse_attn_v4_paged_decode", 350, 20);  // in no such op
  work.go_to(350);
  work.launch("attention");
  const Trace trace =
      add_pseudo_ops(t.finish(), {.model_name = "DeepSeek-V4-Pro", .tensor_parallel = 4});
  const std::string frame =
      " below v4/paged_decode.py(8): sparse_attn_v4_paged_decode around "
      "hipLaunchKernel / attention";
  EXPECT_THAT(added(trace), ElementsAre("pseudo_v4_paged_decode_swa" + frame,
                                        "pseudo_v4_paged_decode_csa" + frame,
                                        "pseudo_v4_paged_decode_hca" + frame));
  EXPECT_EQ(extra(trace, 0, "v4_H_Q"), Value{32});
  EXPECT_EQ(extra(trace, 0, "v4_d_h"), Value{512});
  EXPECT_EQ(extra(trace, 0, "v4_tp"), Value{4});
  EXPECT_EQ(extra(trace, 0, "v4_model_name"), Value{"DeepSeek-V4-Pro"});
  EXPECT_TRUE(extra(trace, 1, "v4_H_Q").is_null());
}

// --- nothing to do ---

TEST(PseudoOps, AnOrdinaryTraceStaysAsItIs) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  t.launch("cudaLaunchKernel", 1, 1, {.name = "gemm", .ts = 20, .dur = 5});
  const Trace trace = add_pseudo_ops(t.finish());
  EXPECT_EQ(trace.recorded(), trace.size());
  EXPECT_TRUE(trace.given_parents().empty());
}

// A kernel without a launch, a launch without a caller.
TEST(PseudoOps, WorkWithoutAPlaceInTheTreeGetsNone) {
  TestTrace t;
  t.op("vllm::moe_forward", 0, 10);
  t.launch("hipLaunchKernel", 50, 1, {.name = "_matmul_ogs", .ts = 60, .dur = 1});
  t.gpu({.name = "_matmul_ogs", .ts = 70, .dur = 1});
  EXPECT_THAT(added(add_pseudo_ops(t.finish())), IsEmpty());
}

}  // namespace
}  // namespace tracelens
