#include <gtest/gtest.h>

#include <stdexcept>
#include <tracelens/error.hpp>
#include <tracelens/model.hpp>

#include "perf/registry/test_call.hpp"

namespace tracelens {
namespace {

Signature half_matrices() {
  return perf::signature_from_json("[[8, 4], [4, 2]]", R"(["c10::Half", "c10::Half"])", "", "");
}

OrReason<Work> gemm(const OpCall& call) {
  const double m = tensor_shape(call, 0).at(0), n = tensor_shape(call, 1).at(1);
  return Work{.flops = 2 * n * tensor_elements(call, 0),
              .bytes = tensor_element_bytes(call, 0) * m * n};
}

TEST(ModelSet, AFunctionIsAskedBeforeTheModelsOfTraceLens) {
  ModelSet mine;
  mine.add("aten::mm", {.category = "GEMM"}, gemm);
  const Signature args = half_matrices();
  const OrReason<Work> work = op_work({.name = "aten::mm", .args = args}, {.models = &mine});
  ASSERT_TRUE(work) << work.reason().text;
  EXPECT_EQ(work->flops, 2 * 8 * 4 * 2);
  EXPECT_EQ(work->bytes, 2 * 8 * 2);
  EXPECT_EQ(work->compute_spec, "matrix_fp16");  // by its category and type
  EXPECT_EQ(op_work({.name = "aten::mm", .args = args})->bytes, 2 * (8 * 4 + 4 * 2 + 8 * 2));
}

TEST(ModelSet, NamesComeBeforePatterns) {
  ModelSet mine;
  mine.add_pattern("^my::", {.category = "mine"}, gemm);
  mine.add("my::gemm", {.category = "GEMM"}, gemm);
  EXPECT_EQ(op_category("my::gemm", "", {.models = &mine}), "GEMM");
  EXPECT_EQ(op_category("my::other", "", {.models = &mine}), "mine");
  EXPECT_EQ(op_category("my::gemm"), "other");
}

TEST(ModelSet, WhatAModelThrowsIsTheReason) {
  ModelSet mine;
  mine.add("a", {.category = "c"},
           [](const OpCall&) -> OrReason<Work> { throw std::runtime_error{"no idea"}; });
  mine.add("b", {.category = "c"}, [](const OpCall&) { return Work{.flops = -1}; });
  mine.add("c", {.category = "c"}, gemm);
  const Signature args;
  const auto reason = [&](const char* op) {
    return op_work({.name = op, .args = args}, {.models = &mine}).reason().text;
  };
  EXPECT_EQ(reason("a"), "no idea");
  EXPECT_EQ(reason("b"), "-1 is no amount of work");
  EXPECT_EQ(reason("c"), "the trace has no Input Dims for this op");
}

TEST(ModelSet, ACategoryLeavesTheModelAsItIs) {
  ModelSet mine;
  mine.add_category("aten::mm", "mine");
  mine.add_category("my::op", "mine");
  const Signature args = half_matrices();
  EXPECT_EQ(op_category("aten::mm", "", {.models = &mine}), "mine");
  EXPECT_EQ(op_work({.name = "aten::mm", .args = args}, {.models = &mine})->flops, 2 * 8 * 4 * 2);
  EXPECT_EQ(op_work({.name = "my::op", .args = args}, {.models = &mine}).reason().kind,
            Reason::Kind::kNoModel);
}

TEST(ModelSet, MistakesAreErrorsThatNameTheOp) {
  ModelSet mine;
  mine.add("a", {.category = "c"}, gemm);
  const auto error_of = [](auto add) {
    try {
      add();
    } catch (const Error& error) {
      return std::string{error.what()};
    }
    return std::string{};
  };
  EXPECT_EQ(error_of([&] { mine.add("a", {.category = "c"}, gemm); }),
            "a: there is a model for it already");
  EXPECT_EQ(error_of([&] { mine.add("b", {.category = "c", .sheet = "x"}, gemm); }),
            "b: no sheet 'x'");
  EXPECT_EQ(error_of([&] { mine.add_pattern("(", {.category = "c"}, gemm); }),
            "(: not a regular expression: missing ): (");
  EXPECT_EQ(mine.size(), 1u);
}

}  // namespace
}  // namespace tracelens
