#include <tracelens/model_tables.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <tracelens/error.hpp>

#include "perf/registry/op_registry.hpp"

namespace tracelens {
namespace {

std::string error_of(const ArgumentTexts& texts) {
  try {
    (void)model_arguments("aten::mm", texts);
    return "fine";
  } catch (const Error& error) {
    return error.what();
  }
}

Table answer(std::string_view op, const ArgumentTexts& texts, const Gpu* gpu = nullptr) {
  const Signature args = model_arguments(op, texts);
  return model_answer({.name = op, .args = args}, gpu);
}

TEST(ModelAnswer, GivesWorkAndRoof) {
  const Table table =
      answer("aten::mm", {.dims = "[[4096,8192],[8192,1024]]", .dtype = "bf16"}, find_gpu("H200"));
  const auto integer = [&](const char* name) { return table.column(name).integers()[0]; };
  const auto real = [&](const char* name) { return table.column(name).reals()[0]; };
  constexpr double kFlops = 2.0 * 4096 * 8192 * 1024;
  EXPECT_EQ(integer("FLOPs"), 2LL * 4096 * 8192 * 1024);
  EXPECT_EQ(integer("bytes"), 2LL * (4096 * 8192 + 8192 * 1024 + 4096 * 1024));
  EXPECT_EQ(table.column("category").texts()[0], "GEMM");
  EXPECT_EQ(table.column("compute spec").texts()[0], "matrix_bf16");
  EXPECT_EQ(table.column("bound").texts()[0], "compute");
  EXPECT_EQ(table.column("param: K").nested()[0], Value{8192});
  EXPECT_DOUBLE_EQ(real("ridge point"), 989.4e12 / 4800e9);
  EXPECT_DOUBLE_EQ(real("best time"), kFlops / 989.4e12 * 1e6);
  EXPECT_DOUBLE_EQ(real("attainable"), 989.4);
}

TEST(ModelAnswer, SaysWhyThereIsNone) {
  EXPECT_EQ(answer("my::op", {}).column("reason").texts()[0], "no model for my::op");
  EXPECT_EQ(answer("aten::mm", {.dims = "[[8,4]]"}).column("reason").texts()[0],
            "argument 1: Input Dims has only 1 entries");
}

TEST(ModelAnswer, ScalarArgumentsDefaultToWhatTheOpAssumes) {
  const Table conv = answer("aten::convolution", {.dims = "[[1,3,8,8],[16,3,3,3]]"});
  EXPECT_EQ(conv.column("FLOPs").integers()[0], 2LL * 16 * 6 * 6 * 3 * 3 * 3);
  const char* const qkv = "[[2,16,64,32],[2,16,64,32],[2,16,64,32]]";
  for (const char* op : {"aten::_scaled_dot_product_flash_attention",
                         "aten::_scaled_dot_product_efficient_attention",
                         "aten::_scaled_dot_product_cudnn_attention"}) {
    const Table table = answer(op, {.dims = qkv, .dtype = "fp16"});
    ASSERT_TRUE(table.has_column("FLOPs")) << op << ": " << table.column("reason").texts()[0];
    EXPECT_EQ(table.column("FLOPs").integers()[0], 2LL * 2 * 16 * 64 * 64 * (32 + 32)) << op;
  }
}

TEST(ModelAnswer, HugeSizesStayNumbers) {
  const Table table = answer("aten::mm", {.dims = "[[281474976710656,8],[8,281474976710656]]"});
  EXPECT_DOUBLE_EQ(table.column("FLOPs").reals()[0], 16 * std::pow(2.0, 96));
}

TEST(ModelArguments, BadTextsAreErrorsThatNameTheFlag) {
  EXPECT_EQ(error_of({.dims = "[[8,4]"}),
            "--dims: expected a JSON array such as [[8,4],[4,2]], found '[[8,4]'");
  EXPECT_EQ(error_of({.dims = "[8,4]"}).substr(0, 33), "--dims: expected a list of shapes");
  EXPECT_EQ(error_of({.dims = "[[-8]]"}).substr(0, 33), "--dims: expected a list of shapes");
  EXPECT_EQ(error_of({.dims = "[[[[1]]]]"}).substr(0, 33), "--dims: expected a list of shapes");
  EXPECT_EQ(error_of({.dims = "[]", .dtype = "fp7"}).substr(0, 28), "--dtype: unknown type 'fp7';");
  EXPECT_EQ(error_of({.dims = "[]", .types = "{}"}).substr(0, 31),
            "--types: expected a JSON array ");
  EXPECT_EQ(error_of({.dims = "[[[2,2],[3]],[]]", .dtype = "c10::Half"}), "fine");
}

TEST(ModelArguments, StridesAreContiguousUnlessGiven) {
  const Signature args = model_arguments("x", {.dims = "[[2,3,4],[]]"});
  EXPECT_EQ(args.strides, Value::tuple({Value::tuple({12, 4, 1}), Value::tuple({})}));
  EXPECT_EQ(args.types, Value::tuple({"float", "Scalar"}));
}

TEST(KnownModels, EveryModelOnASheetSaysWhatItReads) {
  const Table table = known_models(Edition::kExtended);
  EXPECT_EQ(table.rows(), perf::all_ops(Edition::kExtended).size());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.column("family").is_missing(row) || table.column("model").is_missing(row)) continue;
    EXPECT_FALSE(table.column("arguments").is_missing(row)) << table.column("op").texts()[row];
  }
}

TEST(KnownModels, AFamilyIsASheet) {
  const Table table = known_models(Edition::kReference, "GEMM");
  EXPECT_GT(table.rows(), 3u);
  for (const std::string& family : table.column("family").texts()) EXPECT_EQ(family, "GEMM");
  EXPECT_THROW((void)known_models(Edition::kReference, "Softmax"), Error);
}

TEST(ModelCard, LeavesMissingCellsOut) {
  const Table card = as_card(answer("my::op", {}));
  ASSERT_EQ(card.rows(), 3u);  // op, category, reason
  EXPECT_EQ(card.column("property").texts()[2], "reason");
}

}  // namespace
}  // namespace tracelens
