#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kGemm5;

namespace {

Signature square(int size, const char* type) {
  Signature call;
  call.dims = Value::tuple({Value::tuple({size, size}), Value::tuple({size, size})});
  call.types = Value::tuple({type, type});
  call.strides = Value::tuple({Value::tuple({size, 1}), Value::tuple({size, 1})});
  call.concrete = Value::tuple({"", ""});
  return call;
}

// 4096 cubed at 50 TFLOP/s, ten times.
Trace products(const char* type, std::string_view kernel) {
  TestTrace t;
  for (int i = 0; i < 10; ++i) {
    const double at = 20.0 * i;
    t.op("aten::mm", at, 15, square(4096, type));
    t.launch("cudaLaunchKernel", at + 2, 5, {.name = kernel, .ts = 20 + 2800.0 * i, .dur = 2750});
  }
  add_step(t, 1, 0, 28100);
  return t.finish();
}

TEST(Gemm5, ProductsInFp32RunFasterIn16Bit) {
  TestRun run{products("float", "sm80_xmma_gemm_f32f32_f32f32_f32")};
  const auto draft = run.find(kGemm5);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 80);
  ASSERT_EQ(draft->where.size(), 1U);
  EXPECT_EQ(draft->where.front().count, 10);
}

TEST(Gemm5, ProductsInFp64RunFasterInTf32) {
  TestRun run{products("double", "cutlass_80_tensorop_d884gemm")};
  const auto draft = run.find(kGemm5);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 83, 3);
  EXPECT_THAT(draft->verdict, testing::HasSubstr("Matrix products in fp64 take "));
  EXPECT_THAT(draft->tries.front(), testing::HasSubstr("make the tensors fp32"));
}

TEST(Gemm5, NotWhereTf32OrBf16IsUsed) {
  TestRun tf32{products("float", "sm80_xmma_gemm_f32f32_tf32f32_f32")};
  EXPECT_FALSE(tf32.find(kGemm5));
  TestRun bf16{products("c10::BFloat16", "nvjet_tst_128x128")};
  EXPECT_FALSE(bf16.find(kGemm5));
}

TEST(Gemm5, NotWithoutPeaks) {
  TestRun run{products("float", "sgemm"), {}};
  EXPECT_FALSE(run.find(kGemm5));
}

}  // namespace
}  // namespace tracelens
