// serving_gemm.cpp: matrix products of serving stacks: X[M,K] x W[N,K]^T, quantized or not.
// FLOPs = 2*M*N*K (+ M*N for a bias); bytes = X, W, bias and out. Scales are not counted.
#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"
#include "perf/matrix/gemm_cost.hpp"

namespace tracelens::perf {
namespace {

constexpr const char* kBf16 = "c10::bfloat16";
constexpr double kHalfByte = 0.5;

// X[M,K] and W[N,K], which all but the batched ones take as arguments 0 and 1.
GemmSizes sizes_of(const Arguments& in) {
  const Shape x = in.shape(0), w = in.shape(1);
  return {.m = x.at(0), .n = w.at(0), .k = x.at(1)};
}

Value types_of(const Arguments& in, Value third) {
  return Value::tuple({in.type_or(0, ""), in.type_or(1, ""), std::move(third)});
}

std::vector<Param> params_of(const GemmSizes& s, Value types) {
  return {{"B", count(s.batch)}, {"M", count(s.m)}, {"N", count(s.n)},
          {"K", count(s.k)},     {"bias", s.bias},  {"dtype_A_B", std::move(types)}};
}

Work finish(const Arguments& in, const GemmSizes& s, const ElementBytes& bytes,
            std::string_view type, std::vector<Param> params) {
  in.forward_only();
  return in.work(gemm_flops(s), gemm_bytes(s, bytes), Unit::kMatrix, type, std::move(params));
}

// 8-bit by 8-bit with one scale per block: X, W, scales of X, scales of W.
Work blockscale(const Arguments& in) {
  const GemmSizes s = sizes_of(in);
  const std::string x = in.type_or(0, ""), w = in.type_or(1, "");
  auto params = params_of(s, types_of(in, kBf16));
  if (in.size() > 3) {
    const auto block = [](double size, const std::optional<Shape>& scales, bool last) {
      if (!scales) return Value{};
      const double blocks = last ? scales->last() : scales->at(0);
      return blocks == 0 ? Value{} : count(std::ceil(size / blocks));
    };
    const std::string scale_type = in.type_or(2, "");
    params.insert(params.end(), {{"quant_scheme", "a8w8_blockscale"},
                                 {"quant_granularity", "per_block"},
                                 {"block_k", block(s.k, in.tensor_if(2), true)},
                                 {"block_n", block(s.n, in.tensor_if(3), false)},
                                 {"scale_dtype", scale_type.empty() ? "float32" : scale_type}});
  }
  params.push_back({"output_shape", Value::tuple({count(s.m), count(s.n)})});
  params.push_back({"output_dtype", kBf16});
  const auto x_bytes = in.bytes(x);
  return finish(in, s, {x_bytes, in.bytes(w), x_bytes, 2.0}, x, std::move(params));
}

// X, W, bias; the only one whose parameters stand in the order of aten::mm.
Work unquantized(const Arguments& in) {
  GemmSizes s = sizes_of(in);
  s.bias = in.has_tensor(2);
  const auto out = in.bytes(in.type_or(s.bias ? 2 : 1, ""));
  return finish(in, s, {in.bytes(in.type_or(0, "")), in.bytes(in.type_or(1, "")), out, out},
                in.type_or(0, ""),
                {{"M", count(s.m)},
                 {"N", count(s.n)},
                 {"K", count(s.k)},
                 {"bias", s.bias},
                 {"dtype_A_B", types_of(in, in.type_or(2, ""))},
                 {"B", 1}});
}

Work sixteen_bit(const Arguments& in, const GemmSizes& s, const std::string& out_type) {
  const auto x = in.bytes(in.type_or(0, "")), out = in.bytes(out_type);
  return finish(in, s, {x, in.bytes(in.type_or(1, "")), out, out}, in.type_or(0, ""),
                params_of(s, types_of(in, out_type)));
}

// X, W, bias, out type
Work a16w16(const Arguments& in) {
  GemmSizes s = sizes_of(in);
  s.bias = in.has_tensor(2);
  return sixteen_bit(in, s, in.type_or(0, ""));
}

// X, W, out type, out
Work a16w16_atomic(const Arguments& in) {
  return sixteen_bit(in, sizes_of(in), in.type_or(3, kBf16));
}

// X, W, out
Work a16w16_asm(const Arguments& in) {
  const std::string out = in.type_or(2, "");
  return sixteen_bit(in, sizes_of(in), in.bytes(out) ? out : in.type_or(0, ""));
}

// X[M,K/2] and W[N,K/2], packed pairs of 4-bit values
Work fp4_by_fp4(const Arguments& in) {
  GemmSizes s = sizes_of(in);
  s.k *= 2;
  return finish(in, s, {kHalfByte, kHalfByte, kHalfByte, 2.0}, "fp4",
                params_of(s, types_of(in, kBf16)));
}

// X[B,M,K], W[B,N,K/2] packed
Work batched_16_by_fp4(const Arguments& in) {
  const Shape x = in.shape(0, 3);
  const GemmSizes s{.m = x.at(1), .n = in.shape(1).at(1), .k = x.at(2), .batch = x.at(0)};
  const auto x_bytes = in.bytes(in.type_or(0, ""));
  return finish(in, s, {x_bytes, kHalfByte, x_bytes, 2.0}, "fp4",
                params_of(s, types_of(in, kBf16)));
}

// X[B,M,K] or X[M,B,K], W[B,N,K]
Work batched_8_by_8(const Arguments& in) {
  const Shape x = in.shape(0, 3), w = in.shape(1);
  const double batch = w.at(0);
  const GemmSizes s{
      .m = x.at(0) == batch ? x.at(1) : x.at(0), .n = w.at(1), .k = x.at(2), .batch = batch};
  const auto x_bytes = in.bytes(in.type_or(0, ""));
  return finish(in, s, {x_bytes, in.bytes(in.type_or(1, "")), x_bytes, 2.0}, in.type_or(1, ""),
                params_of(s, types_of(in, kBf16)));
}

constexpr ModelledOp op(std::string_view name, std::string_view model,
                        Work (*run)(const Arguments&)) {
  return {{.name = name, .model = model, .category = "GEMM", .sheet = "GEMM"}, run};
}
constexpr ModelledOp a8w8(std::string_view name) {
  return op(name, "gemm_a8w8_blockscale", blockscale);
}

constexpr ModelledOp kOps[] = {
    op("aiter::batched_gemm_a16wfp4_", "batched_gemm_a16wfp4", batched_16_by_fp4),
    a8w8("sglang_profiler::fp8_utils_gemm_a8w8_blockscale"),
    a8w8("sglang_profiler::gemm_a8w8_blockscale_gemm_a8w8_blockscale"),
    a8w8("vllm::rocm_aiter_triton_gemm_a8w8_blockscale"),
    a8w8("aiter::gemm_a8w8_blockscale_ck"),
    a8w8("aiter::gemm_a8w8_blockscale_cktile"),
    a8w8("aiter::gemm_a8w8_blockscale_bpreshuffle_ck"),
    a8w8("aiter::gemm_a8w8_blockscale_bpreshuffle_cktile"),
    a8w8("aiter::flatmm_a8w8_blockscale_asm"),
    a8w8("aiter::gfx950_a8w8_blockscale_asm"),
    a8w8("aiter::gemm_a8w8_ck"),
    a8w8("aiter::gemm_a8w8_bpreshuffle_ck"),
    a8w8("aiter::gemm_a8w8_bpreshuffle"),
    a8w8("vllm::_rocm_aiter_preshuffled_per_token_w8a8_gemm"),
    a8w8("aiter::_gemm_a8w8_blockscale_bpreshuffle_asm"),
    op("vllm::rocm_unquantized_gemm", "vllm_rocm_unquantized_gemm", unquantized),
    op("aiter::gemm_a16w16", "gemm_a16w16", a16w16),
    op("aiter::gemm_a16w16_atomic_", "gemm_a16w16_atomic_", a16w16_atomic),
    op("sglang_profiler::gemm_kernels_flydsl_hgemm", "gemm_a16w16_atomic_", a16w16_atomic),
    op("aiter::_gemm_a16w16_asm", "gemm_a16w16_asm", a16w16_asm),
    op("aiter::gemm_afp4wfp4_", "gemm_afp4wfp4", fp4_by_fp4),
    op("sglang_profiler::batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant_"
       "batched_gemm_a8w8_a_per_token_group_prequant_w_per_batched_tensor_quant",
       "batched_gemm_a8w8", batched_8_by_8),
};

}  // namespace

constinit const Family kServingGemm = modelled<kOps>();

}  // namespace tracelens::perf
