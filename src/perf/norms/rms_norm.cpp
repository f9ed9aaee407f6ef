// rms_norm.cpp: RMS norm as serving stacks fuse it: with a residual addition, a quantization of the
// result, padding. With n elements in rows of c: FLOPs = (n/c)*(2c + 2) + 2n for the norm, n for an
// addition, 2n for a quantization; bytes = every tensor once.
#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

struct RmsNorm {
  Shape shape;
  std::string type;
  double n, c, rows, size;  // elements, row length, rows, bytes per element
  double flops;             // of the norm alone
  std::vector<Param> params;
};

RmsNorm norm_of(const Arguments& in, std::size_t input, std::size_t weight) {
  in.forward_only();
  RmsNorm norm{.shape = in.shape(input),
               .type = in.type(input),
               .n = 0,
               .c = 0,
               .rows = 0,
               .size = 0,
               .flops = 0,
               .params = {}};
  norm.n = norm.shape.elements();
  norm.c = in.shape(weight).at(0);
  if (norm.c == 0) fail("rows of length 0");
  norm.rows = std::floor(norm.n / norm.c);
  norm.size = in.known_bytes(norm.type);
  norm.flops = (norm.n / norm.c) * (2 * norm.c + 2) + 2 * norm.n;
  norm.params = {{"op_shape", norm.shape.tuple()},
                 {"dtype_in_out", Value::tuple({norm.type, Value{}})},
                 {"stride_input", in.stride(input)},
                 {"stride_output", Value{}},
                 {"num_channels", count(norm.c)},
                 {"has_bias", false},
                 {"is_affine", true},
                 {"is_training", false}};
  return norm;
}

Work finish(const Arguments& in, RmsNorm norm, double more_flops, double bytes) {
  return in.work(norm.flops + more_flops, bytes, Unit::kVector, norm.type, std::move(norm.params));
}

template <std::size_t kInput, std::size_t kWeight>
Work plain(const Arguments& in) {
  RmsNorm norm = norm_of(in, kInput, kWeight);
  const double bytes = (2 * norm.n + norm.c) * norm.size;
  return finish(in, std::move(norm), 0, bytes);
}

// out, input, residual in, residual out, weight
Work with_add(const Arguments& in) {
  RmsNorm norm = norm_of(in, 1, 4);
  const double added = norm.n, bytes = (4 * norm.n + norm.c) * norm.size;
  return finish(in, std::move(norm), added, bytes);
}

// A norm whose result is written as bytes with 4-byte scales, `groups` to a row.
double quantized_bytes(const RmsNorm& norm, double tensors, double groups) {
  return (tensors * norm.n + norm.c) * norm.size + norm.n + 4 * norm.rows * groups;
}

double groups_of(const RmsNorm& norm, std::int64_t group) {
  if (group == 0) fail("group size is 0");
  return std::ceil(norm.c / static_cast<double>(group));
}

// out, input, scales, weight, eps
Work with_dynamic_quant(const Arguments& in) {
  RmsNorm norm = norm_of(in, 1, 3);
  const double quantized = 2 * norm.n, bytes = quantized_bytes(norm, 1, 1);
  return finish(in, std::move(norm), quantized, bytes);
}

// out, input, scales, weight, eps, group size (0: the whole row)
Work with_group_quant(const Arguments& in) {
  RmsNorm norm = norm_of(in, 1, 3);
  const std::int64_t group = in.integer_if_any(5).value_or(0);
  const double quantized = 2 * norm.n;
  const double bytes = quantized_bytes(norm, 1, group > 0 ? groups_of(norm, group) : 1);
  return finish(in, std::move(norm), quantized, bytes);
}

// input, weight, eps, group size
Work fp8_group_quant(const Arguments& in) {
  RmsNorm norm = norm_of(in, 0, 1);
  const double quantized = 2 * norm.n;
  const double bytes = quantized_bytes(norm, 1, groups_of(norm, in.integer(3)));
  return finish(in, std::move(norm), quantized, bytes);
}

// input, residual, weight, eps, group size
Work add_fp8_group_quant(const Arguments& in) {
  RmsNorm norm = norm_of(in, 0, 2);
  const double added_and_quantized = 3 * norm.n;
  const double bytes = quantized_bytes(norm, 3, groups_of(norm, in.integer(4)));
  return finish(in, std::move(norm), added_and_quantized, bytes);
}

// input, weight, eps, residual, multiple to pad the rows to
Work add_and_pad(const Arguments& in) {
  RmsNorm norm = norm_of(in, 0, 1);
  const auto multiple = static_cast<double>(in.integer(4));
  const double padded = multiple > 0 ? std::ceil(norm.c / multiple) * multiple : norm.c;
  const double added = norm.n;
  const double bytes = (2 * norm.n + norm.c + norm.rows * padded + norm.rows * norm.c) * norm.size;
  return finish(in, std::move(norm), added, bytes);
}

// x1, weight 1, eps, x2, weight 2, eps, residual: x2 and the residual may be missing
Work mxfp4_quant(const Arguments& in) {
  RmsNorm norm = norm_of(in, 0, 1);
  const auto second = in.tensor_if(3), residual = in.tensor_if(6);
  double flops = 2 * norm.n;
  double bytes = (norm.n + norm.c) * norm.size + norm.n / 2 + std::floor(norm.n / 32);
  if (residual && residual->rank() == 2) {
    flops += norm.rows * norm.c;
    bytes += 2 * norm.n * norm.size;
  }
  if (second && second->rank() == 2) {
    const double columns = second->at(1);
    flops += std::floor(norm.flops * norm.rows * columns / std::max(norm.n, 1.0));
    bytes += (2 * norm.rows * columns + columns) * norm.size;
  }
  return finish(in, std::move(norm), flops, bytes);
}

constexpr ModelledOp op(std::string_view name, std::string_view model,
                        Work (*run)(const Arguments&)) {
  return {{.name = name, .model = model, .category = "RMSNorm", .sheet = "RMSNorm"}, run};
}

constexpr auto kInput0 = plain<0, 1>, kInput1 = plain<1, 2>;

constexpr ModelledOp kOps[] = {
    op("aiter::fused_add_rmsnorm_pad_", "vllm_rocm_aiter_triton_add_rmsnorm_pad", add_and_pad),
    op("vllm::rocm_aiter_triton_add_rmsnorm_pad", "vllm_rocm_aiter_triton_add_rmsnorm_pad",
       add_and_pad),
    op("aiter::rms_norm", "aiter_rms_norm", kInput0),
    op("aiter::rmsnorm2d_fwd_ck", "aiter_rms_norm", kInput0),
    op("aiter::rmsnorm", "aiter_rmsnorm", kInput1),
    op("aiter::rmsnorm2d_fwd_with_add_ck", "aiter_rmsnorm2d_fwd_with_add_ck", with_add),
    op("aiter::add_rmsnorm", "aiter_rmsnorm2d_fwd_with_add_ck", with_add),
    op("aiter::rmsnorm2d_fwd_with_dynamicquant_ck", "aiter_rmsnorm2d_fwd_with_dynamicquant_ck",
       with_dynamic_quant),
    op("vllm::rocm_aiter_rmsnorm_fp8_group_quant", "vllm_rocm_aiter_rmsnorm_fp8_group_quant",
       fp8_group_quant),
    op("vllm::rocm_aiter_rmsnorm_with_add_fp8_group_quant",
       "vllm_rocm_aiter_rmsnorm_with_add_fp8_group_quant", add_fp8_group_quant),
    op("sglang_profiler::fused_mxfp4_quant_fused_rms_mxfp4_quant", "fused_rms_mxfp4_quant",
       mxfp4_quant),
    op("aiter::_fuse_rmsnorm_fp4_quant", "fused_rms_mxfp4_quant", mxfp4_quant),
    op("aiter::rmsnorm_quant", "aiter_rmsnorm_quant", with_group_quant),
};

}  // namespace

constinit const Family kRmsNorm = modelled<kOps>();

}  // namespace tracelens::perf
