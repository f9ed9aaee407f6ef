// binary.cpp: one output element from one element of each of two inputs, broadcast.
// FLOPs = elements of the output; bytes = both inputs read, output written.
#include <algorithm>
#include <iterator>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

// Shapes are aligned at their last dimension; a size of 1 stretches.
Shape broadcast(const Shape& a, const Shape& b) {
  const auto size_at = [](const Shape& shape, std::size_t back) {
    return back < shape.rank() ? shape.last(back) : 1;
  };
  std::vector<double> out(std::max(a.rank(), b.rank()));
  for (std::size_t back = 0; back < out.size(); ++back) {
    const double left = size_at(a, back), right = size_at(b, back);
    if (left != right && left != 1 && right != 1) fail("the two shapes do not broadcast");
    out[out.size() - 1 - back] = std::max(left, right);
  }
  return Shape{std::move(out)};
}

// Ops whose result is bool, whatever they compare.
bool compares(std::string_view op) {
  constexpr std::string_view kComparisons[] = {"aten::eq",          "aten::ge",        "aten::gt",
                                               "aten::le",          "aten::lt",        "aten::ne",
                                               "aten::logical_and", "aten::logical_or"};
  return std::ranges::find(kComparisons, op) != std::end(kComparisons);
}

// The size of a result whose type was not recorded. The reference takes the first operand's size
// even if that is a scalar (O-15), and the wider one even if the
// result replaces the first.
std::optional<double> result_bytes(const Arguments& in, const Shape& a, const Shape& b,
                                   std::optional<double> a_bytes, std::optional<double> b_bytes) {
  if (!a_bytes || !b_bytes) return std::nullopt;
  if (compares(in.call().name)) return in.bytes("bool");
  if (in.edition() != kReference && in.call().name.ends_with('_')) return a_bytes;
  if (!a.empty() && !b.empty()) return std::max(*a_bytes, *b_bytes);
  return in.edition() == kReference || !a.empty() ? a_bytes : b_bytes;
}

Work elementwise(const Arguments& in, bool may_have_out) {
  in.forward_only();
  const Shape a = in.shape(0), b = in.shape(1), out = broadcast(a, b);
  const bool has_out = may_have_out && in.has_tensor(2);
  const auto a_bytes = in.bytes(in.type(0)), b_bytes = in.bytes(in.type(1));
  const auto out_bytes = has_out ? in.bytes(in.type(2)) : result_bytes(in, a, b, a_bytes, b_bytes);
  std::optional<double> bytes;
  if (a_bytes && b_bytes && out_bytes)
    bytes = a.elements() * *a_bytes + b.elements() * *b_bytes + out.elements() * *out_bytes;
  return in.work(out.elements(), bytes, Unit::kVector, in.type(0),
                 {{"shape_in1", a.tuple()},
                  {"shape_in2", b.tuple()},
                  {"dtype_in1_in2_out",
                   Value::tuple({in.type(0), in.type(1), has_out ? Value{in.type(2)} : Value{}})},
                  {"stride_input1", in.stride(0)},
                  {"stride_input2", in.stride(1)},
                  {"stride_output", has_out ? in.stride(2) : Value{}}});
}

Work binary(const Arguments& in) { return elementwise(in, true); }
Work silu_mul(const Arguments& in) { return elementwise(in, false); }

constexpr ModelledOp op(std::string_view name, Edition edition = kReference) {
  return {{.name = name,
           .model = "aten_binary_elementwise",
           .category = "elementwise",
           .sheet = "BinaryElementwise",
           .edition = edition},
          binary};
}

constexpr ModelledOp kOps[] = {
    {{.name = "LigerSiLUMulFunction",
      .model = "liger_silu_mul_function",
      .category = "elementwise",
      .sheet = "BinaryElementwise"},
     silu_mul},
    op("aten::div"),
    op("aten::div_"),
    op("aten::mul"),
    op("aten::mul_"),
    op("aten::add"),
    op("aten::add_"),
    op("aten::sigmoid_backward"),
    op("aten::threshold_backward"),
    op("aten::atan2", kExtended),
    op("aten::bitwise_and", kExtended),
    op("aten::bitwise_or", kExtended),
    op("aten::eq", kExtended),
    op("aten::floor_divide", kExtended),
    op("aten::fmod", kExtended),
    op("aten::ge", kExtended),
    op("aten::gelu_backward", kExtended),
    op("aten::gt", kExtended),
    op("aten::hardtanh_backward", kExtended),
    op("aten::le", kExtended),
    op("aten::leaky_relu_backward", kExtended),
    op("aten::logical_and", kExtended),
    op("aten::logical_or", kExtended),
    op("aten::lt", kExtended),
    op("aten::masked_fill_", kExtended),
    op("aten::maximum", kExtended),
    op("aten::minimum", kExtended),
    op("aten::ne", kExtended),
    op("aten::remainder", kExtended),
    op("aten::silu_backward", kExtended),
    op("aten::sub", kExtended),
    op("aten::sub_", kExtended),
    op("aten::tanh_backward", kExtended),
};

}  // namespace

constinit const Family kBinaryElementwise = modelled<kOps>();

}  // namespace tracelens::perf
