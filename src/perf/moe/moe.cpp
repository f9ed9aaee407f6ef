// moe.cpp: mixture-of-experts layers as serving stacks fuse them. M tokens of width K each visit k
// of E experts with inner width N; a gated first product is twice as wide (g = 2). Of the E
// experts, A = E * (1 - ((E-k)/E)^M) are expected to be visited, and only those weights are read.
//   up    FLOPs = 2*M*K*N*k*g     bytes = input M*K, weights A*g*K*N, output M*N*k
//   down  FLOPs = 2*M*N*K*k       bytes = input M*N*k, weights A*N*K, output M*K
//   fused FLOPs = both and M*K*(2k-1) to combine; bytes = input, all weights, output
#include <fmt/core.h>

#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"
#include "perf/core/literals.hpp"

namespace tracelens::perf {
namespace {

enum class Stage : std::uint8_t { kFused, kUp, kDown };

struct Moe {
  double tokens = 0, hidden = 0, inner = 0, experts = 0, topk = 0;
  bool gated = true;
};

struct MoeBytes {
  double input = 2, weight = 1, output = 2;
};

double active_experts(const Moe& moe) {
  if (moe.experts == 0) return 0;
  return moe.experts * (1 - std::pow((moe.experts - moe.topk) / moe.experts, moe.tokens));
}

double flops_of(const Moe& m, Stage stage) {
  const double product = 2 * m.tokens * m.hidden * m.inner * m.topk;
  const double gate = m.gated ? 2 : 1;
  if (stage == Stage::kUp) return product * gate;
  if (stage == Stage::kDown) return product;
  return product * gate + product + m.tokens * m.hidden * (2 * m.topk - 1);
}

double bytes_of(const Moe& m, Stage stage, const MoeBytes& size) {
  const double rows = m.tokens * m.hidden, inner_rows = m.tokens * m.inner * m.topk;
  const double weights = active_experts(m) * m.inner * m.hidden * size.weight;
  const double gate = m.gated ? 2 : 1;
  if (stage == Stage::kUp) return rows * size.input + gate * weights + inner_rows * size.output;
  if (stage == Stage::kDown) return inner_rows * size.input + weights + rows * size.output;
  return rows * size.input + gate * weights + weights + rows * size.output;
}

// Sizes by the names these ops use; a packed pair of 4-bit values counts half a byte each, because
// the shapes here are unpacked first.
double size_or(std::string_view type, double otherwise) {
  constexpr std::pair<std::string_view, double> kSizes[] = {{"Float8_e4m3fn", 1},
                                                            {"Float8_e4m3fnuz", 1},
                                                            {"Float8_e5m2", 1},
                                                            {"Float8_e5m2fnuz", 1},
                                                            {"FP8", 1},
                                                            {"c10::Float8_e4m3fn", 1},
                                                            {"c10::Float8_e4m3fnuz", 1},
                                                            {"FP4", 0.5},
                                                            {"c10::Float4_e2m1fn_x2", 0.5},
                                                            {"BFloat16", 2},
                                                            {"Float16", 2},
                                                            {"Half", 2},
                                                            {"c10::BFloat16", 2},
                                                            {"c10::Half", 2},
                                                            {"Float32", 4},
                                                            {"Float", 4},
                                                            {"c10::Float", 4}};
  for (const auto& [name, size] : kSizes)
    if (type == name) return size;
  return otherwise;
}

std::vector<Param> size_params(const Moe& m, bool with_gate) {
  std::vector<Param> params{{"num_tokens", count(m.tokens)},
                            {"hidden_dim", count(m.hidden)},
                            {"inter_dim", count(m.inner)},
                            {"num_experts", count(m.experts)},
                            {"topk", count(m.topk)}};
  if (with_gate) params.push_back({"gated", m.gated});
  return params;
}

Work finish(const Arguments& in, const Moe& moe, Stage stage, const MoeBytes& bytes,
            std::string_view precision, std::vector<Param> params) {
  in.forward_only();
  return {.flops = flops_of(moe, stage),
          .bytes = bytes_of(moe, stage, bytes),
          .compute_spec = compute_spec(Unit::kMatrix, precision),
          .params = std::move(params)};
}

// Packed weights w1[E, *, K/u] and w2[E, K, N/u] tell the packing u and whether w1 holds a gate.
void unpack_weights(Moe& moe, const Shape& w1, const Shape& w2) {
  if (w2.rank() != 3 || w1.last() == 0) fail("expected weights of three dimensions");
  moe.hidden = w2.at(1);
  moe.inner = w2.at(2) * std::floor(moe.hidden / w1.last());
  moe.gated = w1.at(1) == 2 * moe.inner;
}

// input[M, *], w1, w2, routing weights[M, k]
Moe aiter_sizes(const Arguments& in) {
  const Shape w1 = in.shape(1, 3);
  Moe moe{.tokens = in.shape(0).at(0), .experts = w1.at(0), .topk = in.shape(3).at(1)};
  unpack_weights(moe, w1, in.shape(2));
  return moe;
}

template <Stage kStage, std::size_t kPrecisionSlot>
Work aiter_moe(const Arguments& in) {
  const Moe moe = aiter_sizes(in);
  const std::string &input = in.type(0), &weight = in.type(1);
  auto params = size_params(moe, true);
  params.push_back({"input_dtype", input});
  params.push_back({"weight_dtype", weight});
  const double size = size_or(input, 2);
  return finish(in, moe, kStage, {size, size_or(weight, 1), size},
                in.precision(in.type(kPrecisionSlot)), std::move(params));
}

// out[M, K], input, w1, w2, ..., k at 8
Work fused_blockscale(const Arguments& in) {
  Moe moe{.tokens = in.shape(0).at(0),
          .experts = in.shape(2).at(0),
          .topk = static_cast<double>(in.integer(8))};
  unpack_weights(moe, in.shape(2, 3), in.shape(3));
  const std::string &output = in.type(0), &input = in.type(1), &weight = in.type(2);
  auto params = size_params(moe, true);
  params.insert(params.end(),
                {{"input_dtype", input}, {"weight_dtype", weight}, {"output_dtype", output}});
  const bool named = input == "fp8" || input == "bf16";
  return finish(in, moe, Stage::kFused, {size_or(input, 1), size_or(weight, 1), size_or(output, 2)},
                named ? "fp8" : in.precision(input), std::move(params));
}

const Value& extra(const Arguments& in, std::string_view key) {
  static const Value kNothing;
  const Value* found = in.call().extra ? in.call().extra->find(key) : nullptr;
  return found ? *found : kNothing;
}

double required_topk(const Arguments& in) {
  const Value& topk = extra(in, "MoE topk");
  if (!topk.is_number()) fail("'MoE topk' was not recorded");
  return topk.as_real();
}

// The weights' type shows only in the kernel's name. Without a hint there the reference gives up
// (E-09); the input's type is the better guess.
std::string weight_type(const Arguments& in) {
  if (in.call().kernels.empty()) fail("no kernel whose name would tell the weights' type");
  std::string name{in.call().kernels.front()};
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (has("fp4")) return "FP4";
  if (has("fp8") || has("e4m3")) return "FP8";
  if (in.edition() == Edition::kReference)
    fail("the kernel's name does not tell the weights' type");
  return in.type(0);
}

// input[M, K], routing[*, E]; the inner width is in no argument and taken to be K.
template <Stage kStage>
Work triton_unfused(const Arguments& in) {
  const Shape x = in.shape(0, 2);
  const Value& gated = extra(in, "MoE GEMM gated");
  if (gated.is_null()) fail("'MoE GEMM gated' was not recorded");
  const Moe moe{.tokens = x.at(0),
                .hidden = x.at(1),
                .inner = x.at(1),
                .experts = in.shape(1).at(1),
                .topk = required_topk(in),
                .gated = gated.as_bool()};
  const std::string &input = in.type(0), weight = weight_type(in);
  const double size = size_or(input, 0);
  if (size == 0) fail(fmt::format("element size of '{}' is unknown", input));
  auto params = size_params(moe, true);
  params.push_back({"input_dtype", input});
  params.push_back({"weight_dtype", weight});
  return finish(in, moe, kStage, {size, size_or(weight, 1), size}, in.precision(weight),
                std::move(params));
}

// The weighted sum of what the k experts of a token gave: input[M, K] tells its size.
Work combine(const Arguments& in) {
  in.forward_only();
  const Shape x = in.shape(0, 2);
  const double rows = x.at(0) * x.at(1), topk = required_topk(in);
  std::optional<double> bytes = in.bytes(in.type(0));
  if (bytes) *bytes *= rows * topk + rows;
  return in.work(rows * (2 * topk - 1), bytes, Unit::kVector, in.type(0),
                 {{"num_tokens", count(x.at(0))},
                  {"hidden_dim", count(x.at(1))},
                  {"topk", count(topk)},
                  {"input_dtype", in.type(0)}});
}

std::vector<Param> three_types(const Arguments& in, std::vector<Param> params) {
  params.insert(
      params.end(),
      {{"input_dtype", in.type(0)}, {"weight_dtype", in.type(1)}, {"output_dtype", in.type(2)}});
  return params;
}

// CK tile, first product: input[M, K], w1[E, *, *], out[M, k, N]
Work cktile_up(const Arguments& in) {
  const Shape x = in.shape(0, 2), w1 = in.shape(1), out = in.shape(2, 3);
  const Moe moe{.tokens = x.at(0),
                .hidden = x.at(1),
                .inner = out.at(2),
                .experts = w1.at(0),
                .topk = out.at(1),
                .gated = w1.at(1) == 2 * out.at(2)};
  return finish(in, moe, Stage::kUp,
                {size_or(in.type(0), 2), size_or(in.type(1), 1), size_or(in.type(2), 2)},
                in.precision(in.type(0)), three_types(in, size_params(moe, true)));
}

// CK tile, second product: input[M, k, N], w2[E, K, *], out
Work cktile_down(const Arguments& in) {
  const Shape x = in.shape(0, 3), w2 = in.shape(1, 3);
  const Moe moe{.tokens = x.at(0),
                .hidden = w2.at(1),
                .inner = x.at(2),
                .experts = w2.at(0),
                .topk = x.at(1)};
  return finish(in, moe, Stage::kDown,
                {size_or(in.type(0), 2), size_or(in.type(1), 1), size_or(in.type(2), 2)},
                in.precision(in.type(0)), three_types(in, size_params(moe, false)));
}

Work ck_stage(const Arguments& in, const Moe& moe, Stage stage, std::size_t weight_slot) {
  const std::string &input = in.type(0), &weight = in.type(weight_slot);
  auto params = size_params(moe, stage == Stage::kUp);
  params.push_back({"input_dtype", input});
  params.push_back({"weight_dtype", weight});
  const double size = size_or(input, 2);
  return finish(in, moe, stage, {size, size_or(weight, 1), size}, in.precision(input),
                std::move(params));
}

// CK: input, w1, w2, ..., out[M, k, N] at 6
Work ck_up(const Arguments& in) {
  Moe moe{.tokens = in.shape(0).at(0), .experts = in.shape(2).at(0), .topk = in.shape(6).at(1)};
  unpack_weights(moe, in.shape(1), in.shape(2));
  return ck_stage(in, moe, Stage::kUp, 1);
}

// CK: input[M, k, N/u], w1, w2[E, K, *]
Work ck_down(const Arguments& in) {
  const Shape x = in.shape(0, 3), w1 = in.shape(1), w2 = in.shape(2, 3);
  if (!w1.empty() && w1.last() == 0) fail("weights of width 0");
  const double packing = w1.empty() ? 1 : std::floor(w2.at(1) / w1.last());
  const Moe moe{.tokens = x.at(0),
                .hidden = w2.at(1),
                .inner = x.at(2) * packing,
                .experts = w2.at(0),
                .topk = x.at(1)};
  return ck_stage(in, moe, Stage::kDown, 2);
}

// 4-bit weights of GPTQ and AWQ: input[M, K], w1[E, rows, *], w2[E, *, N/2]
Work gptq(const Arguments& in, Moe moe, Stage stage) {
  std::string input = in.type_or(0, "");
  if (input.empty()) input = "BFloat16";
  const double size = size_or(input, 2);
  auto params = size_params(moe, stage == Stage::kUp);
  params.push_back({"input_dtype", input});
  return finish(in, moe, stage, {size, 0.5, size}, in.precision(in.type_or(0, "")),
                std::move(params));
}

Work gptq_up(const Arguments& in) {
  const Shape x = in.shape(0, 2), w1 = in.shape(1);
  const Value& gated = extra(in, "MoE GEMM gated");
  Moe moe{.tokens = x.at(0),
          .hidden = x.at(1),
          .inner = w1.at(1),
          .experts = w1.at(0),
          .topk = required_topk(in),
          .gated = gated.is_null() || gated.as_bool()};
  if (moe.gated) moe.inner = std::floor(moe.inner / 2);
  return gptq(in, moe, Stage::kUp);
}

Work gptq_down(const Arguments& in) {
  const Shape x = in.shape(0, 2), w2 = in.shape(2, 3);
  return gptq(in,
              {.tokens = x.at(0),
               .hidden = x.at(1),
               .inner = 2 * w2.at(2),
               .experts = w2.at(0),
               .topk = required_topk(in)},
              Stage::kDown);
}

// One product per expert: input, w[E, N, K], *, out, ..., routing[M, k] at 8
Work grouped_product(const Arguments& in) {
  const Shape w = in.shape(1, 3), routing = in.shape(8, 2);
  in.forward_only();
  const Moe moe{.tokens = routing.at(0),
                .hidden = w.at(2),
                .inner = w.at(1),
                .experts = w.at(0),
                .topk = routing.at(1)};
  const double rows = moe.tokens * moe.topk;
  const std::string &input = in.type(0), &weight = in.type(1);
  std::string output = in.type_or(3, "");
  if (output.empty()) output = input;
  return {.flops = 2 * rows * moe.inner * moe.hidden,
          .bytes = rows * moe.hidden * size_or(input, 2) +
                   active_experts(moe) * moe.inner * moe.hidden * size_or(weight, 1) +
                   rows * moe.inner * size_or(output, 2),
          .compute_spec = compute_spec(Unit::kMatrix, in.precision(weight)),
          .params = {{"m_work", count(rows)},
                     {"num_tokens", count(moe.tokens)},
                     {"topk", count(moe.topk)},
                     {"N", count(moe.inner)},
                     {"K", count(moe.hidden)},
                     {"num_experts", count(moe.experts)},
                     {"input_dtype", input},
                     {"weight_dtype", weight},
                     {"output_dtype", output}}};
}

// Choosing and sorting: one operation per element of the largest tensor, all tensors moved once.
Work routing(const Arguments& in) {
  in.forward_only();
  double largest = 0, bytes = 0;
  std::string largest_type;
  std::vector<Value> operands;
  for (std::size_t slot = 0; slot < in.size(); ++slot) {
    if (!in.has_tensor(slot)) continue;
    const Shape shape = in.shape(slot);
    const std::string type = in.type_or(slot, "");
    operands.push_back(Value::tuple({shape.tuple(), type}));
    bytes += shape.elements() * in.bytes_or(type, 0);
    if (operands.size() > 1 && shape.elements() <= largest) continue;
    largest = shape.elements();
    largest_type = type;
  }
  return in.work(largest, bytes == 0 ? std::nullopt : std::optional{bytes}, Unit::kVector,
                 largest_type, {{"operands", Value::list(std::move(operands))}});
}

// Expert ids and their weights, extended in place by the shared experts.
Work append_shared_experts(const Arguments& in) {
  in.forward_only();
  const Shape ids = in.shape(0), weights = in.tensor_if(1).value_or(ids);
  const std::string id_type = in.type_or(0, ""), weight_type_name = in.type_or(1, "");
  return in.work(
      ids.elements(),
      2 * (ids.elements() * in.bytes_or(id_type, 4) +
           weights.elements() * in.bytes_or(weight_type_name, 4)),
      Unit::kVector, weight_type_name,
      {{"shape_in1", ids.tuple()},
       {"shape_in2", weights.tuple()},
       {"dtype_in1_in2_out", Value::tuple({id_type, weight_type_name, weight_type_name})},
       {"stride_input1", in.stride_or_null(0)},
       {"stride_input2", in.stride_or_null(1)},
       {"stride_output", Value{}}});
}

// ids[M, k], weights, scores[M, E]: softplus of every score, then the k best
Work topk_softplus(const Arguments& in) {
  in.forward_only();
  const Shape scores = in.shape(2, 2);
  const double tokens = scores.at(0), experts = scores.at(1), topk = in.shape(0).at(1);
  const std::string type = in.type_or(2, "c10::BFloat16");
  std::optional<double> bytes = in.bytes(type);
  if (bytes) bytes = tokens * experts * *bytes + 4 * experts + 8 * tokens * topk;
  return in.work(6 * tokens * experts, bytes, Unit::kVector, type,
                 {{"M", count(tokens)},
                  {"n", 1},
                  {"C", count(experts)},
                  {"E", count(experts)},
                  {"topk", count(topk)},
                  {"dtype_in", type}});
}

constexpr ModelledOp op(std::string_view name, std::string_view model, std::string_view kind,
                        Work (*run)(const Arguments&), bool per_call = false) {
  return {{.name = name, .model = model, .category = kind, .sheet = kind, .per_call = per_call},
          run};
}

constexpr auto kFused1Stage = aiter_moe<Stage::kFused, 0>, kFlydslUp = aiter_moe<Stage::kUp, 1>,
               kFlydslDown = aiter_moe<Stage::kDown, 1>, kTritonUp = triton_unfused<Stage::kUp>,
               kTritonDown = triton_unfused<Stage::kDown>;

constexpr ModelledOp kOps[] = {
    op("pseudo_op::moe_aiter_fused_1stage", "moe_aiter_fused_1stage", "MoE_fused", kFused1Stage),
    op("aiter::fmoe_fp8_blockscale_g1u1", "moe_aiter_fused_blockscale", "MoE_fused",
       fused_blockscale),
    op("aiter::fmoe_g1u1", "moe_aiter_fused_blockscale", "MoE_fused", fused_blockscale),
    op("aiter::moe_cktile2stages_gemm1_ck", "moe_aiter_unfused_up", "MoE_unfused", cktile_up),
    op("aiter::moe_cktile2stages_gemm2_ck", "moe_aiter_unfused_down", "MoE_unfused", cktile_down),
    op("aiter::ck_moe_stage1", "moe_aiter_ck_stage1", "MoE_unfused", ck_up),
    op("aiter::ck_moe_stage2", "moe_aiter_ck_stage2", "MoE_unfused", ck_down),
    op("pseudo_op::moe_triton_unfused_up", "moe_triton_unfused_up", "MoE_unfused", kTritonUp, true),
    op("pseudo_op::moe_triton_unfused_down", "moe_triton_unfused_down", "MoE_unfused", kTritonDown,
       true),
    {{.name = "pseudo_op::moe_triton_unfused_finalize_matmul_scatter",
      .model = "moe_combine",
      .category = "MoE_aux",
      .sheet = "MoE_aux",
      .edition = Edition::kExtended,
      .per_call = true},
     combine},
    op("pseudo_op::moe_gptq_awq_up", "moe_gptq_awq_up", "MoE_unfused", gptq_up, true),
    op("pseudo_op::moe_gptq_awq_down", "moe_gptq_awq_down", "MoE_unfused", gptq_down, true),
    op("pseudo_op::moe_flydsl_stage1", "moe_flydsl_stage1", "MoE_unfused", kFlydslUp),
    op("pseudo_op::moe_flydsl_stage2", "moe_flydsl_stage2", "MoE_unfused", kFlydslDown),
    op("sglang_profiler::fused_moe_triton_kernels_invoke_fused_moe_kernel",
       "moe_triton_invoke_grouped_gemm", "MoE_unfused", grouped_product),
    op("aiter::biased_grouped_topk_hip", "BiasedGroupedTopk", "MoE_aux", routing),
    op("aiter::moe_sorting_fwd", "MoeSortScatterGather", "MoE_aux", routing),
    op("aiter::mxfp4_moe_sort_hip", "MoeSortScatterGather", "MoE_aux", routing),
    op("sglang_profiler::fused_moe_triton_kernels_fused_append_shared_experts",
       "sglang_fused_append_shared_experts", "MoE_aux", append_shared_experts),
    op("aiter::topk_softplus", "topk_softplus", "MoE_aux", topk_softplus),
};

}  // namespace

constinit const Family kMoe = modelled<kOps>();

}  // namespace tracelens::perf
