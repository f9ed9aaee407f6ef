#include "readers/database/emit_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tracelens/json.hpp>

namespace tracelens {
namespace {

TEST(EmittedOp, HasItsPartsInThisOrder) {
  const EmittedOp op = emitted_op(
      "aten::addmm, seq = 12, op_id = 34, sizes = [[512], [64, 512], []], input_op_ids = [(3,0), (0,-1)]");
  EXPECT_TRUE(op.is_op);
  EXPECT_EQ(op.name, "aten::addmm");
  EXPECT_EQ(op.sequence, 12);
  EXPECT_EQ(op.op_id, 34);
  EXPECT_EQ(json_text(dims_of(op)), "[[512], [64, 512], []]");
}

TEST(EmittedOp, OlderPyTorchHasFewer) {
  EXPECT_EQ(emitted_op("aten::relu, seq = 3").name, "aten::relu");
  EXPECT_TRUE(dims_of(emitted_op("aten::relu, seq = 3")).is_null());
  EXPECT_EQ(emitted_op("autograd::engine::evaluate_function: AddmmBackward0, seq = 7").name,
            "autograd::engine::evaluate_function: AddmmBackward0");
}

TEST(EmittedOp, ANumberThatIsTooLargeIsOneAllTheSame) {
  const EmittedOp op = emitted_op("x, seq = 12345678901234567890");
  EXPECT_TRUE(op.is_op);
  EXPECT_EQ(op.name, "x");
  EXPECT_EQ(op.sequence, kAbsent);
  EXPECT_FALSE(emitted_op("x, seq = 12a").is_op);
}

TEST(EmittedOp, WhatDoesNotFitIsAName) {
  for (const std::string_view text : {"load, sizes = unknown", "step 3", "", "x, seq = -1",
                                      "x, seq = 1 ", "x, sizes = [[1, 2]"}) {
    const EmittedOp op = emitted_op(text);
    EXPECT_FALSE(op.is_op) << text;
    EXPECT_EQ(op.name, text);
  }
}

TEST(EmittedOp, TheNameIsAsShortAsTheRestAllows) {
  EXPECT_EQ(emitted_op("a, seq = 1, seq = 2").name, "a, seq = 1");
  EXPECT_EQ(emitted_op("a, op_id = 1, seq = 2").name, "a, op_id = 1");
}

TEST(EmittedOp, AListOfTensorsStandsTogetherAgain) {
  EXPECT_EQ(json_text(dims_of(emitted_op("aten::cat, sizes = [[64, 512], [64, 512], []]"))),
            "[[[64, 512], [64, 512]], []]");
  EXPECT_EQ(json_text(dims_of(emitted_op("aten::mm, sizes = [[64, 512], [512, 8]]"))),
            "[[64, 512], [512, 8]]");
}

}  // namespace
}  // namespace tracelens
