// quantized_gemm.cpp: products of 8-bit and 4-bit matrices with scales, as training stacks call
// them. FLOPs = 2*M*N*K (+ M*N for a bias); bytes = A, B and out at their own element sizes. Scales
// are counted only for the 4-bit formats, where each block of 32 values has one.
#include <algorithm>
#include <cmath>
#include <utility>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"
#include "perf/matrix/gemm_cost.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

std::vector<Param> gemm_params(const GemmSizes& sizes, Value stride_a, Value stride_b,
                               Value types) {
  return {{"M", count(sizes.m)},
          {"N", count(sizes.n)},
          {"K", count(sizes.k)},
          {"bias", sizes.bias},
          {"stride_A", std::move(stride_a)},
          {"stride_B", std::move(stride_b)},
          {"dtype_A_B", std::move(types)}};
}

// Every model here ends with this: none has a backward cost of its own.
Work finish(const Arguments& in, const GemmSizes& sizes, std::optional<double> bytes,
            std::string_view type, std::vector<Param> params) {
  in.forward_only();
  params.push_back({"B", 1});
  return in.work(gemm_flops(sizes), bytes, Unit::kMatrix, type, std::move(params));
}

// The result of an 8-bit product is 16 bits wide; wider operands keep their size.
std::optional<double> scaled_out_bytes(double operand) {
  if (operand == 1) return 2;
  if (operand == 2 || operand == 4) return operand;
  return std::nullopt;
}

// A[M,K], B[K,N], scale of A, scale of B, bias, scale of the result, out type, fast mode.
Work scaled_mm(const Arguments& in) {
  const Shape a = in.shape(0), b = in.shape(1);
  GemmSizes sizes{.m = a.at(0), .n = b.at(1), .k = a.at(1)};
  double a_bytes = in.known_bytes(in.type(0)), b_bytes = in.known_bytes(in.type(1));
  if (in.edition() == kReference) {
    sizes.bias = in.size() == 3;  // O-05: never true of a real call, which has eight arguments
    b_bytes = a_bytes;            // O-08
  } else {
    sizes.bias = in.has_tensor(4);
    if (in.precision(in.type(0)) == "fp4") {  // O-07: K is packed, two values to the byte
      sizes.k *= 2;
      a_bytes /= 2;
      b_bytes /= 2;
    }
  }
  const auto out = scaled_out_bytes(std::max(a_bytes, 1.0));
  const auto bias = in.edition() == kReference ? std::optional{a_bytes} : out;
  return finish(in, sizes, gemm_bytes(sizes, {a_bytes, b_bytes, bias, out}), in.type(0),
                gemm_params(sizes, in.stride_if_any(0), in.stride_if_any(1), in.types(0, 2)));
}

// The first two matrices among the arguments: A[M,K], B[N,K/2].
Work dynamic_quant(const Arguments& in) {
  std::vector<Shape> matrices;
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < in.size() && matrices.size() < 2; ++slot)
    if (in.dims(slot).items().size() == 2) {
      matrices.push_back(in.shape(slot));
      slots.push_back(slot);
    }
  if (matrices.size() < 2) fail("expected two matrices");
  if (in.types(0, 2).items().size() < 2) fail("expected the types of two matrices");
  const GemmSizes sizes{.m = matrices[0].at(0), .n = matrices[1].at(0), .k = matrices[0].at(1)};
  ElementBytes bytes = ElementBytes::all(in.bytes(in.type(0)));
  std::optional<double> moved = gemm_bytes(sizes, bytes);
  if (in.edition() == kExtended && moved) {  // O-07: the weight is packed 4-bit, not of A's type
    const double weight = matrices[1].elements() * in.known_bytes(in.type(slots[1]));
    moved = (sizes.m * sizes.k + sizes.m * sizes.n) * *bytes.a + weight;
  }
  return finish(in, sizes, moved, in.type(0),
                gemm_params(sizes, in.stride_if_any(0), in.stride_if_any(1), in.types(0, 2)));
}

// A at 0, B at 5, out at 10, bias at 18; the transpose flags are the texts at 4 and 9.
Work transformer_engine(const Arguments& in) {
  const Shape a = in.shape(0), b = in.shape(5);
  if (in.size() <= 10) fail("expected the shape of the output");
  const bool transpose_a = in.text(4) == "1", transpose_b = in.text(9) == "1";
  const GemmSizes sizes{.m = a.at(transpose_a ? 0 : 1),
                        .n = b.at(transpose_b ? 1 : 0),
                        .k = a.at(transpose_a ? 1 : 0),
                        .bias = !in.text(14).empty()};
  const Value types = Value::tuple({in.type(0), in.type(5), in.type(10), in.type(18)});
  const auto bytes = gemm_bytes(sizes, {in.bytes(in.type(0)), in.bytes(in.type(5)),
                                        in.bytes(in.type(18)), in.bytes(in.type(10))});
  return finish(in, sizes, bytes, in.type(0),
                gemm_params(sizes, in.stride_if_any(0), in.stride_if_any(5), types));
}

// A[M,K], B[K,N], made up from Transformer Engine calls; the result has 16 bits.
Work pseudo_gemm(const Arguments& in) {
  const Shape a = in.shape(0), b = in.shape(1);
  const GemmSizes sizes{.m = a.at(0), .n = b.at(1), .k = a.at(1)};
  if (in.type(0) != in.type(1)) fail("the two matrices have different types");
  const auto size = in.bytes(in.type(0));
  return finish(in, sizes, gemm_bytes(sizes, {size, size, size, 2.0}), in.type(0),
                gemm_params(sizes, in.stride_if_any(0), in.stride_if_any(1), in.types(0, 2)));
}

// Anything but a clear "no" counts as yes.
bool flag(const Arguments& in, std::size_t slot) {
  const std::string text = in.text_or_empty(slot);
  return !(text.empty() || text == "False" || text == "false" || text == "0");
}

// 4-bit operands: half a byte per value, and one scale per 32 values of K in every row of A and B.
double fp4_bytes(const Arguments& in, const GemmSizes& sizes, double a_bytes, double b_bytes,
                 const Value& scale_a, const Value& scale_b) {
  const double packed = std::floor(sizes.k / 2), blocks = std::ceil(sizes.k / 32);
  return sizes.m * packed * a_bytes + sizes.n * packed * b_bytes +
         (sizes.m * in.bytes_or(scale_a.as_text(), 1) +
          sizes.n * in.bytes_or(scale_b.as_text(), 1)) *
             blocks +
         2 * sizes.m * sizes.n;
}

Value or_null(Value type) { return type.as_text().empty() ? Value{} : std::move(type); }

enum class Packing : std::uint8_t { kNone, kFp4Pairs };  // pairs: traced K counts two values each

Work with_scales(Packing packing, const Arguments& in, GemmSizes sizes, std::size_t a,
                 std::size_t b, std::size_t scale_a_slot, std::size_t scale_b_slot) {
  const bool fp4 = packing == Packing::kFp4Pairs;
  const Value scale_a = or_null(in.type_or_null(scale_a_slot));
  const Value scale_b = or_null(in.type_or_null(scale_b_slot));
  const double a_bytes = in.known_bytes(in.type(a)), b_bytes = in.known_bytes(in.type(b));
  if (fp4) sizes.k *= 2;
  const double bytes =
      fp4 ? fp4_bytes(in, sizes, a_bytes, b_bytes, scale_a, scale_b)
          : *gemm_bytes(sizes, {a_bytes, b_bytes, a_bytes, a_bytes == 1 ? 2 : a_bytes});
  auto params = gemm_params(sizes, in.stride_or_null(a), in.stride_or_null(b),
                            Value::tuple({in.type(a), in.type(b)}));
  params.push_back({"dtype_scaleA", scale_a});
  params.push_back({"dtype_scaleB", scale_b});
  return finish(in, sizes, bytes, in.type(a), std::move(params));
}

// A, scale of A, B, scale of B, out type, then three transpose flags.
template <Packing kPacking>
Work hipblaslt(const Arguments& in) {
  Shape a = in.shape(0), b = in.shape(2);
  bool transpose_a = flag(in, 5), transpose_b = flag(in, 6);
  if (flag(in, 7)) {  // out is stored transposed: the product of the swapped, flipped operands
    std::swap(a, b);
    transpose_a = std::exchange(transpose_b, !transpose_a);
    transpose_a = !transpose_a;
  }
  const GemmSizes sizes{.m = a.at(transpose_a ? 1 : 0),
                        .n = b.at(transpose_b ? 0 : 1),
                        .k = a.at(transpose_a ? 0 : 1)};
  return with_scales(kPacking, in, sizes, 0, 2, 1, 3);
}

// A[M,K], B[N,K], scale of A, scale of B.
Work a4w4(const Arguments& in) {
  const Shape a = in.shape(0), b = in.shape(1);
  return with_scales(Packing::kFp4Pairs, in, {.m = a.at(0), .n = b.at(0), .k = a.at(1)}, 0, 1, 2,
                     3);
}

constexpr ModelledOp gemm(std::string_view name, std::string_view model,
                          Work (*run)(const Arguments&)) {
  return {{.name = name, .model = model, .category = "GEMM", .sheet = "GEMM"}, run};
}

constexpr auto kFp8 = hipblaslt<Packing::kNone>, kFp4 = hipblaslt<Packing::kFp4Pairs>;

constexpr ModelledOp kOps[] = {
    gemm("aten::_scaled_mm", "aten_scaled_mm", scaled_mm),
    gemm("trtllm::cublas_scaled_mm", "aten_scaled_mm", scaled_mm),
    gemm("bitsandbytes::int8_linear_matmul", "aten_scaled_mm", scaled_mm),
    gemm("tex_ts::te_gemm_ts", "tex_ts_te_gemm_ts", transformer_engine),
    gemm("vllm::gemm_with_dynamic_quant", "vllm_gemm_with_dynamic_quant", dynamic_quant),
    gemm("_Linear_yfwd_mm", "tev2_pseudo_gemm", pseudo_gemm),
    gemm("_LinearBackward_xgrad_mm", "tev2_pseudo_gemm", pseudo_gemm),
    gemm("_LinearBackward_wgrad_mm", "tev2_pseudo_gemm", pseudo_gemm),
    gemm("_LayerNormLinear_yfwd_mm", "tev2_pseudo_gemm", pseudo_gemm),
    gemm("_LayerNormLinearBackward_xgrad_mm", "tev2_pseudo_gemm", pseudo_gemm),
    gemm("_LayerNormLinearBackward_wgrad_mm", "tev2_pseudo_gemm", pseudo_gemm),
    gemm("primus_turbo_cpp_extension::hipblaslt_gemm_fp8", "hipblaslt_gemm_fp8", kFp8),
    gemm("primus_turbo::hipblaslt_gemm_fp8", "hipblaslt_gemm_fp8", kFp8),
    gemm("primus_turbo_cpp_extension::hipblaslt_gemm_fp4", "hipblaslt_gemm_fp4", kFp4),
    gemm("primus_turbo::hipblaslt_gemm_fp4", "hipblaslt_gemm_fp4", kFp4),
    gemm("aiter::gemm_a4w4", "aiter_gemm_a4w4", a4w4),
    gemm("aiter::_gemm_a4w4_asm", "aiter_gemm_a4w4", a4w4),
};

}  // namespace

constinit const Family kQuantizedGemm = modelled<kOps>();

}  // namespace tracelens::perf
