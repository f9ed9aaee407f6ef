// inference_attention.cpp: attention of serving engines, where the lengths of the requests are not
// in the arguments but in the annotation of the step (StepTokens). Prefilled requests attend
// causally to their own chunk and fully to what is cached; decoded ones to everything cached.
//   FLOPs = H_Q*(d_qk + d_v) * (2*c_sqsk - c_sqsq + 2*g_sqsk)
//   bytes = queries, outputs and new keys at the query's size, cached keys at the cache's size
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "perf/core/arguments.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

struct Attention {
  double n_q = 0, h_q = 0, n_kv = 0, h_kv = 0, d_qk = 0, d_v = 0;
  StepTokens tokens;
  double window = 0;  // keys a decoded token sees at most; 0: all
  std::string q_type, kv_type;
};

const StepTokens& step_of(const Arguments& in) {
  if (!in.call().step) fail("the step has no annotation with token counts");
  return *in.call().step;
}

// A decoded token sees `window` keys at most.
double within_window(const Attention& a, double seen) {
  const double decoded = a.tokens.generation.sq;
  return a.window > 0 && decoded > 0 ? std::min(seen, decoded * a.window) : seen;
}

double flops_of(const Attention& a) {
  const auto& [context, generation] = a.tokens;
  return a.h_q * (a.d_qk + a.d_v) *
         (2 * context.sqsk - context.sqsq + 2 * within_window(a, generation.sqsk));
}

double bytes_of(const Arguments& in, const Attention& a) {
  const auto& [context, generation] = a.tokens;
  const double width = a.d_qk + a.d_v;
  const double fresh = (context.sq + generation.sq) * (a.h_q + a.h_kv) * width;
  const double cached =
      (context.sk - context.sq) + (within_window(a, generation.sk) - generation.sq);
  const double q_size = in.bytes_or(a.q_type, 2);
  return fresh * q_size + cached * a.h_kv * width * in.bytes_or(a.kv_type, q_size);
}

void add_tokens(std::vector<Param>& params, const StepTokens& tokens) {
  const auto& [c, g] = tokens;
  params.insert(params.end(), {{"c_sq", count(c.sq)},
                               {"c_sk", count(c.sk)},
                               {"c_sqsq", count(c.sqsq)},
                               {"c_sqsk", count(c.sqsk)},
                               {"g_sq", count(g.sq)},
                               {"g_sk", count(g.sk)},
                               {"g_sqsq", count(g.sqsq)},
                               {"g_sqsk", count(g.sqsk)}});
}

std::vector<Param> size_params(const Attention& a) {
  return {{"B", 1},
          {"N_Q", count(a.n_q)},
          {"H_Q", count(a.h_q)},
          {"H_V", count(a.h_kv)},
          {"H_K", count(a.h_kv)},
          {"N_KV", count(a.n_kv)},
          {"H_KV", count(a.h_kv)},
          {"d_h_qk", count(a.d_qk)},
          {"d_h_v", count(a.d_v)},
          {"dropout", 0.0},
          {"causal", false},
          {"flash_impl", true}};
}

Work finish(const Arguments& in, const Attention& a, bool with_kv_type, bool with_window = false) {
  in.forward_only();
  if (a.tokens.context.sq == 0 && a.tokens.generation.sq == 0)
    not_implemented("the step processed no tokens");
  auto params = size_params(a);
  add_tokens(params, a.tokens);
  params.push_back({"dtype_Q", a.q_type});
  if (with_kv_type) params.push_back({"dtype_KV", a.kv_type});
  if (with_window) params.push_back({"sliding_window", count(a.window)});
  return in.work(flops_of(a), bytes_of(in, a), Unit::kMatrix, a.q_type, std::move(params));
}

// q[tokens, heads, size], then keys ending in [.., length, heads, size]
Attention unified(const Arguments& in) {
  const Shape q = in.shape(0, 3), k = in.shape(1);
  return {.n_q = q.at(0),
          .h_q = q.at(1),
          .n_kv = k.last(2),
          .h_kv = k.last(1),
          .d_qk = q.at(2),
          .d_v = k.last(),
          .tokens = step_of(in),
          .window = 0,
          .q_type = in.type(0),
          .kv_type = in.type_or(1, in.type(0))};
}

Work unified_attention(const Arguments& in) { return finish(in, unified(in), true); }

// MLA keeps one latent vector per token, of which 512 of 576 values are the value (E-06).
Work mla_decode(const Arguments& in) {
  Attention a = unified(in);
  if (in.edition() == kExtended && a.d_qk == 576) a.d_v = 512;
  return finish(in, a, true);
}

// As unified, but the values have their own tensor.
Work separate_values(const Arguments& in) {
  Attention a = unified(in);
  if (const auto v = in.tensor_if(2)) a.d_v = v->last();
  return finish(in, a, true);
}

// The size of the values is argument 4; the reference looks elsewhere and takes 512 (E-07).
Work tilelang_sparse(const Arguments& in) {
  Attention a = unified(in);
  const auto given = in.edition() == kReference ? std::nullopt : in.integer_if_any(4);
  a.d_v = given && *given > 0 ? static_cast<double>(*given) : 512;
  return finish(in, a, true);
}

// out, *, q, keys, values
Work paged_ragged(const Arguments& in) {
  const Shape q = in.shape(2, 3);
  Attention a{.n_q = q.at(0),
              .h_q = q.at(1),
              .h_kv = in.shape(3).last(1),
              .d_qk = q.at(2),
              .d_v = in.shape(4).last(),
              .tokens = step_of(in),
              .window = 0,
              .q_type = in.type(2),
              .kv_type = {}};
  a.n_kv = a.tokens.context.sk + a.tokens.generation.sk;
  if (in.edition() == kExtended) a.kv_type = in.type_or(3, "");  // E-13: the cache has its own type
  return finish(in, a, false);
}

// out, q, keys, ..., window at 19; decoding only
Work paged_decode(const Arguments& in) {
  const Shape q = in.shape(0, 3);
  Attention a{.n_q = q.at(0),
              .h_q = q.at(1),
              .h_kv = in.shape(2).at(1),
              .d_qk = q.at(2),
              .d_v = q.at(2),
              .tokens = step_of(in),
              .window = 0,
              .q_type = in.type(0),
              .kv_type = in.type_or(2, in.type(0))};
  a.tokens.context = {};
  a.n_kv = a.tokens.generation.sk;
  a.window = static_cast<double>(in.integer_if_any(19).value_or(0));
  return finish(in, a, true, true);
}

// DeepSeek-V4: every decoded token sees a window, and beside it a selection (csa) or a summary
// (hca) of the older ones. Sizes come from what the pseudo-op pass wrote, or from the model's name.
struct V4Config {
  std::string_view name;  // in lower case
  double topk, window, heads, head_size;
};
constexpr V4Config kV4Configs[] = {
    {"deepseek-v4-pro", 1024, 128, 128, 512},
    {"deepseek-v4-flash", 512, 128, 64, 512},
};

enum class V4 : std::uint8_t { kWindow, kSelection, kSummary };

std::optional<double> extra_number(const Arguments& in, std::string_view key) {
  const Value* found = in.call().extra ? in.call().extra->find(key) : nullptr;
  if (!found || !found->is_number() || found->as_real() <= 0) return std::nullopt;
  return found->as_real();
}

const V4Config& v4_config(const Arguments& in) {
  const Value* found = in.call().extra ? in.call().extra->find("v4_model_name") : nullptr;
  std::string name = found ? found->as_text() : std::string{};
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const V4Config& config : kV4Configs)
    if (name.find(config.name) != std::string::npos) return config;
  return kV4Configs[1];
}

double v4_window(const Arguments& in, const StepTokens::Group& decoded, V4 kind) {
  const V4Config& config = v4_config(in);
  const double window = extra_number(in, "v4_window").value_or(config.window);
  const double topk = extra_number(in, "v4_index_topk").value_or(config.topk);
  if (kind == V4::kWindow) return window;
  const bool known = decoded.sq > 0;
  const double length = known ? decoded.sk / decoded.sq : 0;
  if (kind == V4::kSelection)
    return window + (known ? std::min(std::ceil(length / 4), topk) : topk);
  return known ? window + std::ceil(length / 128) : 0;
}

template <V4 kKind>
Work v4_decode(const Arguments& in) {
  const V4Config& config = v4_config(in);
  const double ranks = extra_number(in, "v4_tp").value_or(1);
  const double head = extra_number(in, "v4_d_h").value_or(config.head_size);
  Attention a{
      .h_q = extra_number(in, "v4_H_Q").value_or(std::max(1.0, std::floor(config.heads / ranks))),
      .h_kv = 1,
      .d_qk = head,
      .d_v = head,
      .tokens = step_of(in),
      .window = 0,
      .q_type = "c10::bfloat16",
      .kv_type = "c10::bfloat16"};
  a.tokens.context = {};
  const StepTokens::Group& decoded = a.tokens.generation;
  const double rows = in.shape(0).at(0);
  a.n_q = rows != 0 ? rows : decoded.sq;
  a.n_kv = decoded.sk;
  a.window = v4_window(in, decoded, kKind);
  return finish(in, a, true, true);
}

// q, keys, picked pairs (two lists of them); needs no annotation
Work sparse_prefill(const Arguments& in) {
  in.forward_only();
  const Shape q = in.shape(0, 3);
  const double pairs = in.shape(2).at(0) + in.shape(5).at(0);
  Attention a{.n_q = q.at(0),
              .h_q = q.at(1),
              .n_kv = pairs,
              .h_kv = 1,
              .d_qk = q.at(2),
              .d_v = q.at(2),
              .tokens = {},
              .window = 0,
              .q_type = in.type(0),
              .kv_type = in.type_or(1, in.type(0))};
  auto params = size_params(a);
  params.insert(params.end(),
                {{"prefill_pairs", count(pairs)}, {"dtype_Q", a.q_type}, {"dtype_KV", a.kv_type}});
  const double q_size = in.bytes_or(a.q_type, 2);
  return in.work(pairs * a.h_q * 4 * a.d_qk,
                 2 * q.elements() * q_size + pairs * a.d_qk * in.bytes_or(a.kv_type, q_size),
                 Unit::kMatrix, a.q_type, std::move(params));
}

// Gated delta net: mixed q, k, v; b[tokens, value heads]; a; out[tokens, value heads, size]
Work gated_delta_net(const Arguments& in) {
  in.forward_only();
  const double v_heads = in.shape(1).at(1), d_v = in.shape(3).at(2);
  const double k_heads = std::floor(v_heads / 2);
  if (k_heads == 0) fail("fewer than two value heads");
  const double mixed = in.shape(0).at(1) - v_heads * d_v;
  if (mixed < 0) fail("the fused input is narrower than its values");
  const double d_k = std::floor(std::floor(mixed / 2) / k_heads);
  if (!in.call().step) not_implemented("the step has no annotation with token counts");
  const double context = in.call().step->context.sq, decoded = in.call().step->generation.sq;
  const double n = context + decoded;
  if (n == 0) not_implemented("the step processed no tokens");
  std::vector<Param> params{{"B", 1},
                            {"N_Q", count(n)},
                            {"H_Q", count(k_heads)},
                            {"N_KV", 0},
                            {"H_KV", count(k_heads)},
                            {"H_V", count(v_heads)},
                            {"H_K", count(k_heads)},
                            {"d_h_qk", count(d_k)},
                            {"d_h_v", count(d_v)}};
  add_tokens(params, {.context = {.sq = context, .sk = context, .sqsq = 0, .sqsk = 0},
                      .generation = {.sq = decoded, .sk = decoded, .sqsq = 0, .sqsk = 0}});
  params.push_back({"dtype_Q", in.type(0)});
  const double size = in.edition() == kReference ? 2 : in.bytes_or(in.type(0), 2);  // E-08
  return in.work(7 * n * v_heads * d_v * d_k, size * n * v_heads * (d_k + 2 * d_v + 2),
                 Unit::kMatrix, in.type(0), std::move(params));
}

// New keys and values into the cache: each read and written.
Work store_cache(const Arguments& in) {
  in.forward_only();
  const Shape keys = in.shape(0);
  const double n = keys.elements();
  return in.work(0, 4 * n * in.bytes_or(in.type(0), 2), Unit::kVector, in.type(0),
                 {{"op_shape", keys.tuple()}, {"nelems", count(n)}, {"dtype", in.type(0)}});
}

constexpr ModelledOp op(std::string_view name, std::string_view model,
                        Work (*run)(const Arguments&), bool per_call = true) {
  return {{.name = name,
           .model = model,
           .category = "InferenceAttention",
           .sheet = "InferenceAttention",
           .per_call = per_call},
          run};
}
constexpr ModelledOp forward_only(ModelledOp op) {
  op.info.backward_work = BackwardWork::kNone;
  return op;
}

constexpr auto kV4Window = v4_decode<V4::kWindow>, kV4Selection = v4_decode<V4::kSelection>,
               kV4Summary = v4_decode<V4::kSummary>;

constexpr ModelledOp kOps[] = {
    forward_only(op("vllm::unified_attention_with_output", "vllm_unified_attention_with_output",
                    unified_attention)),
    op("aiter::mha_varlen_fwd", "mha_varlen_fwd", unified_attention),
    op("aiter::fmha_v3_varlen_fwd", "aiter_fmha_v3_varlen_fwd", separate_values),
    op("aiter::mha_batch_prefill", "aiter_mha_batch_prefill", separate_values),
    op("sglang_profiler::attention_paged_attention_ragged", "aiter_paged_attention_ragged",
       paged_ragged),
    op("pseudo_mla_decode_fwd", "mla_decode_fwd", mla_decode),
    op("pseudo_mla_prefill_fwd", "pseudo_mla_prefill_fwd", separate_values),
    op("aiter::pa_decode_gluon", "pa_decode_gluon", paged_decode),
    op("pseudo_v4_paged_decode_swa", "pseudo_v4_paged_decode_swa", kV4Window),
    op("pseudo_v4_paged_decode_csa", "pseudo_v4_paged_decode_csa", kV4Selection),
    op("pseudo_v4_paged_decode_hca", "pseudo_v4_paged_decode_hca", kV4Summary),
    op("aiter::pa_sparse_prefill_opus_fwd", "pa_sparse_prefill_opus_fwd", sparse_prefill, false),
    op("sglang_profiler::tilelang_kernel_tilelang_sparse_fwd", "mla_tilelang_sparse_fwd",
       tilelang_sparse),
    op("vllm::gdn_attention_core", "gdn_attention_core", gated_delta_net),
    op("aiter::linear_attention_with_output_base", "gdn_attention_core", gated_delta_net),
    op("sglang::store_cache", "sglang_store_cache", store_cache, false),
};

}  // namespace

constinit const Family kInferenceAttention = modelled<kOps>();

}  // namespace tracelens::perf
