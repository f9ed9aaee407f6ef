// Where the extended edition is right and the reference edition repeats the Python TraceLens.
#include <gtest/gtest.h>

#include "perf/registry/op_registry.hpp"
#include "perf/registry/test_call.hpp"

namespace tracelens::perf {
namespace {

TEST(Corrections, ConvolutionCountsItsBias) {
  const TestCall call{"aten::convolution",
                      "[[1, 2, 4, 4], [3, 2, 1, 1], [3], [], [], [], [], [], []]",
                      R"(["float", "float", "float", "", "", "", "", "", ""])",
                      R"(["", "", "", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"])"};
  const double products = 2 * (3 * 4 * 4) * 2, outputs = 3 * 4 * 4;
  EXPECT_EQ(call.work()->flops, products);
  EXPECT_EQ(call.corrected()->flops, products + outputs);
  EXPECT_EQ(*call.corrected()->bytes - *call.work()->bytes, 3 * 4);
}

TEST(Corrections, ConvolutionBackwardSkipsGradientsNobodyWants) {
  const TestCall call{"aten::convolution_backward",
                      "[[1, 3, 4, 4], [1, 2, 4, 4], [3, 2, 1, 1], [], [], [], [], [], [], [], []]",
                      R"(["float", "float", "float", "", "", "", "", "", "", "", ""])",
                      R"(["", "", "", "[0]", "[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1",
          "[False, True, False]"])"};
  EXPECT_EQ(call.work()->flops, 2 * call.corrected()->flops);
}

TEST(Corrections, ShapesWithoutTypesTellTheOperationsAndNoBytes) {
  const TestCall typed{"aten::mm", "[[2, 3], [3, 4]]", R"(["float", "float"])", ""},
      untyped{"aten::mm", "[[2, 3], [3, 4]]", "", ""};
  EXPECT_FALSE(untyped.work());  // as the reference
  const OrReason<Work> work = untyped.corrected();
  ASSERT_TRUE(work);
  EXPECT_EQ(work->flops, typed.corrected()->flops);
  EXPECT_FALSE(work->bytes.has_value());
  EXPECT_TRUE(work->compute_spec.empty());
  EXPECT_TRUE(TestCall("aten::add_", "[[8, 4], [8, 4], []]", "").corrected());  // nor strides
  for (const Param& param : work->params) EXPECT_EQ(param.name.find("dtype"), std::string::npos);
}

TEST(Corrections, CausalAttentionMayHaveMoreKeysThanQueries) {
  const TestCall call{"aten::_scaled_dot_product_flash_attention",
                      "[[1, 1, 2, 8], [1, 1, 4, 8], [1, 1, 4, 8], [], [], [], []]",
                      R"(["float", "float", "float", "", "", "", ""])",
                      R"(["", "", "", "0.", "True", "False", ""])"};
  EXPECT_FALSE(call.work());
  // The two queries see 3 and 4 of the 4 keys.
  EXPECT_DOUBLE_EQ(call.corrected()->flops, 2.0 * (3 + 4) * (8 + 8));
}

TEST(Corrections, AttentionBytesFollowTheElementType) {
  const TestCall call{"aten::_scaled_dot_product_flash_attention",
                      "[[1, 1, 4, 8], [1, 1, 4, 8], [1, 1, 4, 8], [], [], [], []]",
                      R"(["float", "float", "float", "", "", "", ""])",
                      R"(["", "", "", "0.", "False", "False", ""])"};
  EXPECT_EQ(*call.corrected()->bytes, 2 * *call.work()->bytes);
}

TEST(Corrections, CopiesComputeNothing) {
  const TestCall call{"aten::copy_", "[[8], [8], []]", R"(["float", "float", "Scalar"])",
                      R"(["", "", "False"])", "[[1], [1], []]"};
  EXPECT_EQ(call.work()->flops, 8);
  EXPECT_EQ(call.corrected()->flops, 0);
  EXPECT_EQ(call.corrected()->bytes, call.work()->bytes);
}

TEST(Corrections, ReductionsReadTheirDimensions) {
  const TestCall call{"aten::sum", "[[8, 4], [], [], []]", R"(["float", "", "", ""])",
                      R"(["", "[1]", "False", ""])"};
  EXPECT_EQ(*call.work()->bytes, (32 + 1) * 4);
  EXPECT_EQ(*call.corrected()->bytes, (32 + 8) * 4);
}

TEST(Corrections, TheTypeOfAResultIsNotADimension) {
  const auto bytes = [](std::string_view op, std::string_view values) {
    const TestCall call{op, "[[8, 4], []]", R"(["float", "Scalar"])", values};
    return *call.corrected()->bytes;
  };
  for (const std::string_view op : {"aten::sum", "aten::mean", "aten::prod"})
    EXPECT_EQ(bytes(op, R"(["", "1"])"), (32 + 1) * 4) << op;
  EXPECT_EQ(bytes("aten::count_nonzero", R"(["", "1"])"), (32 + 8) * 4);
}

TEST(Corrections, ComparisonsWriteOneBytePerElement) {
  const auto bytes = [](std::string_view op) {
    const TestCall call{op, "[[16], [16]]", R"(["float", "float"])", R"(["", ""])", "[[1], [1]]"};
    return *call.corrected()->bytes;
  };
  EXPECT_EQ(bytes("aten::eq"), 16 * (4 + 4 + 1));
  EXPECT_EQ(bytes("aten::logical_and"), 16 * (4 + 4 + 1));
  EXPECT_EQ(bytes("aten::maximum"), 16 * (4 + 4 + 4));
  const TestCall call{"aten::isnan", "[[16]]", R"(["float"])", R"([""])", "[[1]]"};
  EXPECT_EQ(*call.corrected()->bytes, 16 * (4 + 1));
}

TEST(Corrections, AnOpInPlaceWritesTheTypeOfWhatItReplaces) {
  const TestCall call{"aten::mul_", "[[16], [16]]", R"(["c10::BFloat16", "float"])", R"(["", ""])",
                      "[[1], [1]]"};
  EXPECT_EQ(*call.work()->bytes, 16 * (2 + 4 + 4));
  EXPECT_EQ(*call.corrected()->bytes, 16 * (2 + 4 + 2));
}

TEST(Corrections, NormOrderIsNotADimension) {
  const TestCall call{"aten::norm", "[[8, 4], []]", R"(["float", "Scalar"])", R"(["", "1"])"};
  EXPECT_EQ(*call.corrected()->bytes, (32 + 1) * 4);
}

TEST(Corrections, BatchNormInEvaluationIsNotTraining) {
  const TestCall call{"aten::batch_norm", "[[2, 4, 8], [4], [4], [4], [4], [], [], [], []]",
                      R"(["float", "float", "float", "float", "float", "", "", "", ""])",
                      R"(["", "", "", "", "", "False", "0.1", "1e-05", "True"])",
                      "[[32, 8, 1], [1], [1], [1], [1], [], [], [], []]"};
  EXPECT_EQ(call.work()->flops - call.corrected()->flops, 3 * 2 * 4 * 8);
}

TEST(Corrections, ScalarFirstDoesNotWidenTheResult) {
  const TestCall call{"aten::mul", "[[], [16]]", R"(["double", "c10::BFloat16"])", R"(["", ""])",
                      "[[], [1]]"};
  EXPECT_EQ(*call.work()->bytes, 8 + 16 * 2 + 16 * 8);
  EXPECT_EQ(*call.corrected()->bytes, 8 + 16 * 2 + 16 * 2);
}

TEST(Corrections, BoolHasASize) {
  const TestCall call{"aten::copy_", "[[8], [8], []]", R"(["bool", "bool", ""])", "",
                      "[[1], [1], []]"};
  EXPECT_FALSE(call.work()->bytes);
  EXPECT_EQ(call.corrected()->bytes, 16);
}

TEST(Corrections, EightBitIntegerProductsHaveAPeak) {
  const TestCall call{"aten::_scaled_mm", "[[8, 8], [8, 8], [], []]",
                      R"(["signed char", "signed char", "", ""])", R"(["", "", "", ""])"};
  EXPECT_EQ(call.work()->compute_spec, "");
  EXPECT_EQ(call.corrected()->compute_spec, "matrix_int8");
}

TEST(Corrections, PackedFp4CountsBothValuesOfAPair) {
  const TestCall call{"aten::_scaled_mm", "[[8, 16], [16, 4], [], []]",
                      R"(["c10::Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", "", ""])",
                      R"(["", "", "", ""])"};
  EXPECT_EQ(call.corrected()->flops, 2.0 * 8 * 4 * 32);
  EXPECT_EQ(call.corrected()->bytes, 8 * 16 + 16 * 4 + 2 * 8 * 4);
}

TEST(OurModels, AttentionBackwardNeedsNoForward) {
  const TestCall call{
      "aten::_cudnn_attention_backward",
      "[[1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4, 8], [1, 2, 4, 1], [], [],"
      " [], [], [], [], [], [], [], []]",
      R"(["float", "float", "float", "float", "float", "float", "", "", "", "", "", "", "", "", "",
          ""])",
      R"(["", "", "", "", "", "", "", "", "", "", "", "4", "4", "0.", "True", ""])"};
  EXPECT_EQ(call.work().reason().kind, Reason::Kind::kNoModel);
  // Five products, half of each: QK^T again, and the gradients of V, P, Q and K.
  EXPECT_EQ(call.corrected()->flops, 5 * 2.0 * 2 * 4 * 4 * 8 / 2);
}

TEST(OurModels, IntegerProductsWriteThirtyTwoBits) {
  const TestCall call{"aten::_int_mm", "[[8, 4], [4, 2]]", R"(["signed char", "signed char"])"};
  EXPECT_EQ(call.corrected()->bytes, 8 * 4 + 4 * 2 + 8 * 2 * 4);
}

TEST(OurModels, SoftmaxReadsAndWritesOnce) {
  const TestCall call{"aten::_softmax", "[[4, 8], [], []]", R"(["c10::Half", "", ""])",
                      R"(["", "-1", "False"])"};
  EXPECT_EQ(call.corrected()->bytes, 2 * 32 * 2);
}

TEST(OurModels, EmbeddingReadsOnlyTheRowsItUses) {
  const TestCall call{"aten::index_select", "[[1000, 16], [], [4]]", R"(["float", "", "long int"])",
                      R"(["", "0", ""])"};
  EXPECT_EQ(call.corrected()->bytes, 2 * 4 * 16 * 4 + 4 * 8);
}

TEST(OurModels, ALookupReadsNoMoreThanTheTable) {
  const auto bytes = [](std::string_view op, std::string_view dims, std::string_view values) {
    const TestCall call{op, dims, R"(["float", "", "long int", ""])", values};
    return *call.corrected()->bytes;
  };
  const double large = (10 * 16 + 100 * 16) * 4 + 100 * 8;
  EXPECT_EQ(bytes("aten::embedding", "[[10, 16], [100]]", ""), large);
  EXPECT_EQ(bytes("aten::index_select", "[[10, 16], [], [100]]", R"(["", "0", ""])"), large);
  EXPECT_EQ(bytes("aten::index", "[[10, 16], [[100]]]", ""), large);
  EXPECT_EQ(bytes("aten::gather", "[[10], [], [100]]", R"(["", "0", ""])"),
            (10 + 100) * 4 + 100 * 8);
}

TEST(OurModels, ConcatenationKnowsElementsButNotTheirSize) {
  const TestCall call{"aten::cat", "[[[4, 1], [4, 2]], []]", R"(["TensorList", "Scalar"])",
                      R"(["", "1"])"};
  const auto work = call.corrected();
  ASSERT_TRUE(work);
  EXPECT_FALSE(work->bytes);
  EXPECT_EQ(work->params.back().value, Value{12});
}

TEST(OurModels, TheKernelOfAConcatenationTellsTheElementSize) {
  const Signature args =
      signature_from_json("[[[4, 1], [4, 2]], []]", R"(["TensorList", "Scalar"])", "", "");
  const auto bytes = [&](std::string_view kernel) {
    const std::string_view kernels[] = {"fill", kernel};
    return built_in_work({.name = "aten::cat", .args = args, .kernels = kernels}, Pass::kForward,
                         Edition::kExtended)
        ->bytes;
  };
  EXPECT_EQ(bytes("void CatArrayBatchedCopy<at::OpaqueType<2u>, unsigned int, 4, 64>(...)"),
            2 * 12 * 2);
  EXPECT_EQ(bytes("void CatArrayBatchedCopy_contig<OpaqueType<8>, int>(...)"), 2 * 12 * 8);
  EXPECT_EQ(bytes("void CatArrayBatchedCopy<OpaqueType<>, int>(...)"), std::nullopt);
  EXPECT_EQ(bytes("void copy<OpaqueType<2u>>(...)"), std::nullopt);
}

TEST(OurModels, MatricesThatDoNotFitHaveNoProduct) {
  const TestCall mm{"aten::mm", "[[4, 2], [3, 3]]", R"(["float", "float"])"};
  EXPECT_EQ(mm.corrected().reason().text, "the matrices do not fit: K is 2 and 3");
  EXPECT_TRUE(mm.work());  // as the Python TraceLens has it
  const TestCall bmm{"aten::bmm", "[[8, 4, 2], [9, 2, 3]]", R"(["float", "float"])"};
  EXPECT_EQ(bmm.corrected().reason().text, "the matrices do not fit: the batch is 8 and 9");
}

TEST(OurModels, RnnMultipliesEveryWeightMatrixOncePerStep) {
  const TestCall call{
      "aten::_cudnn_rnn",
      "[[2, 3, 4], [[20, 4], [20, 5], [20], [20]], [], [200], [], [], [], [], [],"
      " [], [], [], [], [], [], []]",
      R"(["float", "TensorList", "", "float", "", "", "", "", "", "", "", "", "", "",
                          "", ""])",
      R"(["", "", "4", "", "", "", "2", "5", "0", "1", "True", "0.", "True", "False",
                          "[]", ""])"};
  EXPECT_EQ(call.corrected()->flops, 2.0 * (20 * 4 + 20 * 5) * 2 * 3);
}

TEST(OurModels, TopKWritesValuesAndIndices) {
  const TestCall call{"aten::topk", "[[4, 100], [], [], [], []]", R"(["float", "", "", "", ""])",
                      R"(["", "8", "-1", "True", "True"])"};
  EXPECT_EQ(call.corrected()->bytes, (400 + 4 * 8) * 4 + 4 * 8 * 8);
}

TEST(OurModels, MaxPoolFindsItsOutputShape) {
  const TestCall call{"aten::max_pool2d_with_indices", "[[1, 1, 8, 8], [], [], [], [], []]",
                      R"(["float", "", "", "", "", ""])",
                      R"(["", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"])"};
  EXPECT_EQ(call.corrected()->bytes, (64 + 16) * 4 + 16 * 8);
}

TEST(OurModels, CombiningExpertsReadsTheOutputOfEach) {
  const Signature args =
      signature_from_json("[[32, 128], [32, 8]]", R"(["c10::BFloat16", "c10::BFloat16"])", "", "");
  const Value extra = Value::dict({"MoE topk"}, {4});
  const OpCall call{.name = "pseudo_op::moe_triton_unfused_finalize_matmul_scatter",
                    .args = args,
                    .extra = &extra};
  const OrReason<Work> work = built_in_work(call, Pass::kForward, Edition::kExtended);
  ASSERT_TRUE(work) << work.reason().text;
  EXPECT_EQ(work->flops, 32 * 128 * (4 + 3));
  EXPECT_EQ(work->bytes, 2 * 32 * 128 * (4 + 1));
  EXPECT_FALSE(built_in_work(call, Pass::kForward, Edition::kReference));
}

TEST(OurModels, RopeOfVllmIsThatOfSglang) {
  const std::string_view dims = "[[64], [64, 4096], [64, 1024], [], [40960, 128], []]";
  const std::string_view types =
      R"(["long int", "c10::BFloat16", "c10::BFloat16", "Scalar", "c10::BFloat16", "Scalar"])";
  const std::string_view values = R"(["", "", "", "128", "", "True"])";
  const TestCall vllm{"_C::rotary_embedding", dims, types, values};
  const TestCall sglang{"sgl_kernel::rotary_embedding", dims, types, values};
  EXPECT_EQ(vllm.corrected()->bytes, sglang.work()->bytes);
  EXPECT_FALSE(vllm.work());
}

TEST(OurModels, AnOpNamedAfterItsKernelAndANumberIsTritons) {
  EXPECT_EQ(op_category("sage_fwd_1", "sage_fwd", Edition::kExtended), "triton");
  EXPECT_EQ(op_category("sage_fwd_1", "sage_fwd", Edition::kReference), "other");
  EXPECT_EQ(op_category("sage_fwd", "sage_fwd", Edition::kExtended), "other");
  EXPECT_EQ(op_category("sage_fwd_x1", "sage_fwd", Edition::kExtended), "other");
}

TEST(OurModels, GroupedProductSharesRowsAmongTheGroups) {
  const TestCall call{"aten::_grouped_mm", "[[64, 8], [4, 8, 16], [4]]",
                      R"(["c10::BFloat16", "c10::BFloat16", "int"])", R"(["", "", ""])"};
  EXPECT_EQ(call.corrected()->flops, 2.0 * 64 * 8 * 16);
  EXPECT_EQ(call.corrected()->bytes, 2 * (64 * 8 + 4 * 8 * 16 + 64 * 16));
}

TEST(OurModels, GroupedProductsOfFlatOperandsHaveAnOutputPerOffset) {
  const double in = 64 * 8 + 8 * 16, out = 4 * 64 * 16;
  const TestCall plain{"aten::_grouped_mm", "[[64, 8], [8, 16], [4], [], []]",
                       R"(["c10::BFloat16", "c10::BFloat16", "int", "", ""])"};
  EXPECT_EQ(plain.corrected()->bytes, 2 * (in + out));
  const TestCall scaled{
      "aten::_scaled_grouped_mm", "[[64, 8], [8, 16], [256], [64], [4], [], [], [], []]",
      R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "int", "", "", "", ""])"};
  EXPECT_EQ(scaled.corrected()->bytes, in + 2 * out);
}

}  // namespace
}  // namespace tracelens::perf
