// attention.cpp: scaled dot product attention over whole tensors, forward and backward, as PyTorch,
// flash-attn and AITER call it. Formulas: attention_cost.hpp.
#include <utility>

#include "perf/attention/attention_cost.hpp"
#include "perf/core/family_list.hpp"
#include "perf/core/literals.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

enum class Layout : std::uint8_t { kBnhd, kBhnd };  // order of sequence and head in the tensors
enum class Mask : std::uint8_t {
  kWord,      // "True": causal
  kLiteral,   // True, False or a number; anything else is an error
  kOptional,  // as kLiteral, but causal when it was not recorded
  kCode,      // 0: none, 1 and 2: causal, aligned top left or bottom right
};
constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

struct AttentionOp {
  OpInfo info;
  std::size_t q;  // K and V follow
  Layout layout;
  std::size_t dropout = kNoSlot;
  bool strict_dropout = false;  // text that is not a number is an error instead of 0
  Mask mask = Mask::kWord;
  std::size_t causal = kNoSlot;
  bool flash = true;
  bool backward = false;
  bool types = false;        // records dtype_A_B: types 0 and 1, whatever they are
  bool strides = false;      // records the strides of Q, K and V
  bool typed_bytes = false;  // element size of argument 0; else the reference says 2
};

constexpr OpInfo info(std::string_view name, std::string_view model, bool backward) {
  return {.name = name,
          .model = model,
          .category = backward ? "SDPA_bwd" : "SDPA_fwd",
          .backward_category = "SDPA_bwd",
          .sheet = "SDPA"};
}

// flash-attn's Python function and the op below it
constexpr AttentionOp flash_attn(std::string_view name) {
  return {.info = info(name, "flash_attention", false),
          .q = 0,
          .layout = Layout::kBnhd,
          .dropout = 3,
          .strict_dropout = true,
          .mask = Mask::kLiteral,
          .causal = 5,
          .types = true,
          .strides = true};
}

// AITER and FA3 record neither types nor strides.
constexpr AttentionOp aiter(std::string_view name, std::string_view model, std::size_t q,
                            std::size_t dropout, std::size_t causal, bool backward) {
  return {.info = info(name, model, backward),
          .q = q,
          .layout = Layout::kBnhd,
          .dropout = dropout,
          .mask = Mask::kWord,
          .causal = causal,
          .backward = backward};
}

constexpr AttentionOp torch(std::string_view name, std::string_view model, std::size_t dropout,
                            std::size_t causal, bool flash) {
  return {.info = info(name, model, false),
          .q = 0,
          .layout = Layout::kBhnd,
          .dropout = dropout,
          .mask = Mask::kWord,
          .causal = causal,
          .flash = flash,
          .types = true};
}

// PyTorch's ops below the public ones, and their backward: a category and a model, but no sheet of
// their own, for there they would count the same kernels twice.
constexpr AttentionOp inner(std::string_view name, Layout layout, std::size_t dropout, Mask mask,
                            std::size_t causal) {
  return {.info = {.name = name, .model = "sdpa", .category = "SDPA_fwd", .edition = kExtended},
          .q = 0,
          .layout = layout,
          .dropout = dropout,
          .mask = mask,
          .causal = causal,
          .types = true};
}
constexpr AttentionOp inner_backward(std::string_view name, Layout layout, std::size_t dropout,
                                     Mask mask, std::size_t causal) {
  return {.info = {.name = name,
                   .model = "sdpa_backward",
                   .category = "SDPA_bwd",
                   .edition = kExtended},
          .q = 1,
          .layout = layout,
          .dropout = dropout,
          .mask = mask,
          .causal = causal,
          .backward = true,
          .types = true};
}

constexpr bool kForward = false, kBackward = true;

// Numbers: slots of Q where it is not fixed, of the dropout probability, of the causal flag.
constexpr AttentionOp kOps[] = {
    flash_attn("FlashAttnFunc"),
    flash_attn("flash_attn::_flash_attn_forward"),
    {.info = info("flash_attn::_flash_attn_backward", "flash_attention_backward", kBackward),
     .q = 1,
     .layout = Layout::kBnhd,
     .dropout = 8,
     .mask = Mask::kOptional,
     .causal = 10,
     .backward = true,
     .types = true,
     .strides = true,
     .typed_bytes = true},
    torch("aten::_scaled_dot_product_cudnn_attention", "aten__scaled_dot_product_cudnn_attention",
          5, 6, false),
    torch("aten::_scaled_dot_product_efficient_attention",
          "aten__scaled_dot_product_efficient_attention", 5, 6, false),
    torch("aten::_scaled_dot_product_flash_attention", "aten__scaled_dot_product_flash_attention",
          3, 4, true),
    aiter("aiter::_flash_attn_forward", "aiter__flash_attn_forward", 0, 3, 5, kForward),
    aiter("aiter::_flash_attn_backward", "aiter__flash_attn_backward", 0, 10, 12, kBackward),
    aiter("aiter::wrapper_fmha_v3_fwd", "aiter__fmha_v3_forward", 1, 4, 6, kForward),
    aiter("aiter::wrapper_fmha_v3_bwd", "aiter__fmha_v3_backward", 1, 7, 9, kBackward),
    aiter("aiter::mha_fwd", "aiter__mha_fwd", 0, 3, 5, kForward),
    aiter("aiter::fmha_v3_fwd", "aiter__fmha_v3_fwd", 0, 3, 5, kForward),
    aiter("aiter::mha_bwd", "aiter__mha_bwd", 1, 6, 8, kBackward),
    aiter("flash_attn_3::fwd", "flash_attn_v3_forward", 0, kNoSlot, 24, kForward),
    inner("aten::_cudnn_attention_forward", Layout::kBhnd, 9, Mask::kWord, 10),
    inner("aten::_flash_attention_forward", Layout::kBnhd, 7, Mask::kWord, 8),
    inner("aten::_efficient_attention_forward", Layout::kBnhd, 8, Mask::kCode, 9),
    inner_backward("aten::_scaled_dot_product_cudnn_attention_backward", Layout::kBhnd, 13,
                   Mask::kWord, 14),
    inner_backward("aten::_cudnn_attention_backward", Layout::kBhnd, 13, Mask::kWord, 14),
    inner_backward("aten::_scaled_dot_product_flash_attention_backward", Layout::kBhnd, 10,
                   Mask::kWord, 11),
    inner_backward("aten::_flash_attention_backward", Layout::kBnhd, 10, Mask::kWord, 11),
    inner_backward("aten::_scaled_dot_product_efficient_attention_backward", Layout::kBhnd, 9,
                   Mask::kWord, 11),
    inner_backward("aten::_efficient_attention_backward", Layout::kBnhd, 11, Mask::kCode, 14),
};

AttentionTensor tensor(const Arguments& in, std::size_t slot, Layout layout) {
  const Shape shape = in.shape(slot, 4);
  const std::size_t n = layout == Layout::kBnhd ? 1 : 2;
  return {shape.at(0), shape.at(n), shape.at(3 - n), shape.at(3)};
}

// The reference counts two bytes per element whatever the type (O-09), except where a row says
// otherwise.
std::optional<double> bytes_moved(const AttentionOp& op, const Arguments& in, double elements) {
  if (op.typed_bytes && in.edition() == kReference && !in.backward())
    return elements * in.known_bytes(in.type(0));
  if (in.edition() == kReference) return elements * 2;
  const auto size = in.bytes(in.type(op.q));
  if (!size) return std::nullopt;
  return elements * *size;
}

bool is_true(const std::string& text) {
  return text.size() == 4 && (text[0] | 0x20) == 't' && (text[1] | 0x20) == 'r' &&
         (text[2] | 0x20) == 'u' && (text[3] | 0x20) == 'e';
}

Value causal_param(const AttentionOp& op, const Arguments& in) {
  switch (op.mask) {
    case Mask::kWord:
      return is_true(in.text(op.causal));
    case Mask::kLiteral:
      return causal_literal(in, op.causal);
    case Mask::kOptional:
      return in.text_or_empty(op.causal).empty() ? Value{true} : causal_literal(in, op.causal);
    case Mask::kCode:
      return in.integer(op.causal) != 0;
  }
  return {};
}

double dropout_of(const AttentionOp& op, const Arguments& in) {
  if (op.dropout == kNoSlot) return 0;
  if (op.strict_dropout) return in.real(op.dropout);
  if (op.mask == Mask::kOptional)
    return in.text_or_empty(op.dropout).empty() ? 0 : in.real(op.dropout);
  return parse_real(in.text(op.dropout)).value_or(0);
}

Work attention(const AttentionOp& op, const Arguments& in) {
  const AttentionSizes s =
      attention_sizes(tensor(in, op.q, op.layout), tensor(in, op.q + 1, op.layout),
                      tensor(in, op.q + 2, op.layout));
  const Value causal = causal_param(op, in);
  auto params = attention_params(s);
  if (op.strides)
    for (const auto& [name, slot] :
         {std::pair{"q_stride", op.q}, {"k_stride", op.q + 1}, {"v_stride", op.q + 2}})
      params.push_back({name, in.stride(slot)});
  params.push_back({"dropout", dropout_of(op, in)});
  params.push_back({"causal", causal});
  params.push_back({"flash_impl", op.flash});
  // Without a recorded type the reference has no compute spec (O-11).
  if (op.types) params.push_back({"dtype_A_B", in.types(0, 2)});
  const bool backward = op.backward || in.backward();
  const double flops = backward ? attention_backward_flops(in, s, is_set(causal), op.flash)
                                : attention_flops(in, s, is_set(causal));
  const auto bytes = bytes_moved(op, in, attention_elements(s, backward));
  const std::string type = op.types && in.edition() == kReference ? in.type(0)
                           : in.edition() == kReference           ? std::string{}
                                                                  : in.type_or(op.q, "");
  return in.work(flops, bytes, Unit::kMatrix, type, std::move(params));
}

}  // namespace

constinit const Family kAttention = modelled<kOps, attention>();

}  // namespace tracelens::perf
