// op_registry.cpp: the tables of all families, hashed by name once, and the category rules.
#include "perf/registry/op_registry.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "perf/registry/families.hpp"
#include "perf/registry/registry_index.hpp"

namespace tracelens::perf {
namespace {

class Index {
 public:
  explicit Index(Edition edition) {
    for (const Family* family : families())
      for (std::size_t row = 0; row < family->size; ++row) {
        const OpInfo& info = family->info(row);
        if (info.edition > edition) continue;
        const auto [found, is_new] = by_name_.try_emplace(info.name, OpRow{family, row});
        if (is_new)
          ops_.push_back(&info);
        else if (info.edition > found->second.info().edition)
          replace(found->second, {family, row});
      }
  }
  [[nodiscard]] const OpRow* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] std::span<const OpInfo* const> ops() const { return ops_; }

 private:
  void replace(OpRow& old, OpRow corrected) {
    for (const OpInfo*& op : ops_)
      if (op == &old.info()) op = &corrected.info();
    old = corrected;
  }

  std::unordered_map<std::string_view, OpRow> by_name_;
  std::vector<const OpInfo*> ops_;
};

const Index& index_of(Edition edition) {
  static const Index reference{Edition::kReference}, extended{Edition::kExtended};
  return edition == Edition::kReference ? reference : extended;
}

// Applied to the first kernel of an op that has no row; PyTorch's own kernels only.
constexpr std::string_view kNativeKernel = "void at::native";
constexpr std::string_view kNativeKernelKinds[] = {"elementwise", "reduce", "multi_tensor_apply"};

// Ours: what a copy engine does has its direction in its name, "Memcpy HtoD (Pageable -> Device)".
constexpr std::pair<std::string_view, std::string_view> kCopies[] = {
    {"Memcpy HtoD", "copy_HtoD"}, {"Memcpy DtoH", "copy_DtoH"}, {"Memcpy DtoD", "copy_DtoD"},
    {"Memcpy PtoP", "copy_PtoP"}, {"Memcpy", "copy"},           {"Memset", "memset"}};

// Ops that do nothing but copy, so that the direction is all there is to say.
bool is_copy(std::string_view op) {
  return op.starts_with("aten::copy") || op == "aten::_local_scalar_dense";
}

std::string_view copy_category(std::string_view kernel) {
  for (const auto& [start, category] : kCopies)
    if (kernel.starts_with(start)) return category;
  return {};
}

// Ours: torch.compile makes products and flex attention from templates; their kernels say which.
std::string_view template_category(std::string_view name) {
  if (!name.starts_with("triton_tem_")) return {};
  if (name.find("flex_attention_backward") != std::string_view::npos) return "SDPA_bwd";
  if (name.find("flex_attention") != std::string_view::npos) return "SDPA_fwd";
  if (name.find("mm") != std::string_view::npos) return "GEMM";
  if (name.find("convolution") != std::string_view::npos) return "CONV_fwd";
  return {};
}

// Ours: torch.compile names the op of a Triton kernel of one's own after the kernel, with a number.
bool is_own_triton_kernel(std::string_view name, std::string_view kernel) {
  if (kernel.empty() || !name.starts_with(kernel)) return false;
  name.remove_prefix(kernel.size());
  return name.size() > 1 && name[0] == '_' &&
         name.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// Ours: where GPU work was launched without an op of its own, what launched it. The kernels of a
// graph or of a compiled region are told apart by their names: the table kernel_categories.
std::string_view launch_category(std::string_view name) {
  if (name.find("GraphLaunch") != std::string_view::npos) return "graph";
  if (name.starts_with("Torch-Compiled Region") || name.starts_with("## Call CompiledFxGraph"))
    return "compiled_region";
  const bool is_runtime_call =
      name.starts_with("cuda") || name.starts_with("hip") || name.starts_with("cu");
  return is_runtime_call && name.find("Launch") != std::string_view::npos ? "runtime"
                                                                          : std::string_view{};
}

}  // namespace

const OpRow* find_row(std::string_view name, Edition edition) {
  return index_of(edition).find(name);
}

const OpInfo* find_op(std::string_view name, Edition edition) {
  const OpRow* row = find_row(name, edition);
  return row ? &row->info() : nullptr;
}

std::span<const OpInfo* const> all_ops(Edition edition) { return index_of(edition).ops(); }

std::string_view op_category(std::string_view name, std::string_view first_kernel,
                             Edition edition) {
  if (edition == Edition::kExtended) {
    // "aten::sort->radixSort... (Synthetic Op)": one kernel of an op that launched several kinds.
    if (name.ends_with(" (Synthetic Op)") && !find_op(name, edition))
      name = name.substr(0, name.find("->"));
    if (const std::string_view copy = copy_category(first_kernel);
        !copy.empty() && (is_copy(name) || !find_op(name, edition)))
      return copy;
    if (const std::string_view known = template_category(name); !known.empty()) return known;
    if (is_own_triton_kernel(name, first_kernel)) return "triton";
  }
  if (const OpInfo* op = find_op(name, edition)) return op->category;
  if (name.starts_with("triton")) return "triton";
  if (name.starts_with("record_param_comms")) return "record_param_comms";
  if (first_kernel.starts_with(kNativeKernel))
    for (const std::string_view kind : kNativeKernelKinds)
      if (first_kernel.find(kind) != std::string_view::npos) return kind;
  if (edition == Edition::kExtended)
    if (const std::string_view launch = launch_category(name); !launch.empty()) return launch;
  return "other";
}

bool says_what_is_done(std::string_view category) {
  constexpr std::string_view kNothingSaid[] = {"other", "graph", "runtime", "compiled_region"};
  return std::ranges::find(kNothingSaid, category) == std::end(kNothingSaid);
}

}  // namespace tracelens::perf
