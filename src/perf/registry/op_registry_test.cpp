#include "perf/registry/op_registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "perf/registry/families.hpp"
#include "perf/registry/sheets.hpp"

namespace tracelens::perf {
namespace {

TEST(OpRegistry, ExactNameDecidesTheCategory) {
  EXPECT_EQ(op_category("aten::mm", ""), "GEMM");
  EXPECT_EQ(op_category("aiter::silu_and_mul", ""), "elementwise");
  EXPECT_EQ(op_category("aten::_scaled_dot_product_cudnn_attention_backward", ""), "SDPA_bwd");
  EXPECT_EQ(op_category("aten::sum", "void at::native::elementwise_kernel<>()"), "reduce");
}

TEST(OpRegistry, PrefixDecidesBeforeTheKernel) {
  EXPECT_EQ(op_category("triton_per_token_quant_fp8", "void at::native::reduce_kernel<>"),
            "triton");
  EXPECT_EQ(op_category("record_param_comms_alltoall_base", ""), "record_param_comms");
}

TEST(OpRegistry, FirstNativeKernelDecidesForUnknownOps) {
  EXPECT_EQ(op_category("my::op", "void at::native::reduce_kernel<512, 4>(...)"), "reduce");
  EXPECT_EQ(op_category("my::op", "void at::native::vectorized_elementwise_kernel<4>"),
            "elementwise");
  EXPECT_EQ(op_category("my::op", "void at::native::(anonymous namespace)::multi_tensor_apply_k"),
            "multi_tensor_apply");
  EXPECT_EQ(op_category("my::op", "void my_elementwise_kernel"), "other");
  EXPECT_EQ(op_category("my::op", ""), "other");
}

TEST(OpRegistry, CategoryOfAModelledOpMayDifferFromItsSheet) {
  const OpInfo* op = find_op("aiter::fused_dynamic_mxfp4_quant_moe_sort_hip");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->category, "MoE_aux");
  EXPECT_EQ(op->sheet, "GroupQuant");
}

TEST(OpRegistry, ReferenceEditionHas245ModelledAnd47CategoryOnlyNames) {
  const auto ops = all_ops(Edition::kReference);
  const auto modelled =
      std::ranges::count_if(ops, [](const OpInfo* op) { return !op->model.empty(); });
  EXPECT_EQ(modelled, 245);
  EXPECT_EQ(ops.size() - static_cast<std::size_t>(modelled), 47u);
}

TEST(OpRegistry, NamesAreUniqueWithinAnEdition) {
  std::set<std::string_view> reference, extended;
  for (const Family* family : families())
    for (std::size_t row = 0; row < family->size; ++row) {
      const OpInfo& op = family->info(row);
      EXPECT_TRUE((op.edition == Edition::kExtended ? extended : reference).insert(op.name).second)
          << op.name;
    }
}

TEST(OpRegistry, EverySheetOfAnOpIsKnownInItsEdition) {
  for (const Edition edition : {Edition::kReference, Edition::kExtended})
    for (const OpInfo* op : all_ops(edition)) {
      EXPECT_FALSE(op->category.empty()) << op->name;
      EXPECT_TRUE(op->sheet.empty() ||
                  std::ranges::count(sheets(edition), op->sheet, &SheetInfo::name) == 1)
          << op->name;
    }
}

TEST(OpRegistry, OurRowsAddWhatTheReferenceCallsOther) {
  EXPECT_EQ(op_category("aten::_cudnn_attention_backward", ""), "other");
  EXPECT_EQ(op_category("aten::_cudnn_attention_backward", "", Edition::kExtended), "SDPA_bwd");
  EXPECT_EQ(op_category("aten::cat", "", Edition::kExtended), "Joining");
}

TEST(OpRegistry, OurEditionGivesAnOpsKernelsTheOpsCategory) {
  EXPECT_EQ(op_category("aten::sort->radixSort<a->b> (Synthetic Op)", "void radixSort",
                        Edition::kExtended),
            "Sorting");
}

TEST(OpRegistry, OurEditionTellsTheDirectionOfCopies) {
  EXPECT_EQ(op_category("aten::copy_", "Memcpy HtoD (Pageable -> Device)", Edition::kExtended),
            "copy_HtoD");
  EXPECT_EQ(op_category("aten::_local_scalar_dense", "Memcpy DtoH (Device -> Pageable)",
                        Edition::kExtended),
            "copy_DtoH");
  EXPECT_EQ(op_category("aten::copy_", "void at::native::elementwise", Edition::kExtended),
            "elementwise");
  EXPECT_EQ(op_category("aten::mm", "Memset (Device)", Edition::kExtended), "GEMM");
}

TEST(OpRegistry, OurEditionRecognisesCompiledTemplates) {
  EXPECT_EQ(op_category("triton_tem_fused_flex_attention_0", "", Edition::kExtended), "SDPA_fwd");
  EXPECT_EQ(op_category("triton_tem_fused_addmm_1", "", Edition::kExtended), "GEMM");
  EXPECT_EQ(op_category("triton_tem_fused_addmm_1", ""), "triton");
}

TEST(OpRegistry, OurEditionSaysWhatLaunchedWorkThatHasNoOp) {
  EXPECT_EQ(op_category("hipGraphLaunch", "Cijk_Ailk", Edition::kExtended), "graph");
  EXPECT_EQ(op_category("cudaLaunchKernelExC", "nvjet", Edition::kExtended), "runtime");
  EXPECT_EQ(op_category("Torch-Compiled Region: 0/0", "x", Edition::kExtended), "compiled_region");
  EXPECT_EQ(op_category("custom_op", "x", Edition::kExtended), "other");
  EXPECT_EQ(op_category("hipGraphLaunch", "Cijk_Ailk"), "other");
}

TEST(Sheets, OnlySomeFamiliesHaveABackwardSheet) {
  EXPECT_EQ(find_sheet("SDPA")->passes, SheetInfo::Passes::kTwoSheets);
  EXPECT_EQ(find_sheet("GEMM")->passes, SheetInfo::Passes::kOneSheet);
  EXPECT_EQ(find_sheet("aten::mm"), nullptr);
}

TEST(Sheets, ThoseOfTheReferenceComeFirst) {
  EXPECT_EQ(sheets(Edition::kReference).size(), 22U);
  EXPECT_EQ(sheets(Edition::kReference).back().name, "Reduce");
  EXPECT_TRUE(std::ranges::is_sorted(sheets(Edition::kExtended), {}, &SheetInfo::edition));
  EXPECT_GT(sheets(Edition::kExtended).size(), 22U);
}

TEST(OpRegistry, ReferenceEditionKnowsNoneOfOurRows) {
  for (const OpInfo* op : all_ops(Edition::kReference))
    EXPECT_EQ(op->edition, Edition::kReference) << op->name;
}

}  // namespace
}  // namespace tracelens::perf
