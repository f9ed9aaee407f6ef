// hlo_library.cpp: matrix products, convolutions and attention: dots, and the calls into libraries
// that stand for them. Their configuration is JSON in the instruction's backend_config, or, for
// TransformerEngine, a dictionary such as {attn_heads = 16 : i64, mask_type = 2 : i64}.
#include <algorithm>
#include <charconv>

#include "perf/hlo/hlo_work.hpp"
#include "trace/json_value.hpp"

namespace tracelens::perf {
namespace {

using hlo::Instruction;

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The member of the configuration that holds a library's own; the whole where it is not nested.
Value config_of(const Instruction& instruction, std::string_view member) {
  const Value config = parse_json_value(instruction.backend_config).value_or(Value{});
  const Value* const own = config.find(member);
  return own == nullptr ? config : *own;
}

// Protobuf's JSON writes 64-bit integers as text.
std::optional<std::int64_t> integer(const Value& value) {
  if (value.is_int()) return value.as_int();
  std::int64_t number = 0;
  const std::string& text = value.as_text();
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || result.ec != std::errc{}) return std::nullopt;
  return number;
}

std::vector<std::int64_t> integers(const Value* list) {
  std::vector<std::int64_t> numbers;
  if (list != nullptr)
    for (const Value& item : list->items()) numbers.push_back(integer(item).value_or(-1));
  return numbers;
}

// cuBLAS and cuBLASLt, or their counterparts of ROCm under the same names. Other routines of these
// libraries ("__cublas$triangularSolve") and calls of a user's own cost something else.
bool is_library_gemm(std::string_view target) {
  return target == "__cublas$gemm" || target.starts_with("__cublas$lt$matmul");
}

// Nothing where the configuration does not say what is contracted.
std::optional<hlo::DotDims> dot_dims(const Value& config) {
  const Value* const dims = config.find("dot_dimension_numbers");
  if (dims == nullptr) return std::nullopt;
  return hlo::DotDims{.lhs_contracting = integers(dims->find("lhs_contracting_dimensions")),
                      .rhs_contracting = integers(dims->find("rhs_contracting_dimensions")),
                      .lhs_batch = integers(dims->find("lhs_batch_dimensions")),
                      .rhs_batch = integers(dims->find("rhs_batch_dimensions"))};
}

// The product of the dims at these places; nothing when one is not there.
std::optional<double> product(const hlo::Shape& shape, const std::vector<std::int64_t>& at) {
  double result = 1;
  for (const std::int64_t index : at) {
    if (index < 0 || index >= static_cast<std::int64_t>(shape.dims.size())) return std::nullopt;
    result *= static_cast<double>(shape.dims[static_cast<std::size_t>(index)]);
  }
  return result;
}

std::optional<HloGemm> gemm_of(const hlo::Shape& lhs, const hlo::Shape& rhs,
                               const hlo::DotDims& dims) {
  const auto k = product(lhs, dims.lhs_contracting), other_k = product(rhs, dims.rhs_contracting);
  const auto batch = product(lhs, dims.lhs_batch), other_batch = product(rhs, dims.rhs_batch);
  if (!k || !batch || k != other_k || batch != other_batch || *k <= 0 || *batch <= 0)
    return std::nullopt;
  return HloGemm{.batch = *batch,
                 .m = lhs.elements() / (*k * *batch),
                 .n = rhs.elements() / (*k * *batch),
                 .k = *k,
                 .adds_c = false,
                 .adds_bias = false,
                 .a = lhs.type,
                 .b = rhs.type,
                 .out = {}};
}

// An integer of "{attn_heads = 16 : i64, is_training = true}".
std::optional<double> attribute(std::string_view dictionary, std::string_view name) {
  const std::string mark = std::string{name} + " = ";
  for (std::size_t at = dictionary.find(mark); at != std::string_view::npos;
       at = dictionary.find(mark, at + 1)) {
    if (at > 0 && dictionary[at - 1] != ' ' && dictionary[at - 1] != '{') continue;
    std::int64_t number = 0;
    const char* const from = dictionary.data() + at + mark.size();
    const auto result = std::from_chars(from, dictionary.data() + dictionary.size(), number);
    if (result.ec == std::errc{}) return static_cast<double>(number);
  }
  return std::nullopt;
}

std::optional<HloAttention> te_attention(const Instruction& call, hlo::ElementType type) {
  const std::string_view config = call.backend_config;
  const auto get = [config](std::string_view name) { return attribute(config, name); };
  const auto batch = get("input_batch"), heads = get("attn_heads"), groups = get("num_gqa_groups"),
             queries = get("q_max_seqlen"), keys = get("kv_max_seqlen");
  auto qk = get("qk_head_dim"), v = get("v_head_dim");
  if (const auto both = get("head_dim"); !qk && both) qk = v = both;  // before the two could differ
  if (!batch || !heads || !groups || !queries || !keys || !qk || !v) return std::nullopt;
  // NVTE_Mask_Type: no mask, padding, causal, padding and causal, and two more causal ones.
  return HloAttention{.sizes = {.b = *batch,
                                .n_q = *queries,
                                .h_q = *heads,
                                .n_kv = *keys,
                                .h_kv = *groups,
                                .d_qk = *qk,
                                .d_v = *v},
                      .causal = get("mask_type").value_or(0) >= 2,
                      .backward = contains(call.target, "backward"),
                      .type = type};
}

// cuDNN: the scores have shape [batch, heads, queries, keys]; Q is [batch, queries, heads, size] or
// with the middle two swapped.
std::optional<HloAttention> cudnn_attention(const Instruction& call, const hlo::Shape& q,
                                            const hlo::Shape& k) {
  const Value config = config_of(call, "cudnn_fmha_backend_config");
  const Value* const scores = config.find("intermediate_tensor_shape");
  const std::vector<std::int64_t> dims =
      integers(scores == nullptr ? nullptr : scores->find("dimensions"));
  if (dims.size() != 4 || q.dims.size() != 4 || k.dims.size() != 4) return std::nullopt;
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const double elements = real(dims[0]) * real(dims[3]) * real(q.dims[3]);
  if (elements <= 0) return std::nullopt;
  const Value* const mask = config.find("mask_type");
  return HloAttention{.sizes = {.b = real(dims[0]),
                                .n_q = real(dims[2]),
                                .h_q = real(dims[1]),
                                .n_kv = real(dims[3]),
                                .h_kv = k.elements() / elements,
                                .d_qk = real(q.dims[3]),
                                .d_v = real(q.dims[3])},
                      .causal = mask != nullptr && contains(mask->as_text(), "CAUSAL"),
                      .backward = contains(call.target, "Backward"),
                      .type = q.type};
}

}  // namespace

const hlo::Shape* HloCosts::operand(hlo::Place place, std::size_t index) const {
  const Instruction& at = module_.at(place);
  if (index >= at.operands.size() || at.operands[index] == hlo::kNone) return nullptr;
  return &module_.at({place.computation, at.operands[index]}).shape;
}

std::optional<HloGemm> HloCosts::gemm(hlo::Place place) const {
  const Instruction& at = module_.at(place);
  const hlo::Shape *const lhs = operand(place, 0), *const rhs = operand(place, 1);
  if (lhs == nullptr || rhs == nullptr) return std::nullopt;
  std::optional<HloGemm> gemm;
  if (at.opcode == "dot" && at.dot) {
    gemm = gemm_of(*lhs, *rhs, *at.dot);
  } else if (at.opcode == "custom-call" && is_library_gemm(at.target)) {
    const Value config = config_of(at, "gemm_backend_config");
    if (const auto dims = dot_dims(config)) gemm = gemm_of(*lhs, *rhs, *dims);
    const Value *const beta = config.find("beta"), *const epilogue = config.find("epilogue");
    if (gemm) {
      gemm->adds_c = beta != nullptr && beta->as_real() != 0;
      gemm->adds_bias = epilogue != nullptr && contains(epilogue->as_text(), "BIAS");
    }
  }
  if (gemm) gemm->out = at.shape.first_array().type;
  return gemm;
}

std::optional<HloConv> HloCosts::conv(hlo::Place place) const {
  const Instruction& at = module_.at(place);
  const bool is_call = at.opcode == "custom-call" && contains(at.target, "$conv");
  const hlo::Shape *const first = operand(place, 0), *const second = operand(place, 1);
  if ((!is_call && at.opcode != "convolution") || !at.conv || first == nullptr || second == nullptr)
    return std::nullopt;
  const hlo::Shape& result = at.shape.first_array();
  HloConv conv;
  conv.input = *first;
  conv.filter = *second;
  conv.output = result;
  if (is_call && contains(at.target, "convBackwardInput")) {
    conv.kind = HloConv::Kind::kBackwardInput;
    conv.input = result;
    conv.output = *first;
  } else if (is_call && contains(at.target, "convBackwardFilter")) {
    conv.kind = HloConv::Kind::kBackwardFilter;
    conv.filter = result;
    conv.output = *second;
  }
  conv.bias = is_call && contains(at.target, "Bias");
  // Each output element takes one multiply and one add per filter element of its output feature:
  // that is the input features of its group times the window. (Both gradients cost the same.)
  const auto features = product(conv.filter, {at.conv->kernel_output_feature});
  if (!features || *features <= 0) return std::nullopt;
  for (const std::int64_t dim : at.conv->kernel_spatial) {
    if (!product(conv.filter, {dim})) return std::nullopt;
    conv.filter_spatial.push_back(conv.filter.dims[static_cast<std::size_t>(dim)]);
  }
  conv.flops = 2 * conv.output.elements() * conv.filter.elements() / *features;
  // A dilated input is mostly zeros that nobody multiplies.
  if (!is_call)
    for (const hlo::WindowDim& dim : at.window)
      conv.flops /= static_cast<double>(std::max<std::int64_t>(dim.base_dilation, 1));
  if (conv.bias) conv.flops += conv.output.elements();
  return conv;
}

std::optional<HloAttention> HloCosts::attention(hlo::Place place) const {
  const Instruction& at = module_.at(place);
  const hlo::Shape *const q = operand(place, 0), *const k = operand(place, 1);
  if (at.opcode != "custom-call" || q == nullptr || k == nullptr) return std::nullopt;
  if (contains(at.target, "te_fused_attn")) return te_attention(at, q->type);
  if (contains(at.target, "fmha")) return cudnn_attention(at, *q, *k);
  return std::nullopt;
}

}  // namespace tracelens::perf
