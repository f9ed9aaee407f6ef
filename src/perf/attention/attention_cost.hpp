// attention_cost.hpp: the cost of softmax(Q K^T) V, shared by the attention families.
// With B batches, H_Q query heads, H_KV key/value heads, N_Q queries, N_KV keys, head sizes d_qk,
// d_v:
//   forward  FLOPs = 2*B*H_Q*N_Q*N_KV*(d_qk + d_v), halved by a causal mask
//   backward FLOPs = 2*B*H_Q*N_Q*N_KV*(r*d_qk + 2*d_v), r = 3 where Q K^T is computed again
//   (flash),
//                    else 2, plus summing the gradients of shared key/value heads
//   elements moved = Q, K, V and out forward; backward also their gradients.
// Softmax, mask and dropout are not counted.
#pragma once

#include <vector>

#include "perf/core/arguments.hpp"

namespace tracelens::perf {

struct AttentionSizes {
  double b = 1, n_q = 0, h_q = 0, n_kv = 0, h_kv = 0, d_qk = 0, d_v = 0;
};

// One of Q, K, V: batch, sequence, heads, head size.
struct AttentionTensor {
  double b, n, h, d;
};

// Throws a Reason when the three do not fit together.
[[nodiscard]] AttentionSizes attention_sizes(const AttentionTensor& q, const AttentionTensor& k,
                                             const AttentionTensor& v);

[[nodiscard]] double attention_flops(const Arguments& in, const AttentionSizes& s, bool causal);
[[nodiscard]] double attention_backward_flops(const Arguments& in, const AttentionSizes& s,
                                              bool causal, bool flash);
[[nodiscard]] double attention_elements(const AttentionSizes& s, bool backward);

// B, N_Q, H_Q, N_KV, H_KV, d_h_qk, d_h_v
[[nodiscard]] std::vector<Param> attention_params(const AttentionSizes& s);

// The causal flag as recorded: True, False or a number, which counts as it does in Python.
[[nodiscard]] Value causal_literal(const Arguments& in, std::size_t slot);
[[nodiscard]] bool is_set(const Value& flag);

}  // namespace tracelens::perf
