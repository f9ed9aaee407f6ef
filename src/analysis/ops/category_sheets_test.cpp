#include "analysis/ops/category_sheets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/kit/test_ops.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(const std::vector<Table>& tables) {
  std::vector<std::string> result;
  for (const Table& table : tables) result.push_back(table.name());
  return result;
}

TEST(CategorySheets, RowsAreOpsAndModelParametersWithOrWithoutGpuWork) {
  TestTrace t;
  t.op("aten::mm", 0, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 1, 1, {.name = "nvjet_x_TNT", .ts = 100, .dur = 4});
  t.op("aten::mm", 20, 10, matrices(2, 3, 4));
  t.launch("cudaLaunchKernel", 21, 1, {.name = "nvjet_x_NNT", .ts = 110, .dur = 6});
  t.op("aten::mm", 40, 10, matrices(2, 3, 4));  // on the CPU
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  const std::vector<Table> tables = category_sheets(input);
  ASSERT_THAT(names(tables), ElementsAre("GEMM"));
  const Table& gemm = tables[0];
  EXPECT_THAT(column(gemm, "param: transpose"), ElementsAre("(False, False)", "(True, False)", ""));
  EXPECT_THAT(column(gemm, "param: M"), ElementsAre("2", "2", "2"));
  EXPECT_THAT(column(gemm, "Kernel Time (µs)_sum"), ElementsAre("6.0", "4.0", "0.0"));
  EXPECT_THAT(column(gemm, "TFLOPS/s_mean"), ElementsAre("8e-06", "1.2e-05", ""));
  EXPECT_EQ(cell(gemm, "Input Dims_first", 0), "[[2, 3], [3, 4]]");
  EXPECT_EQ(cell(gemm, "kernel_details__summarize_kernel_stats", 2), "[]");
}

TEST(CategorySheets, AnOpWhoseArgumentsTheModelCannotReadIsLeftOut) {
  TestTrace t;
  t.op("aten::mm", 0, 10);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  EXPECT_TRUE(category_sheets(input).empty());
}

TEST(CategorySheets, ARecordedConvolutionBackwardIsOnTheBackwardSheet) {
  const auto conv = [](bool backward) {
    Signature call;
    const Value image = Value::tuple({1, 2, 8, 8}), filter = Value::tuple({4, 2, 3, 3});
    const Value none = Value::tuple({}), out = Value::tuple({1, 4, 6, 6});
    std::vector<Value> dims, types, strides, values;
    const auto add = [&](const Value& shape, const char* type, const char* value) {
      dims.push_back(shape);
      types.emplace_back(type);
      strides.push_back(none);
      values.emplace_back(value);
    };
    if (backward) add(out, "float", "");
    add(image, "float", "");
    add(filter, "float", "");
    add(none, "", backward ? "[0]" : "");
    for (const char* value : {"[1, 1]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1"})
      add(none, "", value);
    if (backward) add(none, "", "[True, True, False]");
    call.dims = Value::tuple(dims);
    call.types = Value::tuple(types);
    call.strides = Value::tuple(strides);
    call.concrete = Value::tuple(values);
    return call;
  };
  TestTrace t;
  t.op("aten::convolution", 0, 10, conv(false));
  t.launch("cudaLaunchKernel", 1, 1, {.name = "fprop", .ts = 100, .dur = 4});
  t.op("aten::convolution_backward", 20, 10, conv(true));
  t.launch("cudaLaunchKernel", 21, 1, {.name = "dgrad", .ts = 110, .dur = 6});
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput input{facts, {}};
  const std::vector<Table> tables = category_sheets(input);
  ASSERT_THAT(names(tables), ElementsAre("CONV_fwd", "CONV_bwd"));
  EXPECT_THAT(column(tables[0], "name"), ElementsAre("aten::convolution"));
  EXPECT_THAT(column(tables[1], "name"), ElementsAre("aten::convolution_backward"));

  // The reference's report of serving traces has forward sheets alone; nothing gets lost.
  OpInput serving{facts, {.inference = true}};
  const std::vector<Table> forward = category_sheets(serving);
  ASSERT_THAT(names(forward), ElementsAre("CONV_fwd"));
  EXPECT_THAT(column(forward[0], "name"),
              ElementsAre("aten::convolution_backward", "aten::convolution"));
}

TEST(CategorySheets, OfServingTracesNameTheirPassAndKnowTheStepOfAllAttention) {
  TestTrace t;
  t.event(Category::kUserAnnotation,
          "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)", 0,
          90);
  Signature norm = matrices(8, 16, 4), attention;
  norm.dims = Value::tuple({Value::tuple({8, 16, 4, 4}), Value::tuple({}), Value::tuple({16})});
  t.op("aiter::_groupnorm_run", 10, 5, norm);
  attention.dims = Value::tuple({Value::tuple({64, 64, 64}), Value::tuple({64, 8, 64})});
  attention.types = Value::tuple({"c10::BFloat16", "c10::BFloat16"});
  t.op("aiter::mha_varlen_fwd", 20, 5, attention);
  const Trace trace = t.finish();
  const TraceFacts facts{trace};
  OpInput training{facts, {}}, serving{facts, {.inference = true}};
  EXPECT_THAT(names(category_sheets(training)), ElementsAre("Normalization"));
  EXPECT_THAT(names(category_sheets(serving)),
              ElementsAre("InferenceAttention_fwd", "Normalization_fwd"));
}

}  // namespace
}  // namespace tracelens
