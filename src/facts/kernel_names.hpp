// kernel_names.hpp: what a GPU kernel is for, by its name: one ordered table of rules per purpose.
//   name_kind("ncclDevKernel_AllReduce_Sum")                            // NameKind::kCommunication
//   rocprof_category("Cijk_Ailk_Bljk_BBS_BH")                           // "GEMM"
// In every table the first rule that matches decides. The tables are fixed: those whose categories
// the Python TraceLens prints are exactly its own. The rules a user may extend are KernelRules.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracelens {

enum class Match : std::uint8_t {
  kAnywhere,  // the text stands anywhere in the name
  kAnyCase,   // the same whatever the case; the text is in lower case
  kWhole,     // the name is the text, apart from ".kd" at its end (AMD's kernel descriptors)
};
[[nodiscard]] bool matches(std::string_view name, Match match, std::string_view text);

template <class Category>
struct NameRule {
  Category category;
  Match match;
  std::string_view text;
};

template <class Category, std::size_t kSize>
[[nodiscard]] Category first_match(std::string_view name, const NameRule<Category> (&rules)[kSize],
                                   Category otherwise) {
  for (const NameRule<Category>& rule : rules)
    if (matches(name, rule.match, rule.text)) return rule.category;
  return otherwise;
}

// What counts as communication, copy and fill in timelines. ROCm up to 7.1 records copies and fills
// as kernels with names of their own.
enum class NameKind : std::uint8_t { kOther, kCommunication, kCopy, kFill };
[[nodiscard]] NameKind name_kind(std::string_view kernel);

// NCCL, RCCL and custom all-reduce kernels.
[[nodiscard]] inline bool is_communication_name(std::string_view kernel) {
  return name_kind(kernel) == NameKind::kCommunication;
}

// The rows of category_summary of a ROCm timeline, in this order.
enum class KernelClass : std::uint8_t {
  kXla,  // everything that is nothing else
  kAiterForward,
  kAiterBackward,
  kGemm,
  kAttentionBackward,
  kAttentionForward,
  kTransformerEngine,
  kCopy,
  kFill,
  kCommunication,
};
inline constexpr std::array<std::string_view, 10> kKernelClassNames = {
    "xla",   "aiterfwd", "aiterbwd",      "gemm",       "ckbwd",
    "ckfwd", "te",       "memcpy/memset", "fillBuffer", "rccl"};
[[nodiscard]] KernelClass kernel_class(std::string_view kernel);

// Of rocprofv3's results: GEMM, Elementwise, Reduction, Convolution, Normalization, Attention,
// Memory, COMM, Other. KernelRules know more.
[[nodiscard]] std::string_view rocprof_category(std::string_view kernel);

// Of Genesis, a physics simulator: "Rigid Body Solver", "Broadphase Collision", ..., "Other".
[[nodiscard]] std::string_view genesis_category(std::string_view kernel);

// Of a JAX profile: by the kernel's name, then, unless the name says attention, by that of its HLO
// op.
inline constexpr std::string_view kUncategorizedXla = "Uncategorized Events/XLA";
[[nodiscard]] std::string_view jax_category(std::string_view kernel, std::string_view hlo_op);
// All but kUncategorizedXla, in the order of the Python TraceLens's sheets.
[[nodiscard]] std::span<const std::string_view> jax_categories();

}  // namespace tracelens
