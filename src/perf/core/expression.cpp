// expression.cpp: a recursive-descent parser, bounded in depth, that writes postfix code.
#include "perf/core/expression.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "perf/core/literals.hpp"

namespace tracelens::perf {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// A position written by the user; negative ones count from the end.
std::size_t position(double index, std::size_t size, std::string_view what) {
  const double from_start = index < 0 ? index + static_cast<double>(size) : index;
  if (std::floor(index) != index) fail(fmt::format("{} {} is not a whole number", what, index));
  if (!(from_start >= 0 && from_start < static_cast<double>(size)))
    fail(fmt::format("there is no {} {}, only {}", what, index, size));
  return static_cast<std::size_t>(from_start);
}

std::size_t slot(double index, const Arguments& in) {
  return position(index, in.size(), "argument");
}

double stride(const Arguments& in, double argument, double dim) {
  const std::size_t of = slot(argument, in);
  const Value strides = in.stride(of);
  if (!strides.is_sequence()) fail(fmt::format("argument {}: no strides recorded", of));
  const Value& found = strides.items()[position(dim, strides.items().size(),
                                                fmt::format("stride of argument {}:", of))];
  if (!found.is_number()) fail(fmt::format("argument {}: not the strides of one tensor", of));
  return found.as_real();
}

double concrete(const Arguments& in, double index) {
  if (!in.has_concrete()) fail("the trace has no Concrete Inputs for this op");
  const std::size_t of = position(index, in.concrete_size(), "concrete input");
  const Value& value = in.concrete(of);
  if (value.is_number()) return value.as_real();
  if (value.kind() == Value::Kind::kBool) return value.as_bool() ? 1 : 0;
  if (const auto truth = parse_bool(value.as_text())) return *truth ? 1 : 0;
  if (const auto number = parse_real(value.as_text())) return *number;
  fail(fmt::format("concrete input {} is not a number: '{}'", of, value.as_text()));
}

}  // namespace

const Expression::Word* Expression::find_word(std::string_view name) {
  constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
  static constexpr Word kWords[] = {
      {"dims", Op::kDims, 2, 2, true},         {"strides", Op::kStrides, 2, 2, true},
      {"concrete", Op::kConcrete, 1, 1, true}, {"rank", Op::kRank, 1, 1, false},
      {"numel", Op::kElements, 1, 1, false},   {"elem", Op::kElementBytes, 1, 1, false},
      {"has", Op::kHas, 1, 1, false},          {"min", Op::kMin, 1, kAny, false},
      {"max", Op::kMax, 1, kAny, false},       {"ceil", Op::kCeil, 1, 1, false},
      {"floor", Op::kFloor, 1, 1, false},
  };
  const auto* const found = std::ranges::find(kWords, name, &Word::name);
  return found == std::end(kWords) ? nullptr : found;
}

bool Expression::is_free_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); }) &&
         find_word(name) == nullptr;
}

class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::span<const std::string> names)
      : text_{text}, names_{names} {}

  Expression run() {
    sum();
    if (skip_blanks() < text_.size()) unexpected("an operator or the end");
    return std::move(result_);
  }

 private:
  using Op = Expression::Op;

  // Every way down passes through here, so this is the one place that bounds the recursion.
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : depth_{parser.depth_} {
      if (++depth_ > Expression::kMaxDepth) parser.fail_at(parser.at_, "nested too deeply");
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth_; }

   private:
    int& depth_;
  };

  void sum() {
    const Level level{*this};
    product();
    for (;;) {
      if (accept('+'))
        product(), emit(Op::kAdd, 2);
      else if (accept('-'))
        product(), emit(Op::kSubtract, 2);
      else
        return;
    }
  }

  void product() {
    signed_power();
    for (;;) {
      if (accept('*'))
        signed_power(), emit(Op::kMultiply, 2);
      else if (accept('/'))
        signed_power(), emit(Op::kDivide, 2);
      else if (accept('%'))
        signed_power(), emit(Op::kRemainder, 2);
      else
        return;
    }
  }

  // -2^2 is -4, 2^-1 is 0.5 and 2^3^2 is 2^9, as on paper.
  void signed_power() {
    const Level level{*this};
    if (accept('-')) {
      signed_power();
      emit(Op::kNegate, 1);
      return;
    }
    atom();
    if (accept('^')) signed_power(), emit(Op::kPower, 2);
  }

  void atom() {
    if (accept('(')) {
      sum();
      expect(')');
      return;
    }
    const std::size_t start = skip_blanks();
    if (start < text_.size() && (is_digit(text_[start]) || text_[start] == '.')) return number();
    if (start < text_.size() && is_letter(text_[start])) return word();
    unexpected("a number, a name or '('");
  }

  void number() {
    double value = 0;
    const char* const first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc{}) fail_at(at_, "not a number");
    at_ += static_cast<std::size_t>(end - first);
    result_.steps_.push_back({.op = Op::kNumber, .number = value});
  }

  void word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (const Expression::Word* known = Expression::find_word(name)) {
      const std::size_t operands = known->indexed ? indexes(*known) : call();
      if (operands < known->least || operands > known->most)
        fail_at(start, fmt::format("{} takes {} argument{}, not {}", name, known->least,
                                   known->least == 1 ? "" : "s", operands));
      emit(known->op, operands);
      return;
    }
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) fail_at(start, unknown(name));
    result_.steps_.push_back(
        {.op = Op::kName, .operands = static_cast<std::size_t>(found - names_.begin())});
  }

  std::size_t indexes(const Expression::Word& array) {
    for (std::size_t i = 0; i < array.most; ++i) {
      expect('[');
      sum();
      expect(']');
    }
    return array.most;
  }

  std::size_t call() {
    expect('(');
    std::size_t operands = 1;
    for (sum(); accept(','); ++operands) sum();
    expect(')');
    return operands;
  }

  [[nodiscard]] std::string unknown(std::string_view name) const {
    std::string text = fmt::format("unknown name '{}'", name);
    for (std::size_t i = 0; i < names_.size(); ++i)
      text.append(i == 0 ? "; defined so far: " : ", ").append(names_[i]);
    return text;
  }

  void emit(Op op, std::size_t operands) {
    result_.steps_.push_back({.op = op, .operands = operands});
  }

  std::size_t skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n'))
      ++at_;
    return at_;
  }
  bool accept(char c) {
    if (skip_blanks() >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) unexpected(fmt::format("'{}'", c));
  }
  [[noreturn]] void unexpected(std::string_view expected) {
    const std::size_t here = skip_blanks();
    fail_at(here, here < text_.size()
                      ? fmt::format("expected {}, found '{}'", expected, text_[here])
                      : fmt::format("expected {}, found the end", expected));
  }
  [[noreturn]] void fail_at(std::size_t offset, std::string text) {
    throw Expression::SyntaxError{offset, std::move(text)};
  }

  std::string_view text_;
  std::span<const std::string> names_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Expression result_;
};

Expression Expression::parse(std::string_view text, std::span<const std::string> names) {
  return ExpressionParser{text, names}.run();
}

double Expression::apply(Op op, std::span<const double> x, const Arguments& in) {
  switch (op) {
    case Op::kAdd:
      return x[0] + x[1];
    case Op::kSubtract:
      return x[0] - x[1];
    case Op::kMultiply:
      return x[0] * x[1];
    case Op::kDivide:
    case Op::kRemainder:
      if (x[1] == 0) fail("division by zero");
      return op == Op::kDivide ? x[0] / x[1] : std::fmod(x[0], x[1]);
    case Op::kNegate:
      return -x[0];
    case Op::kPower:
      return std::pow(x[0], x[1]);
    case Op::kDims: {
      const std::size_t of = slot(x[0], in);
      const Shape shape = in.shape(of);
      return shape.at(position(x[1], shape.rank(), fmt::format("dimension of argument {}:", of)));
    }
    case Op::kStrides:
      return stride(in, x[0], x[1]);
    case Op::kConcrete:
      return concrete(in, x[0]);
    case Op::kRank:
      return static_cast<double>(in.shape(slot(x[0], in)).rank());
    case Op::kElements:
      return in.shape(slot(x[0], in)).elements();
    case Op::kElementBytes:
      return in.known_bytes(in.type(slot(x[0], in)));
    case Op::kHas:  // asking about an argument that is not there is what it is for
      return x[0] >= 0 && x[0] < static_cast<double>(in.size()) && in.has_tensor(slot(x[0], in));
    case Op::kMin:
      return std::ranges::min(x);
    case Op::kMax:
      return std::ranges::max(x);
    case Op::kCeil:
      return std::ceil(x[0]);
    case Op::kFloor:
      return std::floor(x[0]);
    case Op::kNumber:
    case Op::kName:
      break;  // no operands: evaluate() knows them
  }
  return 0;
}

double Expression::evaluate(const Arguments& in, std::span<const double> values) const {
  std::vector<double> stack;
  for (const Step& step : steps_) {
    if (step.op == Op::kNumber) {
      stack.push_back(step.number);
    } else if (step.op == Op::kName) {
      stack.push_back(values[step.operands]);
    } else {
      const auto operands = std::span{stack}.last(step.operands);
      const double value = apply(step.op, operands, in);
      stack.resize(stack.size() - step.operands);
      stack.push_back(value);
    }
  }
  return stack.back();
}

}  // namespace tracelens::perf
