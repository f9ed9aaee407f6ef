#include "report/replay/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "io/ascii.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kCompiled = "triton_", kCustom = "custom_";

bool is_word(std::string_view text, std::string_view also = "") {
  return !text.empty() && std::ranges::all_of(text, [also](char c) {
    return (io::lower(c) >= 'a' && io::lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           also.find(c) != also.npos;
  });
}

// "AddmmBackward0": PyTorch numbers its nodes, those of classes in Python have no number.
bool is_node_of_pytorch(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  return digits < name.size() && name.substr(0, digits).ends_with("Backward") && is_word(name);
}

// "aten::mm", "vllm::moe", "torch::autograd::AccumulateGrad"; not "torch::autograd::CppNode<Mine>"
bool is_operator(std::string_view name) {
  const std::size_t first = name.find("::"), last = name.rfind("::");
  if (first == name.npos) return false;
  const bool is_pytorchs = name.starts_with("torch::") || name.starts_with("torch.");
  return (first == last || is_pytorchs) && is_word(name.substr(0, last), ".:") &&
         is_word(name.substr(last + 2), ".");
}

bool is_compiled(std::string_view name) { return name.starts_with(kCompiled) && is_word(name); }

bool is_told(std::string_view name) {
  constexpr std::array kWithoutNamespace = {"detach", "detach_", "record_param_comms",
                                            "CompiledFunction", "CompiledFunctionBackward"};
  return is_operator(name) || is_node_of_pytorch(name) || is_compiled(name) ||
         std::ranges::find(kWithoutNamespace, name) != kWithoutNamespace.end();
}

// FNV-1a, which the script computes, too, to find a kernel in the files it is given.
std::string hashed(std::string_view name) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

}  // namespace

std::string ScriptNames::of(std::string_view op) {
  if (is_compiled(op) && !kernel_names_) return std::string{kCompiled} + hashed(op);
  if (is_told(op)) return std::string{op};
  const auto known = custom_.find(op);
  if (known != custom_.end()) return known->second;
  return custom_.emplace(op, fmt::format("{}{}", kCustom, custom_.size() + 1)).first->second;
}

std::string ScriptNames::of_file(std::string_view name) const {
  return kernel_names_ || name.empty() ? std::string{name} : hashed(name) + ".py";
}

bool may_be_called(std::string_view op, std::string_view in_script) {
  if (in_script == op) return true;
  if (is_compiled(op)) return in_script == std::string{kCompiled} + hashed(op);
  return !is_told(op) && in_script.starts_with(kCustom);
}

}  // namespace tracelens
