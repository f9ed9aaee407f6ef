// triton.cpp: see triton.hpp.
#include "perf/other/triton.hpp"

#include <algorithm>
#include <cstdint>

#include "io/ascii.hpp"
#include "perf/core/known_ops.hpp"
#include "perf/core/literals.hpp"

namespace tracelens::perf {
namespace {

using enum Edition;

enum class Kernel : std::uint8_t { kNone, kPointwise, kReduction };

Kernel kind_of(std::string_view name, Edition edition) {
  // O-32: the reference takes hand-written kernels such as triton_per_token_quant for generated
  // ones.
  if (edition == kExtended && name.find("_fused_") == std::string_view::npos) return Kernel::kNone;
  if (name.starts_with("triton_poi_")) return Kernel::kPointwise;
  if (name.starts_with("triton_red_") || name.starts_with("triton_per_")) return Kernel::kReduction;
  return Kernel::kNone;
}

// FLOPs per element of the ops that compute something; the others move data.
struct Weight {
  std::string_view op;
  double flops;
};
constexpr Weight kWeights[] = {
    {"add", 1},   {"sub", 1},        {"mul", 1},  {"div", 1},     {"pow", 2},  {"sqrt", 2},
    {"rsqrt", 2}, {"exp", 4},        {"log", 4},  {"sigmoid", 4}, {"tanh", 4}, {"relu", 1},
    {"silu", 4},  {"gelu", 8},       {"mean", 1}, {"sum", 1},     {"var", 2},  {"abs", 1},
    {"neg", 1},   {"reciprocal", 2}, {"ne", 1},   {"eq", 1},      {"lt", 1},   {"gt", 1},
};

double weight_of(std::string_view op) {
  const auto found = std::ranges::find(kWeights, op, &Weight::op);
  return found == std::end(kWeights) ? 0 : found->flops;
}

// The words of the name between "triton_xxx_fused_" and the trailing number.
std::vector<std::string_view> name_tokens(std::string_view kernel) {
  constexpr std::string_view kFused = "_fused_";
  constexpr std::size_t kKind = std::string_view{"triton_poi"}.size();
  if (kind_of(kernel, kReference) == Kernel::kNone || !kernel.substr(kKind).starts_with(kFused))
    return {};
  std::string_view words = kernel.substr(kKind + kFused.size());
  const std::size_t last = words.rfind('_');
  if (last == std::string_view::npos || last == 0 || last + 1 == words.size()) return {};
  const std::string_view number = words.substr(last + 1);
  if (!std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; })) return {};
  words = words.substr(0, last);
  std::vector<std::string_view> tokens;
  for (std::size_t from = 0;;) {
    const std::size_t end = words.find('_', from);
    tokens.push_back(words.substr(from, end - from));
    if (end == std::string_view::npos) return tokens;
    from = end + 1;
  }
}

std::string joined(std::span<const std::string_view> tokens) {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) text += '_';
    text += tokens[i];
  }
  return text;
}

std::vector<double> integer_arguments(const Arguments& in) {
  std::vector<double> integers;
  for (std::size_t slot = 0; slot < in.concrete_size(); ++slot)
    if (const auto value = in.integer_if_any(slot)) integers.push_back(static_cast<double>(*value));
  return integers;
}

struct Grid {
  double outer = 0, reduced = 1;
};

// The sizes of the kernel's loops are its last integer arguments: the reduced one comes last.
Grid grid_of(Kernel kernel, const Arguments& in) {
  const auto integers = integer_arguments(in);
  if (kernel == Kernel::kReduction && integers.size() >= 2)
    return {integers[integers.size() - 2], integers.back()};
  if (in.edition() == kReference || integers.size() < 2) return {integers.back(), 1};
  // O-32: a pointwise kernel may loop over two sizes. Arguments that are not sizes look the same,
  // so the product counts only when a tensor has that many elements.
  const double product = integers[integers.size() - 2] * integers.back();
  for (std::size_t slot = 0; slot < in.size(); ++slot)
    if (in.has_tensor(slot) && in.shape(slot).elements() == product) return {product, 1};
  return {integers.back(), 1};
}

// The reference looks types up by names that traces do not use for fp32 and integers, which so
// weigh nothing (O-32).
double tensor_bytes(const Arguments& in, const std::string& type) {
  if (in.edition() == kExtended) return in.bytes_or(type, 0);
  constexpr std::pair<std::string_view, double> kSizes[] = {
      {"c10::BFloat16", 2}, {"c10::Half", 2}, {"c10::Float", 4}, {"c10::Double", 8},
      {"c10::Byte", 1},     {"c10::Char", 1}, {"c10::Int", 4},   {"c10::Long", 8}};
  for (const auto& [name, size] : kSizes)
    if (type == name) return size;
  return 0;
}

std::string lower_case_tail(const std::string& type) {
  const std::size_t colons = type.rfind("::");
  return io::lower_case(colons == std::string::npos ? type : type.substr(colons + 2));
}

}  // namespace

std::vector<std::string> fused_ops(std::string_view kernel) {
  const auto tokens = name_tokens(kernel);
  // A name has a handful of words; a hostile one could have a million and is not worth n^2 time.
  constexpr std::size_t kLongestName = 512, kLongestOp = 16;
  if (tokens.empty() || tokens.size() > kLongestName) return {};
  const auto op = [&](std::size_t from, std::size_t to) {
    return joined(std::span{tokens}.subspan(from, to - from));
  };
  std::vector<bool> reachable(tokens.size() + 1, false);
  reachable[0] = true;
  const auto first_start = [](std::size_t to) { return to > kLongestOp ? to - kLongestOp : 0; };
  for (std::size_t to = 1; to <= tokens.size(); ++to)
    for (std::size_t from = first_start(to); from < to && !reachable[to]; ++from)
      reachable[to] = reachable[from] && is_known_op(op(from, to));
  if (!reachable.back()) return {};
  std::vector<std::string> ops;
  for (std::size_t to = tokens.size(); to > 0;) {
    std::size_t from = first_start(to);  // the longest op that ends here
    while (!(reachable[from] && is_known_op(op(from, to)))) ++from;
    ops.push_back(op(from, to));
    to = from;
  }
  std::ranges::reverse(ops);
  return ops;
}

bool has_triton_model(const Arguments& in) {
  if (kind_of(in.call().name, in.edition()) == Kernel::kNone) return false;
  const Signature& args = in.call().args;
  return !args.dims.items().empty() && !args.types.items().empty() &&
         !args.concrete.items().empty() && !integer_arguments(in).empty();
}

Work triton_work(const Arguments& in) {
  in.forward_only();
  const Kernel kernel = kind_of(in.call().name, in.edition());
  const Grid grid = grid_of(kernel, in);
  double weight = 0;
  std::string ops;
  for (const std::string& op : fused_ops(in.call().name)) {
    weight += weight_of(op);
    ops += (ops.empty() ? "aten." : ", aten.") + op;
  }
  double bytes = 0, first_bytes = 0;
  std::string main_type;
  bool first = true;
  for (std::size_t slot = 0; slot < in.size(); ++slot) {
    const std::string type = in.type_or(slot, "Scalar");
    if (type == "Scalar" || !in.has_tensor(slot)) continue;
    const double size = tensor_bytes(in, type);
    bytes += in.shape(slot).elements() * size;
    if (std::exchange(first, false)) first_bytes = size;
    if (main_type.empty() && size > 0) main_type = type;
  }
  if (kernel == Kernel::kPointwise && in.edition() == kReference) bytes += first_bytes * grid.outer;
  Work work =
      in.work(grid.outer * grid.reduced * weight, bytes, Unit::kVector, main_type,
              {{"fused_ops", ops}, {"xnumel", count(grid.outer)}, {"rnumel", count(grid.reduced)}});
  // O-32: the reference names the precision as Triton does, which no GPU file knows.
  if (in.edition() == kReference)
    work.compute_spec = compute_spec(Unit::kVector, lower_case_tail(main_type));
  return work;
}

}  // namespace tracelens::perf
