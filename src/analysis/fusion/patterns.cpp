#include "analysis/fusion/patterns.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace tracelens {
namespace {

using Words = std::array<std::string_view, 3>;  // empty ones count for nothing

struct Pattern {
  std::string_view name;
  Words modules;                      // parts of the module's name, in lower case
  std::array<Words, 3> forward_ops;   // of each at least one
  std::array<Words, 3> backward_ops;  // the same
};
constexpr Pattern kPatterns[] = {
    {.name = "norm",
     .modules = {"norm"},
     .forward_ops = {Words{"rsqrt", "sqrt"}, {"mean", "pow", "var"}, {"mul", "div"}},
     .backward_ops = {Words{"pow"}, {"sum"}, {"mul"}}},
    {.name = "rotary embedding",
     .modules = {"rotary", "rope"},
     .forward_ops = {Words{"neg"}, {"mul"}, {"add"}},
     .backward_ops = {Words{"neg"}, {"mul"}, {"add"}}},
    {.name = "GELU",
     .modules = {"gelu", "mlp", "feedforward"},
     .forward_ops = {Words{"tanh", "erf"}, {"mul"}, {"add"}},
     .backward_ops = {Words{"tanh_backward", "exp"}, {"mul"}, {"add"}}},
    {.name = "scale and shift",  // batch norm with fixed statistics
     .modules = {"batchnorm", "bn"},
     .forward_ops = {Words{"mul"}, {"add"}},
     .backward_ops = {Words{"mul"}, {"sum"}}},
};

// "aten::add_" is the op "add".
bool is_op(std::string_view traced, std::string_view name) {
  if (const std::size_t colons = traced.rfind("::"); colons != std::string_view::npos)
    traced.remove_prefix(colons + 2);
  if (traced.ends_with('_')) traced.remove_suffix(1);
  return traced == name;
}

bool has_ops(std::span<const std::string_view> ops, const std::array<Words, 3>& wanted) {
  return std::ranges::all_of(wanted, [&](const Words& any_of) {
    if (any_of.front().empty()) return true;
    return std::ranges::any_of(any_of, [&](std::string_view name) {
      return !name.empty() &&
             std::ranges::any_of(ops, [&](std::string_view op) { return is_op(op, name); });
    });
  });
}

}  // namespace

ChainPattern pattern_of(std::string_view module, std::span<const std::string_view> ops,
                        ProgramPhase phase) {
  std::string lower{module};
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  ChainPattern best;
  for (const Pattern& pattern : kPatterns) {
    const bool by_name = std::ranges::any_of(pattern.modules, [&](std::string_view word) {
      return !word.empty() && lower.find(word) != std::string::npos;
    });
    const bool by_ops =
        has_ops(ops, phase == ProgramPhase::kBackward ? pattern.backward_ops : pattern.forward_ops);
    if (by_name + by_ops > best.by_name + best.by_ops) best = {pattern.name, by_name, by_ops};
  }
  return best;
}

}  // namespace tracelens
