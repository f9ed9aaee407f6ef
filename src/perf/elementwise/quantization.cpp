// quantization.cpp: turning 16-bit activations into 8-bit or 4-bit ones, with a scale per token,
// group or tensor. Bytes = values read, values and scales written.
#include <algorithm>
#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

// out, input, scales. The FLOPs per element (absolute value, maximum, scaling, rounding, and one
// scale per group) are the reference's estimate.
Work scaled_quant(const Arguments& in) {
  in.forward_only();
  constexpr double kFlopsPerElement = 2.59375;
  const Shape out = in.shape(0), input = in.shape(1), scales = in.shape(2);
  return in.work(out.elements() * kFlopsPerElement,
                 out.elements() * in.known_bytes(in.type(0)) +
                     input.elements() * in.known_bytes(in.type(1)) +
                     scales.elements() * in.known_bytes(in.type(2)),
                 Unit::kVector, in.type(1),
                 {{"shape_in1", input.tuple()},
                  {"shape_in2", scales.tuple()},
                  {"shape_out", out.tuple()},
                  {"dtype_in1_in2_out", Value::tuple({in.type(1), in.type(2), in.type(0)})},
                  {"stride_input1", in.stride(1)},
                  {"stride_input2", in.stride(2)},
                  {"stride_output", in.stride(0)}});
}

// input, group size. The reference sees only the first two dimensions (E-11).
Work token_group_quant(const Arguments& in) {
  in.forward_only();
  constexpr std::int64_t kUsualGroup = 128;
  const Shape x = in.shape(0);
  double rows = x.rank() > 1 ? x.at(0) : 1;
  double columns = x.rank() > 1 ? x.at(1) : x.elements();
  if (in.edition() == Edition::kExtended && x.rank() > 2) {
    columns = x.last();
    rows = columns == 0 ? 0 : x.elements() / columns;
  }
  const std::int64_t group = in.integer_if_any(1).value_or(kUsualGroup);
  if (group <= 0) fail("group size is not positive");
  const double groups = std::max(1.0, std::ceil(columns / static_cast<double>(group)));
  std::optional<double> bytes = in.bytes(in.type(0));
  if (bytes) bytes = rows * columns * (*bytes + 1) + 4 * rows * groups;
  return in.work(6 * rows * columns, bytes, Unit::kVector, in.type(0),
                 {{"M", count(rows)},
                  {"N", count(columns)},
                  {"group_size", group},
                  {"num_groups", count(groups)},
                  {"shape_x", x.tuple()},
                  {"dtype_x", in.type(0)},
                  {"shape_in1", x.tuple()},
                  {"shape_in2", Value::tuple({})},
                  {"shape_out", x.tuple()},
                  {"dtype_in1_in2_out", Value::tuple({in.type(0), Value{}, "c10::float8_e4m3fn"})},
                  {"stride_input1", Value{}},
                  {"stride_input2", Value{}},
                  {"stride_output", Value{}}});
}

// Half a byte per value and one byte of scale per 32 of them.
struct Mxfp4Op {
  OpInfo info;
  std::size_t input;
  bool stride = false;  // records the stride of the input
};

Work mxfp4_quant(const Mxfp4Op& op, const Arguments& in) {
  in.forward_only();
  const Shape x = in.shape(op.input);
  const std::string& type = in.type(op.input);
  const double n = x.elements();
  std::optional<double> bytes = in.bytes(type);
  if (bytes) bytes = n * *bytes + n / 2 + std::floor(n / 32);
  return in.work(2 * n, bytes, Unit::kVector, type,
                 {{"op_shape", x.tuple()},
                  {"dtype_in_out", Value::tuple({type, type})},
                  {"stride_input", op.stride ? in.stride(op.input) : Value{}},
                  {"stride_output", Value{}}});
}

constexpr OpInfo info(std::string_view name, std::string_view model, std::string_view sheet,
                      std::string_view category = "GroupQuant") {
  return {.name = name, .model = model, .category = category, .sheet = sheet};
}

constexpr ModelledOp kOps[] = {
    {info("aiter::dynamic_per_token_scaled_quant", "per_group_quant", "BinaryElementwise"),
     scaled_quant},
    {info("aiter::dynamic_per_group_scaled_quant", "per_group_quant", "BinaryElementwise"),
     scaled_quant},
    {info("aiter::dynamic_per_tensor_quant", "per_group_quant", "BinaryElementwise"), scaled_quant},
    {info("vllm::triton_per_token_group_quant_fp8", "vllm_triton_per_token_group_quant_fp8",
          "BinaryElementwise"),
     token_group_quant},
};

constexpr Mxfp4Op kMxfp4Ops[] = {
    {.info = info("aiter::fused_dynamic_mx_quant_moe_sort_hip",
                  "fused_dynamic_mx_quant_moe_sort_hip", "GroupQuant"),
     .input = 2,
     .stride = true},
    {.info = info("sglang_profiler::fused_mxfp4_quant_fused_flatten_mxfp4_quant",
                  "fused_flatten_mxfp4_quant", "GroupQuant"),
     .input = 0,
     .stride = true},
    {.info = info("sglang_profiler::quant_dynamic_mxfp4_quant", "sglang_quant_dynamic_mxfp4_quant",
                  "GroupQuant"),
     .input = 0},
    // Counted among the MoE helpers, shown with the quantizers (O-38).
    {.info = info("aiter::fused_dynamic_mxfp4_quant_moe_sort_hip",
                  "aiter_fused_dynamic_mxfp4_quant_moe_sort_hip", "GroupQuant", "MoE_aux"),
     .input = 2},
    {.info = info("aiter::dynamic_per_group_scaled_quant_fp4",
                  "aiter_dynamic_per_group_scaled_quant_fp4", "GroupQuant"),
     .input = 1},
};

}  // namespace

constinit const Family kQuantization = modelled<kOps>();
constinit const Family kMxfp4Quantization = modelled<kMxfp4Ops, mxfp4_quant>();

}  // namespace tracelens::perf
