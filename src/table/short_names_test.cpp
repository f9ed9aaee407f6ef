#include "table/short_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "table/utf8.hpp"

namespace tracelens {
namespace {

using ::testing::ElementsAre;

std::string short_name(const std::string& name, std::size_t columns) {
  return short_names({&name, 1}, columns).front();
}

TEST(ShortNames, ANameThatFitsStaysAsItIs) {
  EXPECT_EQ(short_name("void fill<float>(float*)", 30), "void fill<float>(float*)");
}

TEST(ShortNames, WhatSaysLeastGoesFirst) {
  const std::string name =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
      "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)";
  EXPECT_EQ(short_name(name, 120),
            "at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
            "std::array<char*, 3ul> >");
  EXPECT_EQ(short_name(name, 80),
            "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul> >");
  EXPECT_EQ(short_name(name, 70),
            "vectorized_elementwise_kernel<4, CUDAFunctor_add<…>, array<…> >");
  EXPECT_EQ(short_name(name, 40), "vectorized_elementwise_kernel<4, CUDAFu…");
}

TEST(ShortNames, ANameWithoutArgumentsIsCutInTheMiddle) {
  EXPECT_EQ(short_name("aten::_scaled_dot_product_flash_attention", 20), "aten::_scaled…ention");
}

TEST(ShortNames, ShapesAndPythonLinesAreNoFunctions) {
  EXPECT_EQ(short_name("((4, 16, 2048, 64), (4, 16, 2048, 64))", 20), "((4, 16, 2048…, 64))");
  EXPECT_EQ(short_name("torch/optim/adam.py(447): _single_tensor_adam", 30),
            "torch/optim/adam.py(…nsor_adam");
}

TEST(ShortNames, AnonymousNamespacesGo) {
  EXPECT_EQ(
      short_name("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float>(float*)",
                 32),
      "cunn_SoftMaxForward<8, float>");
}

TEST(ShortNames, NamesThatDifferStayDifferent) {
  const std::vector<std::string> names = {
      "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize32x32x8_stage3_cublas",
      "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x32x8_stage3_cublas",
      "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize128x32x8_stage3_cublas",
      "void f<at::native::A<float>, long>(int)",
      "void f<at::native::A<double>, long>(int)",
      "sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize32x32x8_stage3_cublas",
  };
  for (const std::size_t columns : {16u, 24u, 40u}) {
    const std::vector<std::string> texts = short_names(names, columns);
    EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 5) << columns;
    EXPECT_EQ(texts.front(), texts.back());
    for (const std::string& text : texts) EXPECT_LE(display_width(text), columns) << text;
  }
}

TEST(ShortNames, NamesThatDifferInTwoPlacesStayDifferent) {
  std::vector<std::string> names;
  for (const char* const a : {"aaaa", "bbbb"})
    for (const char* const b : {"1", "2"})
      names.push_back(std::string{"kernel_of_a_long_name_"} + a + "_with_a_long_middle_part_" + b +
                      "_and_a_tail");
  const std::vector<std::string> texts = short_names(names, 24);
  EXPECT_EQ(std::set<std::string>(texts.begin(), texts.end()).size(), 4);
}

TEST(ShortNames, ACallInsideANameIsNoSignature) {
  EXPECT_EQ(short_name("custom-call.1 jit(<lambda>)/dot_general", 30),
            "custom-call.1 jit(<lambda>)/d…");
}

TEST(ShortNames, UnbalancedBracketsDoNoHarm) {
  const std::vector<std::string> names = {"operator<<(((((((((((((((((((((",
                                          ">>>>>>))))))))))))))))",
                                          "f<g<h<i<j<k<l<m<n<o<p<q<r<s<t<u", "::::::::::::::::::()",
                                          "\xff\xfe(\xc3<é>é>é>é>é>é>é>é>é>é>é"};
  for (std::size_t columns = 0; columns < 30; ++columns)
    for (const std::string& text : short_names(names, columns))
      EXPECT_LE(display_width(text), std::max<std::size_t>(columns, 1));
}

}  // namespace
}  // namespace tracelens
