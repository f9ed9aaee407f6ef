#include "perf/core/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "perf/registry/test_call.hpp"

namespace tracelens::perf {
namespace {

class ExpressionTest : public testing::Test {
 protected:
  [[nodiscard]] double evaluate(std::string_view text) const {
    return Expression::parse(text, names_)
        .evaluate(Arguments{call_, Pass::kForward, kEdition}, values_);
  }
  [[nodiscard]] std::string reason(std::string_view text) const {
    try {
      return std::to_string(evaluate(text));
    } catch (const Reason& reason) {
      return reason.text;
    }
  }
  // "offset: text", or what it was read as.
  [[nodiscard]] std::string syntax_error(std::string_view text) const {
    try {
      return "read as " + std::to_string(evaluate(text));
    } catch (const Expression::SyntaxError& error) {
      return std::to_string(error.offset) + ": " + error.text;
    }
  }

  static constexpr Edition kEdition = Edition::kExtended;
  const std::vector<std::string> names_ = {"M", "K"};
  const std::vector<double> values_ = {7, 3};
  const Signature args_ =
      signature_from_json("[[8, 4], [4, 2], [], [[2, 2], [3]]]",
                          R"(["c10::BFloat16", "float", "Scalar", "TensorList"])",
                          R"(["", "", "0.5", "True"])", "[[4, 1], [2, 1], [], [[2, 1], [1]]]");
  const OpCall call_{.name = "my::op", .args = args_};
};

TEST_F(ExpressionTest, OperatorsBindAsOnPaper) {
  EXPECT_EQ(evaluate("1 + 2 * 3 - 4 / 2"), 1 + 6 - 2);
  EXPECT_EQ(evaluate("(1 + 2) * 3"), 9);
  EXPECT_EQ(evaluate("10 - 4 - 3"), 3);
  EXPECT_EQ(evaluate("17 % 5 * 2"), 4);
  EXPECT_EQ(evaluate("2 ^ 3 ^ 2"), 512);
  EXPECT_EQ(evaluate("-2 ^ 2"), -4);
  EXPECT_EQ(evaluate("2 ^ -1"), 0.5);
  EXPECT_EQ(evaluate("--2"), 2);
  EXPECT_EQ(evaluate("1.5e3 + .5"), 1500.5);
}

TEST_F(ExpressionTest, NamesStandForTheirValues) { EXPECT_EQ(evaluate("2*M*K"), 2 * 7 * 3); }

TEST_F(ExpressionTest, ArgumentsAreReadFromTheCall) {
  EXPECT_EQ(evaluate("dims[0][1]"), 4);
  EXPECT_EQ(evaluate("dims[1][-1]"), 2);
  EXPECT_EQ(evaluate("dims[M - 7][K - 2]"), 4);
  EXPECT_EQ(evaluate("strides[0][0]"), 4);
  EXPECT_EQ(evaluate("rank(0) + numel(1)"), 2 + 8);
  EXPECT_EQ(evaluate("elem(0) + elem(1)"), 2 + 4);
  EXPECT_EQ(evaluate("concrete[2] + concrete[3]"), 1.5);
  EXPECT_EQ(evaluate("has(0) + 10*has(2) + 100*has(9)"), 1);
}

TEST_F(ExpressionTest, FunctionsTakeExpressions) {
  EXPECT_EQ(evaluate("max(1, dims[0][0], 3) + min(4, 2)"), 10);
  EXPECT_EQ(evaluate("ceil(M / 2) + floor(M / 2)"), 4 + 3);
}

TEST_F(ExpressionTest, WhatTheCallDoesNotHaveIsAReason) {
  EXPECT_EQ(reason("dims[4][0]"), "there is no argument 4, only 4");
  EXPECT_EQ(reason("dims[0][2]"), "there is no dimension of argument 0: 2, only 2");
  EXPECT_EQ(reason("dims[0][-3]"), "there is no dimension of argument 0: -3, only 2");
  EXPECT_EQ(reason("dims[0.5][0]"), "argument 0.5 is not a whole number");
  EXPECT_EQ(reason("dims[0][0/0]"), "division by zero");
  EXPECT_EQ(reason("1 % 0"), "division by zero");
  EXPECT_EQ(reason("numel(3)"), "argument 3: not the shape of one tensor");
  EXPECT_EQ(reason("elem(2) + elem(3)"), "element size of 'TensorList' is unknown");
  EXPECT_EQ(reason("concrete[0]"), "concrete input 0 is not a number: ''");
  EXPECT_EQ(reason("dims[10^400][0]"), "there is no argument inf, only 4");
}

TEST_F(ExpressionTest, SyntaxErrorsNameThePlace) {
  EXPECT_EQ(syntax_error(""), "0: expected a number, a name or '(', found the end");
  EXPECT_EQ(syntax_error("2 * "), "4: expected a number, a name or '(', found the end");
  EXPECT_EQ(syntax_error("2 M"), "2: expected an operator or the end, found 'M'");
  EXPECT_EQ(syntax_error("(2 + 1"), "6: expected ')', found the end");
  EXPECT_EQ(syntax_error("dims[0]"), "7: expected '[', found the end");
  EXPECT_EQ(syntax_error("1 + N"), "4: unknown name 'N'; defined so far: M, K");
  EXPECT_EQ(syntax_error("rank(0, 1)"), "0: rank takes 1 argument, not 2");
  EXPECT_EQ(syntax_error("1e999"), "0: not a number");
  EXPECT_EQ(syntax_error("import('os')"), "0: unknown name 'import'; defined so far: M, K");
}

TEST_F(ExpressionTest, DepthIsBoundedAndLengthIsNot) {
  const std::string deep(100'000, '('), signs(100'000, '-');
  EXPECT_NE(syntax_error(deep).find("nested too deeply"), std::string::npos);
  EXPECT_NE(syntax_error(signs + "1").find("nested too deeply"), std::string::npos);
  std::string powers = "1", sum = "1";
  for (int i = 1; i < 20'000; ++i) powers += "^1", sum += "+1";
  EXPECT_NE(syntax_error(powers).find("nested too deeply"), std::string::npos);
  EXPECT_EQ(evaluate(sum), 20'000);
}

TEST_F(ExpressionTest, WordsOfTheLanguageAreNotFree) {
  EXPECT_TRUE(Expression::is_free_name("head_dim_2"));
  for (const std::string_view taken : {"dims", "min", "", "2M", "a-b", "a b"})
    EXPECT_FALSE(Expression::is_free_name(taken)) << taken;
}

}  // namespace
}  // namespace tracelens::perf
