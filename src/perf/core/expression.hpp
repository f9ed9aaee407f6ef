// expression.hpp: small formulas over the arguments of a call, for models written by users.
//   const std::string names[] = {"M", "N"};
//   const auto cost = Expression::parse("2*M*N*dims[0][1]", names);     // throws SyntaxError
//   cost.evaluate(arguments, values_of_the_names);                      // throws Reason
// The language, loosest first; everything is a double, so nothing wraps:
//   a + b, a - b    a * b, a / b, a % b    -a    a ^ b (from the right)    ( ), numbers, names
//   dims[i][j], strides[i][j], concrete[i]   recorded for argument i; -1 is the last one
//   rank(i), numel(i), elem(i), has(i)       dimensions, elements, bytes per element, 1 if a tensor
//   min(a, ...), max(a, ...), ceil(a), floor(a)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "perf/core/arguments.hpp"

namespace tracelens::perf {

class Expression {
 public:
  struct SyntaxError {
    std::size_t offset = 0;  // of the byte it was noticed at
    std::string text;
  };

  // Every name in the text must be one of `names`. Brackets may nest kMaxDepth deep.
  static constexpr int kMaxDepth = 100;
  [[nodiscard]] static Expression parse(std::string_view text, std::span<const std::string> names);

  // `values` belong to the `names` of parse(). Throws a Reason when an argument is missing or of
  // another kind, and on a division by zero; may give NaN or infinity.
  [[nodiscard]] double evaluate(const Arguments& in, std::span<const double> values) const;

  // Whether a name can be given a value: an identifier that the language does not use itself.
  [[nodiscard]] static bool is_free_name(std::string_view name);

 private:
  friend class ExpressionParser;
  enum class Op : std::uint8_t {
    kNumber,
    kName,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kNegate,
    kPower,
    kDims,
    kStrides,
    kConcrete,
    kRank,
    kElements,
    kElementBytes,
    kHas,
    kMin,
    kMax,
    kCeil,
    kFloor,
  };
  struct Word {  // of the language itself
    std::string_view name;
    Op op;
    std::size_t least, most;  // operands
    bool indexed;             // dims[i][j], not rank(i)
  };
  static const Word* find_word(std::string_view name);
  static double apply(Op op, std::span<const double> operands, const Arguments& in);

  // In the order of evaluation: an operator follows its operands.
  struct Step {
    Op op;
    double number = 0;         // of kNumber
    std::size_t operands = 0;  // it takes; of kName: which name
  };
  std::vector<Step> steps_;
};

}  // namespace tracelens::perf
