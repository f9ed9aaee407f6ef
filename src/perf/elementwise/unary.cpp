// unary.cpp: one output element from one input element.
// FLOPs = elements of the output; bytes = input read, output written.
#include <fmt/core.h>

#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

Value either_type(std::string_view in_type, Value out_type) {
  return Value::tuple({std::string{in_type}, std::move(out_type)});
}

std::optional<double> sum_of(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

// Argument 0 is read, argument 1, if it is a tensor, is written. For aten::copy_ these are the
// destination and the source, which comes to the same sum (O-13).
Work plain(const Arguments& in, bool counts_flops, std::string_view result_type = "") {
  in.forward_only();
  const Shape shape = in.shape(0);
  const bool has_out = in.size() > 1 && in.has_tensor(1);
  const Value out_type = has_out ? Value{in.type(1)} : Value{};
  const auto in_bytes = in.bytes(in.type(0));
  const auto out_bytes = has_out               ? in.bytes(in.type(1))
                         : result_type.empty() ? in_bytes
                                               : in.bytes(result_type);
  const double n = shape.elements();
  const auto per_element = sum_of(in_bytes, out_bytes);
  return in.work(counts_flops ? n : 0, per_element ? std::optional{n * *per_element} : std::nullopt,
                 Unit::kVector, in.type(0),
                 {{"op_shape", shape.tuple()},
                  {"dtype_in_out", either_type(in.type(0), out_type)},
                  {"stride_input", in.stride(0)},
                  {"stride_output", has_out ? in.stride(1) : Value{}}});
}

Work unary(const Arguments& in) { return plain(in, true); }

// Whether something holds of each element.
Work predicate(const Arguments& in) { return plain(in, true, "bool"); }

// O-14: a copy computes nothing; the reference counts one FLOP per element all the same.
Work copy(const Arguments& in) { return plain(in, in.edition() == kReference); }

Work resampled(const Arguments& in, const Shape& from, const Shape& to, std::vector<Param> first) {
  in.forward_only();
  const double size = in.known_bytes(in.type(0));
  std::vector<Param> params{{"input_shape", from.tuple()}, {"output_shape", to.tuple()}};
  params.insert(params.end(), first.begin(), first.end());
  params.insert(params.end(), {{"op_shape", to.tuple()},
                               {"dtype_in_out", either_type(in.type(0), in.type(0))},
                               {"stride_input", in.stride(0)},
                               {"stride_output", Value{}}});
  return in.work(to.elements(), (from.elements() + to.elements()) * size, Unit::kVector, in.type(0),
                 std::move(params));
}

// Argument 1: pairs (before, after), innermost dimension first.
Work replication_pad(const Arguments& in) {
  const Shape from = in.shape(0);
  const auto padding = in.ints(1);
  std::vector<double> to = from.sizes();
  for (std::size_t pair = 0; pair < padding.size() / 2; ++pair) {
    if (pair >= to.size()) fail("more pairs of padding than dimensions");
    double& size = to[to.size() - 1 - pair];
    size += static_cast<double>(padding[2 * pair]) + static_cast<double>(padding[2 * pair + 1]);
    if (size < 0) fail("negative padding leaves nothing");
  }
  std::vector<Value> as_values(padding.begin(), padding.end());
  return resampled(in, from, Shape{std::move(to)},
                   {{"padding", Value::list(std::move(as_values))}});
}

// Argument 1: the spatial sizes of the output; empty when the caller gave scale factors (O-36).
Work upsample_nearest(const Arguments& in) {
  const Shape from = in.shape(0);
  std::vector<double> to{from.at(0), from.at(1)};
  if (in.edition() == kReference || !in.text_or_empty(1).empty()) {
    for (const std::int64_t size : in.ints(1)) {
      if (size < 0) fail("negative output size");
      to.push_back(static_cast<double>(size));
    }
  } else {
    const auto scales = in.reals(2);
    if (scales.size() + 2 != from.rank()) fail("expected one scale per spatial dimension");
    for (std::size_t i = 0; i < scales.size(); ++i)
      to.push_back(std::floor(from.at(i + 2) * scales[i]));
  }
  return resampled(in, from, Shape{std::move(to)}, {});
}

std::vector<Param> quantize_params(const Arguments& in, const Shape& shape, const char* out_type) {
  return {{"op_shape", shape.tuple()},
          {"dtype_in_out", either_type(in.type(0), out_type)},
          {"stride_input", in.stride_or_null(0)},
          {"stride_output", Value{}}};
}

Work quantize_fp8(const Arguments& in) {
  in.forward_only();
  const Shape shape = in.shape(0);
  const double n = shape.elements();
  const auto size = in.bytes(in.type(0));
  return in.work(n, size ? std::optional{n * (*size + 1)} : std::nullopt, Unit::kVector, in.type(0),
                 quantize_params(in, shape, "c10::Float8_e4m3fnuz"));
}

// The matrix and its transpose, each packed to 4 bits with one scale byte per 32 values of a row.
Work quantize_mxfp4_dual(const Arguments& in) {
  in.forward_only();
  const Shape shape = in.shape(0, 2);
  const double m = shape.at(0), n = shape.at(1);
  const auto size = in.bytes(in.type(0));
  std::optional<double> bytes;
  if (size)
    bytes =
        m * n * *size + 2 * std::ceil(m * n / 2) + m * std::ceil(n / 32) + n * std::ceil(m / 32);
  return in.work(m * n, bytes, Unit::kVector, in.type(0),
                 quantize_params(in, shape, "c10::Float4_e2m1fn_x2"));
}

// out = act(gate) * up, with gate and up side by side in one tensor: out, input. An activation
// costs so many FLOPs that the whole comes to kFlops per output element.
template <int kFlops>
Work gated(const Arguments& in) {
  in.forward_only();
  const Shape out = in.shape(0);
  const double n = out.elements();
  return in.work(kFlops * n, 2 * n * in.known_bytes(in.type(1)) + n * in.known_bytes(in.type(0)),
                 Unit::kVector, in.type(1),
                 {{"op_shape", out.tuple()},
                  {"dtype_in_out", Value::tuple({in.type(1), in.type(0)})},
                  {"stride_input", in.stride(1)},
                  {"stride_output", in.stride(0)}});
}
constexpr auto kSilu = gated<5>, kGelu = gated<8>, kGeluTanh = gated<10>;

// Sampling one token per row: tokens, logits[rows, vocabulary], exponential noise.
Work sample_exponential(const Arguments& in) {
  in.forward_only();
  const Shape logits = in.tensor_if(1).value_or(Shape{});
  const double rows = logits.rank() > 0 ? logits.at(0) : 1;
  const double vocabulary = logits.rank() > 1 ? logits.at(1) : 1;
  const std::string logits_type = in.type_or(1, "c10::bfloat16");
  const std::string noise_type = in.type_or(2, "float");
  const auto per_element = sum_of(in.bytes(logits_type), in.bytes(noise_type));
  std::optional<double> bytes;
  if (per_element) bytes = rows * vocabulary * *per_element + 4 * rows;
  return in.work(2 * rows * vocabulary, bytes, Unit::kVector, logits_type,
                 {{"T", count(rows)},
                  {"V", count(vocabulary)},
                  {"dtype_logits", logits_type},
                  {"dtype_noise", noise_type}});
}

constexpr ModelledOp op(std::string_view name, std::string_view model,
                        Work (*run)(const Arguments&),
                        std::string_view sheet = "UnaryElementwise") {
  return {{.name = name, .model = model, .category = "elementwise", .sheet = sheet}, run};
}
constexpr ModelledOp our_op(std::string_view name, Work (*run)(const Arguments&) = unary) {
  return {{.name = name,
           .model = "aten_unary_elementwise",
           .category = "elementwise",
           .sheet = "UnaryElementwise",
           .edition = kExtended},
          run};
}

constexpr ModelledOp kOps[] = {
    op("primus_turbo_cpp_extension::quantize_fp8_tensorwise", "primus_turbo_quantize_fp8",
       quantize_fp8),
    op("primus_turbo::quantize_fp8_tensorwise", "primus_turbo_quantize_fp8", quantize_fp8),
    op("primus_turbo_cpp_extension::quantize_mxfp4_dual", "primus_turbo_quantize_mxfp4_dual",
       quantize_mxfp4_dual),
    op("primus_turbo::quantize_mxfp4_dual", "primus_turbo_quantize_mxfp4_dual",
       quantize_mxfp4_dual),
    op("primus::quantize_mxfp4_dual", "primus_turbo_quantize_mxfp4_dual", quantize_mxfp4_dual),
    op("aiter::silu_and_mul", "aiter_silu_and_mul", kSilu),
    op("_C::silu_and_mul", "aiter_silu_and_mul", kSilu),
    op("sgl_kernel::silu_and_mul", "sgl_kernel_silu_and_mul", kSilu),
    op("aiter::gelu_and_mul", "aiter_gelu_and_mul", kGelu),
    op("aiter::gelu_tanh_and_mul", "aiter_gelu_tanh_and_mul", kGeluTanh),
    op("aten::copy", "aten_unary_elementwise", copy),
    op("aten::copy_", "aten_unary_elementwise", copy),
    op("aten::clamp_min", "aten_unary_elementwise", unary),
    op("aten::clamp_min_", "aten_unary_elementwise", unary),
    op("aten::clamp_max", "aten_unary_elementwise", unary),
    op("aten::clamp_max_", "aten_unary_elementwise", unary),
    op("aten::sigmoid", "aten_unary_elementwise", unary),
    op("aten::rsqrt", "aten_unary_elementwise", unary),
    op("aten::silu", "aten_unary_elementwise", unary),
    op("aten::neg", "aten_unary_elementwise", unary),
    op("aten::pow", "aten_unary_elementwise", unary),
    op("aten::replication_pad1d", "aten_replication_pad", replication_pad),
    op("aten::replication_pad2d", "aten_replication_pad", replication_pad),
    op("aten::replication_pad3d", "aten_replication_pad", replication_pad),
    op("aten::upsample_nearest1d", "aten_upsample_nearest", upsample_nearest),
    op("aten::upsample_nearest2d", "aten_upsample_nearest", upsample_nearest),
    op("aten::upsample_nearest3d", "aten_upsample_nearest", upsample_nearest),
    op("aiter::mixed_sample_outer_exponential", "mixed_sample_outer_exponential",
       sample_exponential, "elementwise"),
    our_op("aten::abs"),
    our_op("aten::bitwise_not"),
    our_op("aten::ceil"),
    our_op("aten::clamp"),
    our_op("aten::clamp_"),
    our_op("aten::cos"),
    our_op("aten::elu"),
    our_op("aten::erf"),
    our_op("aten::exp"),
    our_op("aten::exp_"),
    our_op("aten::floor"),
    our_op("aten::gelu"),
    our_op("aten::hardswish"),
    our_op("aten::hardtanh"),
    our_op("aten::isfinite", predicate),
    our_op("aten::isinf", predicate),
    our_op("aten::isnan", predicate),
    our_op("aten::isneginf", predicate),
    our_op("aten::isposinf", predicate),
    our_op("aten::leaky_relu"),
    our_op("aten::log"),
    our_op("aten::log1p"),
    our_op("aten::log_"),
    our_op("aten::logical_not", predicate),
    our_op("aten::mish"),
    our_op("aten::neg_"),
    our_op("aten::reciprocal"),
    our_op("aten::relu"),
    our_op("aten::relu_"),
    our_op("aten::round"),
    our_op("aten::rsqrt_"),
    our_op("aten::sigmoid_"),
    our_op("aten::sign"),
    our_op("aten::silu_"),
    our_op("aten::sin"),
    our_op("aten::softplus"),
    our_op("aten::sqrt"),
    our_op("aten::sqrt_"),
    our_op("aten::tan"),
    our_op("aten::tanh"),
    our_op("aten::tanh_"),
    our_op("aten::tril"),
    our_op("aten::triu"),
    our_op("aten::trunc"),
};

}  // namespace

constinit const Family kUnaryElementwise = modelled<kOps>();

}  // namespace tracelens::perf
