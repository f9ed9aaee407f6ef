// packed_attention.cpp: attention over sequences of different lengths packed into one tensor, and
// over the five-dimensional tensors of structure prediction. Formulas: attention_cost.hpp.
#include <cmath>

#include "perf/attention/attention_cost.hpp"
#include "perf/core/family_list.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

constexpr OpInfo info(std::string_view name, std::string_view model, std::string_view category,
                      BackwardWork backward_work = BackwardWork::kLinked) {
  return {.name = name,
          .model = model,
          .category = category,
          .backward_category = "SDPA_bwd",
          .sheet = "SDPA",
          .backward_work = backward_work};
}

// [tokens, heads, head size]
AttentionTensor packed_tensor(const Arguments& in, std::size_t slot) {
  const Shape shape = in.shape(slot, 3);
  return {1, shape.at(0), shape.at(1), shape.at(2)};
}

// Sequences packed one after another; their lengths are not in the trace, only the longest one's.
struct PackedOp {
  OpInfo info;
  std::size_t q, offsets_q, longest_q, dropout, causal;  // K's slots follow each of Q's
  bool backward;
};

constexpr PackedOp kPackedOps[] = {
    {.info = info("flash_attn::_flash_attn_varlen_forward", "flash_attention_varlen_forward",
                  "SDPA_fwd"),
     .q = 0,
     .offsets_q = 3,
     .longest_q = 5,
     .dropout = 7,
     .causal = 9,
     .backward = false},
    {.info = info("flash_attn::_flash_attn_varlen_backward", "flash_attention_varlen_backward",
                  "SDPA_bwd", BackwardWork::kIsOp),
     .q = 1,
     .offsets_q = 9,
     .longest_q = 11,
     .dropout = 13,
     .causal = 15,
     .backward = true},
};

// One sequence of the greatest length, and the rest of the tokens shared evenly by the others.
double packed_flops(const PackedOp& op, const Arguments& in, const AttentionSizes& s, bool causal,
                    double sequences_q, double sequences_kv, double longest_q, double longest_kv) {
  const auto flops = [&](double n_q, double n_kv) {
    AttentionSizes one = s;
    one.n_q = n_q;
    one.n_kv = n_kv;
    return op.backward ? attention_backward_flops(in, one, causal, true)
                       : attention_flops(in, one, causal);
  };
  const double first = flops(longest_q, longest_kv);
  if (sequences_q <= 1) return first;
  if (sequences_kv == 1) fail("several query sequences but one key sequence");
  return first + (sequences_q - 1) * flops(std::floor((s.n_q - longest_q) / (sequences_q - 1)),
                                           std::floor((s.n_kv - longest_kv) / (sequences_kv - 1)));
}

Work packed_attention(const PackedOp& op, const Arguments& in) {
  const AttentionSizes s = attention_sizes(packed_tensor(in, op.q), packed_tensor(in, op.q + 1),
                                           packed_tensor(in, op.q + 2));
  const double sequences_q = in.shape(op.offsets_q).at(0) - 1;
  const double sequences_kv = in.shape(op.offsets_q + 1).at(0) - 1;
  const double longest_q = in.real(op.longest_q), longest_kv = in.real(op.longest_q + 1);
  const Value causal = causal_literal(in, op.causal);
  auto params = attention_params(s);
  params.insert(params.end(), {{"q_stride", in.stride(op.q)},
                               {"k_stride", in.stride(op.q + 1)},
                               {"v_stride", in.stride(op.q + 2)},
                               {"dropout", in.real(op.dropout)},
                               {"causal", causal},
                               {"flash_impl", true},
                               {"dtype_A_B", in.types(0, 2)},
                               {"num_seqs_q", count(sequences_q)},
                               {"num_seqs_kv", count(sequences_kv)},
                               {"max_seqlen_q", longest_q},
                               {"max_seqlen_kv", longest_kv}});
  // Asked for its linked backward work, the reference forgets the sequences and counts one.
  const double flops = in.backward() && in.edition() == kReference
                           ? attention_backward_flops(in, s, is_set(causal), true)
                           : packed_flops(op, in, s, is_set(causal), sequences_q, sequences_kv,
                                          longest_q, longest_kv);
  const double elements = attention_elements(s, op.backward || in.backward());
  const double size = in.edition() == kReference ? 2 : in.bytes_or(in.type(op.q), 2);
  return in.work(flops, elements * size, Unit::kMatrix, in.type(0), std::move(params));
}

// DeepSpeed's evoformer: Q, K, V are [batch, sequences, residues, heads, head size].
Work evoformer(const Arguments& in) {
  const Shape q = in.shape(0, 5);
  const AttentionSizes s{.b = q.at(0) * q.at(1),
                         .n_q = q.at(2),
                         .h_q = q.at(3),
                         .n_kv = q.at(2),
                         .h_kv = q.at(3),
                         .d_qk = q.at(4),
                         .d_v = q.at(4)};
  const Value type = in.type_or_null(0);
  auto params = attention_params(s);
  params.insert(params.end(),
                {{"causal", false}, {"flash_impl", false}, {"dtype_A_B", Value::list({type})}});
  const double flops =
      in.backward() ? attention_backward_flops(in, s, false, false) : attention_flops(in, s, false);
  const double size = in.edition() == kReference ? 2 : in.bytes_or(type.as_text(), 2);
  return in.work(flops, attention_elements(s, in.backward()) * size, Unit::kMatrix, type.as_text(),
                 std::move(params));
}

constexpr ModelledOp kEvoformerOps[] = {
    {info("EvoformerAttention", "evoformer_attention", "SDPA_fwd"), evoformer},
};

}  // namespace

constinit const Family kPackedAttention = modelled<kPackedOps, packed_attention>();
constinit const Family kEvoformerAttention = modelled<kEvoformerOps>();

}  // namespace tracelens::perf
