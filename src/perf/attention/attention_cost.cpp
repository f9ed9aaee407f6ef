// attention_cost.cpp: see attention_cost.hpp.
#include "perf/attention/attention_cost.hpp"

#include <cmath>

namespace tracelens::perf {
namespace {

// Share of the score matrix that a causal mask leaves. The reference knows only square ones (O-10);
// otherwise the last query sees every key, so query i of N_Q sees N_KV - N_Q + i + 1 of them.
double causal_share(const Arguments& in, double n_q, double n_kv) {
  if (n_q == n_kv) return 0.5;
  if (in.edition() == Edition::kReference)
    fail("causal attention with different lengths of Q and K");
  if (n_q == 0 || n_kv == 0) return 0;
  const double seen =
      n_q <= n_kv ? n_q * (n_kv - n_q) + n_q * (n_q + 1) / 2 : n_kv * (n_kv + 1) / 2;
  return seen / (n_q * n_kv);
}

}  // namespace

AttentionSizes attention_sizes(const AttentionTensor& q, const AttentionTensor& k,
                               const AttentionTensor& v) {
  if (q.b != k.b || k.b != v.b) fail("Q, K and V have different batch sizes");
  if (k.h != v.h || k.n != v.n) fail("K and V differ in heads or length");
  if (q.d != k.d) fail("Q and K have different head sizes");
  return {.b = q.b, .n_q = q.n, .h_q = q.h, .n_kv = k.n, .h_kv = k.h, .d_qk = q.d, .d_v = v.d};
}

double attention_flops(const Arguments& in, const AttentionSizes& s, bool causal) {
  const double all = s.b * s.h_q * 2 * s.n_q * s.n_kv * (s.d_qk + s.d_v);
  return causal ? all * causal_share(in, s.n_q, s.n_kv) : all;
}

double attention_backward_flops(const Arguments& in, const AttentionSizes& s, bool causal,
                                bool flash) {
  if (s.h_kv == 0) fail("no key/value heads");
  const double products = s.b * s.h_q * 2 * s.n_q * s.n_kv * ((flash ? 3 : 2) * s.d_qk + 2 * s.d_v);
  const double head_sums = s.b * s.n_kv * (s.d_qk + s.d_v) * (std::floor(s.h_q / s.h_kv) - 1);
  const double all = products + head_sums;
  return causal ? all * causal_share(in, s.n_q, s.n_kv) : all;
}

double attention_elements(const AttentionSizes& s, bool backward) {
  if (!backward) return s.b * (s.n_q * s.h_q + s.n_kv * s.h_kv) * (s.d_qk + s.d_v);
  return s.b * (s.n_q * s.h_q * (2 * s.d_qk + s.d_v) + 2 * s.n_kv * s.h_kv * (s.d_qk + s.d_v));
}

std::vector<Param> attention_params(const AttentionSizes& s) {
  return {{"B", count(s.b)},       {"N_Q", count(s.n_q)},   {"H_Q", count(s.h_q)},
          {"N_KV", count(s.n_kv)}, {"H_KV", count(s.h_kv)}, {"d_h_qk", count(s.d_qk)},
          {"d_h_v", count(s.d_v)}};
}

Value causal_literal(const Arguments& in, std::size_t slot) {
  if (const auto number = in.integer_if_any(slot)) return *number;
  return in.boolean(slot);
}

bool is_set(const Value& flag) { return flag.as_bool() || flag.as_int() != 0; }

}  // namespace tracelens::perf
