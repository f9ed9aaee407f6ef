#include "perf/hlo/hlo_work.hpp"

#include <gtest/gtest.h>

namespace tracelens::perf {
namespace {

constexpr hlo::ElementType kF32{11}, kBf16{16}, kS8{2}, kS32{4}, kF8{20};

hlo::Shape array(hlo::ElementType type, std::vector<std::int64_t> dims) {
  return {.type = type, .dims = std::move(dims), .minor_to_major = {}, .parts = {}};
}

// Modules for tests: each call adds an instruction to the computation at hand and gives its place.
class Maker {
 public:
  std::uint32_t add(std::string opcode, hlo::Shape shape,
                    std::vector<std::uint32_t> operands = {}) {
    hlo::Instruction& made = now().instructions.emplace_back();
    made.name = opcode + "." + std::to_string(now().instructions.size());
    made.opcode = std::move(opcode);
    made.shape = std::move(shape);
    made.operands = std::move(operands);
    return static_cast<std::uint32_t>(now().instructions.size() - 1);
  }
  std::uint32_t parameter(hlo::Shape shape, std::int64_t number) {
    const std::uint32_t at = add("parameter", std::move(shape));
    last().parameter = number;
    return at;
  }
  hlo::Instruction& last() { return now().instructions.back(); }
  // What was added so far becomes the body of a fusion in the next computation.
  std::uint32_t next_computation() {
    now().root = static_cast<std::uint32_t>(now().instructions.size() - 1);
    module.computations.emplace_back();
    return static_cast<std::uint32_t>(module.computations.size() - 2);
  }
  hlo::Place place() const {
    return {static_cast<std::uint32_t>(module.computations.size() - 1),
            static_cast<std::uint32_t>(module.computations.back().instructions.size() - 1)};
  }
  [[nodiscard]] OrReason<Work> work() const { return HloCosts{module}.work(place()); }

  hlo::Module module = [] {
    hlo::Module made;
    made.computations.emplace_back();
    return made;
  }();

 private:
  hlo::Computation& now() { return module.computations.back(); }
};

TEST(HloWork, ADotCostsTwoPerProductAndMovesItsThreeArrays) {
  Maker m;
  const auto a = m.add("parameter", array(kBf16, {2048, 4096}));
  const auto b = m.add("parameter", array(kBf16, {4096, 1024}));
  m.add("dot", array(kBf16, {2048, 1024}), {a, b});
  m.last().dot = hlo::DotDims{
      .lhs_contracting = {1}, .rhs_contracting = {0}, .lhs_batch = {}, .rhs_batch = {}};
  const auto work = m.work();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, 2.0 * 2048 * 1024 * 4096);
  EXPECT_EQ(work->bytes, 2.0 * (2048 * 4096 + 4096 * 1024 + 2048 * 1024));
  EXPECT_EQ(work->compute_spec, "matrix_bf16");
}

TEST(HloWork, SeveralContractedAndBatchDimensionsMultiply) {
  Maker m;
  const auto a = m.add("parameter", array(kF32, {3, 8, 5, 7}));  // batch 3, k 5 and 7
  const auto b = m.add("parameter", array(kF32, {3, 5, 7, 9}));
  m.add("dot", array(kF32, {3, 8, 9}), {a, b});
  m.last().dot = hlo::DotDims{
      .lhs_contracting = {2, 3}, .rhs_contracting = {1, 2}, .lhs_batch = {0}, .rhs_batch = {0}};
  const auto gemm = HloCosts{m.module}.gemm(m.place());
  ASSERT_TRUE(gemm);
  EXPECT_EQ(gemm->batch, 3);
  EXPECT_EQ(gemm->m, 8);
  EXPECT_EQ(gemm->n, 9);
  EXPECT_EQ(gemm->k, 35);
  EXPECT_EQ(gemm->flops(), 2.0 * 3 * 8 * 9 * 35);
}

TEST(HloWork, ALibraryGemmReadsItsConfigurationAndNotItsScratchSpace) {
  Maker m;
  const auto a = m.add("parameter", array(kBf16, {4096, 6144}));
  const auto b = m.add("parameter", array(kBf16, {2048, 6144}));
  hlo::Shape out{.type = hlo::kTuple, .dims = {}, .minor_to_major = {}, .parts = {}};
  out.parts = {array(kBf16, {4096, 2048}), array(kS8, {33554432})};
  m.add("custom-call", out, {a, b});
  m.last().target = "__cublas$lt$matmul";
  m.last().backend_config =
      R"({"gemm_backend_config":{"beta":0,"dot_dimension_numbers":{"lhs_contracting_dimensions":)"
      R"(["1"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":[],)"
      R"("rhs_batch_dimensions":[]},"epilogue":"DEFAULT"}})";
  const auto work = m.work();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, 2.0 * 4096 * 2048 * 6144);
  EXPECT_EQ(*work->bytes / (1 << 20), 88);
}

// Without dimension numbers two matrices would be an outer product: 2 * 1024^4 FLOPs here.
TEST(HloWork, ACallThatDoesNotSayWhatItContractsHasNoModel) {
  Maker m;
  const auto a = m.add("parameter", array(kF32, {1024, 1024}));
  const auto b = m.add("parameter", array(kF32, {1024, 1024}));
  m.add("custom-call", array(kF32, {1024, 1024}), {a, b});
  for (const char* const target : {"__cublas$lt$matmul", "__cublas$gemm"}) {
    m.last().target = target;
    for (const char* const config : {"", "{}", R"({"gemm_backend_config":{"beta":0}})"}) {
      m.last().backend_config = config;
      EXPECT_FALSE(m.work()) << target << " " << config;
    }
  }
}

TEST(HloWork, OnlyProductsOfALibraryAreProducts) {
  Maker m;
  const auto a = m.add("parameter", array(kF32, {64, 32}));
  const auto b = m.add("parameter", array(kF32, {32, 16}));
  m.add("custom-call", array(kF32, {64, 16}), {a, b});
  m.last().backend_config = R"({"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],)"
                            R"("rhs_contracting_dimensions":["0"]}})";
  for (const char* const target :
       {"__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8"}) {
    m.last().target = target;
    EXPECT_EQ(m.work()->flops, 2.0 * 64 * 16 * 32) << target;
  }
  for (const char* const target : {"__cublas$triangularSolve", "my_quantized_matmul_ffi"}) {
    m.last().target = target;
    EXPECT_FALSE(m.work()) << target;
    EXPECT_EQ(HloCosts{m.module}.kind(m.place()), "custom-call");
  }
}

TEST(HloWork, AnEightBitProductRunsAtItsOwnPeak) {
  EXPECT_EQ(hlo_compute_spec(kF8, true), "matrix_fp8");
}

// The convolution of the golden case: 16 channels that the Python TraceLens leaves out.
hlo::ConvDims conv3d() {
  return {.kernel_input_feature = 1,
          .kernel_output_feature = 0,
          .input_batch = 0,
          .input_feature = 1,
          .output_batch = 0,
          .output_feature = 1,
          .kernel_spatial = {2, 3, 4},
          .input_spatial = {2, 3, 4},
          .output_spatial = {2, 3, 4}};
}

TEST(HloWork, AConvolutionMultipliesEveryInputChannel) {
  Maker m;
  const auto x = m.add("parameter", array(kBf16, {1, 16, 32, 60, 104}));
  const auto w = m.add("parameter", array(kBf16, {5120, 16, 1, 2, 2}));
  m.add("custom-call", array(kBf16, {1, 5120, 34, 31, 53}), {x, w});
  m.last().target = "__cudnn$convForward";
  m.last().conv = conv3d();
  const auto work = m.work();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, 2.0 * (5120.0 * 34 * 31 * 53) * (16 * 1 * 2 * 2));
  EXPECT_EQ(work->bytes, 2.0 * (16 * 32 * 60 * 104 + 5120 * 16 * 4 + 5120 * 34 * 31 * 53));
}

TEST(HloWork, BothGradientsOfAConvolutionCostAsMuchAsTheForwardPass) {
  const hlo::Shape x = array(kBf16, {8, 64, 56, 56}), w = array(kBf16, {128, 64, 3, 3}),
                   y = array(kBf16, {8, 128, 56, 56});
  const double expected = 2.0 * (8 * 128 * 56 * 56) * (64 * 3 * 3);
  const auto flops = [&](const char* target, const hlo::Shape& a, const hlo::Shape& b,
                         const hlo::Shape& out) {
    Maker m;
    const auto first = m.add("parameter", a), second = m.add("parameter", b);
    m.add("custom-call", out, {first, second});
    m.last().target = target;
    m.last().conv = conv3d();
    m.last().conv->kernel_spatial = {2, 3};
    return m.work()->flops;
  };
  EXPECT_EQ(flops("__cudnn$convForward", x, w, y), expected);
  EXPECT_EQ(flops("__cudnn$convBackwardInput", y, w, x), expected);
  EXPECT_EQ(flops("__cudnn$convBackwardFilter", x, y, w), expected);
}

TEST(HloWork, ACausalMaskHalvesAttention) {
  Maker m;
  const auto qkv = m.add("parameter", array(kBf16, {2, 2048, 3, 16, 128}));
  const auto none = m.add("parameter", array(kBf16, {0}));
  m.add("custom-call", array(kBf16, {2, 2048, 16, 128}), {qkv, none, none, none});
  m.last().target = "te_fused_attn_forward_ffi";
  m.last().backend_config =
      "{attn_heads = 16 : i64, input_batch = 2 : i64, kv_max_seqlen = 2048 : i64, mask_type = 2 : "
      "i64, num_gqa_groups = 16 : i64, q_max_seqlen = 2048 : i64, qk_head_dim = 128 : i64, "
      "v_head_dim = 128 : i64}";
  EXPECT_EQ(m.work()->flops, 0.5 * 2 * 2 * 16 * 2048 * 2048 * (128 + 128));
  m.last().target = "te_fused_attn_backward_ffi";
  EXPECT_EQ(m.work()->flops, 0.5 * 2 * 2 * 16 * 2048 * 2048 * (3 * 128 + 2 * 128));
}

TEST(HloWork, AFusionIsTheSumOfItsBodyAndMovesItsOperandsOnce) {
  Maker m;
  const auto p = m.parameter(array(kF32, {64, 32}), 0);
  const auto square = m.add("multiply", array(kF32, {64, 32}), {p, p});
  const auto zero = m.add("constant", array(kF32, {}));
  m.add("reduce", array(kF32, {64}), {square, zero});
  const std::uint32_t body = m.next_computation();
  const auto x = m.add("parameter", array(kF32, {64, 32}));
  m.add("fusion", array(kF32, {64}), {x, x});
  m.last().calls = {body};
  const auto work = m.work();
  EXPECT_EQ(work->flops, 64 * 32 + 64 * 32);
  EXPECT_EQ(work->bytes, 4.0 * (64 * 32 + 64));
  EXPECT_EQ(work->compute_spec, "vector_fp32");
}

TEST(HloWork, ASliceReadsOnlyWhatItTakesAndAnUpdateWritesOnlyWhatChanges) {
  Maker m;
  const auto stack = m.parameter(array(kF32, {8, 512, 512}), 0);
  const auto index = m.parameter(array(kS32, {}), 1);
  m.add("dynamic-slice", array(kF32, {1, 512, 512}), {stack, index});
  const std::uint32_t slice = m.next_computation();
  const auto target = m.parameter(array(kF32, {8, 512, 512}), 0);
  const auto update = m.parameter(array(kF32, {1, 512, 512}), 1);
  m.add("dynamic-update-slice", array(kF32, {8, 512, 512}), {target, update});
  const std::uint32_t write = m.next_computation();
  const auto all = m.add("parameter", array(kF32, {8, 512, 512}));
  const auto at = m.add("parameter", array(kS32, {}));
  m.add("fusion", array(kF32, {1, 512, 512}), {all, at});
  m.last().calls = {slice};
  EXPECT_EQ(m.work()->bytes, 2 * 4.0 * 512 * 512 + 4);
  const auto one = m.add("parameter", array(kF32, {1, 512, 512}));
  m.add("fusion", array(kF32, {8, 512, 512}), {all, one});
  m.last().calls = {write};
  EXPECT_EQ(m.work()->bytes, 2 * 4.0 * 512 * 512);
}

TEST(HloWork, IntegersAreNoFlops) {
  Maker m;
  const auto x = m.add("parameter", array(kS32, {64}));
  m.add("add", array(kS32, {64}), {x, x});
  EXPECT_EQ(m.work()->flops, 0);
}

TEST(HloWork, AnUnknownCallGivesAReason) {
  Maker m;
  m.add("custom-call", array(kF32, {64}));
  m.last().target = "my_kernel";
  const auto work = m.work();
  ASSERT_FALSE(work);
  EXPECT_EQ(work.reason().kind, Reason::Kind::kNoModel);
}

TEST(HloWork, DamagedModulesNeitherCrashNorHang) {
  Maker m;
  m.add("fusion", array(kF32, {64}), {hlo::kNone});
  m.last().calls = {0};  // itself
  (void)m.work();
  m.add("dot", array(kF32, {64}), {0, hlo::kNone});
  m.last().dot = hlo::DotDims{
      .lhs_contracting = {7}, .rhs_contracting = {-1}, .lhs_batch = {}, .rhs_batch = {}};
  (void)m.work();
  SUCCEED();
}

}  // namespace
}  // namespace tracelens::perf
