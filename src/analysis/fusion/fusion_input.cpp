#include "analysis/fusion/fusion_input.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "perf/core/dtype.hpp"

namespace tracelens {
namespace {

bool has_any(std::string_view op, std::span<const std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return op.find(word) != std::string_view::npos; });
}
constexpr std::string_view kActivations[] = {"gelu", "silu",     "relu",      "elu",        "glu",
                                             "mish", "softplus", "hardswish", "hardsigmoid"};
constexpr std::string_view kFused[] = {"dropout", "_fused", "triton_"};

bool is_fill(std::string_view op) {
  return op == "aten::fill_" || op == "aten::zero_" || op == "aten::zeros" || op == "aten::ones";
}

KernelRole role_of(std::string_view op, std::string_view category, Category gpu_category) {
  if (gpu_category == Category::kGpuMemset || is_fill(op)) return KernelRole::kFill;
  for (const std::string_view matrix : {"GEMM", "CONV", "SDPA", "InferenceAttention", "MoE"})
    if (category.starts_with(matrix)) return KernelRole::kMatrix;
  if (has_any(op, kFused)) return KernelRole::kOther;
  if (category == "copy_DtoD") return KernelRole::kCopy;
  if (gpu_category != Category::kKernel) return KernelRole::kOther;
  if (category == "reduce") return KernelRole::kReduction;
  if (category != "elementwise") return KernelRole::kOther;
  if (has_any(op, kActivations)) return KernelRole::kActivation;
  return op == "aten::copy_" ? KernelRole::kCopy : KernelRole::kElementwise;
}

// Of the result of a matrix product; nothing: it is none.
std::optional<double> product_elements(const Work& work) {
  double elements = 1;
  int found = 0;
  for (const auto& param : work.params)
    if (param.name == "M" || param.name == "N" || param.name == "B") {
      elements *= param.value.as_real();
      if (param.name != "B") ++found;
    }
  return found == 2 ? std::optional{elements} : std::nullopt;
}

double elements_of(const Value& dims) {
  double elements = 1;
  for (const Value& size : dims.items()) elements *= size.as_real();
  return elements;
}

}  // namespace

FusionInput::FusionInput(const TraceFacts& facts, OpInput& ops, const OpPlaces& places)
    : facts_{facts}, ops_{ops}, kernels_(ops.launches.gpu_events().size()) {
  for (GpuPosition at = 0; at < kernels_.size(); ++at) look_at(at, ops, places);
  collect_streams();
}

void FusionInput::look_at(GpuPosition at, OpInput& ops, const OpPlaces& places) {
  FusionKernel& kernel = kernels_[at];
  const NodeId launcher = facts_.launchers()[at];
  if (!launcher.valid() || !tree().is_op(launcher)) return;
  kernel.op = launcher;
  kernel.module = places.module(launcher);
  kernel.phase = places.phase(launcher);
  const EventId op = tree().event(launcher);
  OpCategories& categories = ops.categories;
  const StringId name = trace().names()[op.row];
  kernel.role = role_of(trace().text(name), categories.text(categories.of(name, gpu(at).name)),
                        trace().category(gpu(at).event));
  const Launcher* const own = ops_.launches.launcher(launcher);
  if (own == nullptr || !ops.models.has_model(op)) return;
  const std::span<const GpuPosition> kernels = ops_.launches.own(*own);
  const auto& work = ops.models[ops.models.ask(op, Pass::kForward, kernels)];
  if (work) kernel.result_elements = product_elements(*work);
  kernel.is_modelled = work && work->bytes.has_value();
  const auto first = std::ranges::find_if(kernels, [&](GpuPosition own_kernel) {
    return trace().category(gpu(own_kernel).event) != Category::kGpuMemset;
  });
  if (kernel.is_modelled && first != kernels.end() && *first == at) kernel.bytes = *work->bytes;
}

void FusionInput::collect_streams() {
  std::map<std::uint32_t, std::vector<GpuPosition>> by_track;
  for (GpuPosition at = 0; at < kernels_.size(); ++at)
    by_track[trace().tracks()[gpu(at).event.row].row].push_back(at);
  for (auto& [track, positions] : by_track) {
    std::ranges::stable_sort(positions, {}, [&](GpuPosition at) { return gpu(at).start_ns; });
    streams_.push_back(std::move(positions));
  }
}

std::string_view FusionInput::op_name(GpuPosition at) const {
  const NodeId op = kernels_[at].op;
  return op.valid() ? trace().name(tree().event(op)) : std::string_view{};
}

std::vector<TensorSize> FusionInput::tensors(GpuPosition at) const {
  std::vector<TensorSize> sizes;
  const NodeId op = kernels_[at].op;
  const SignatureId id = op.valid() ? trace().signatures()[tree().event(op).row] : SignatureId{};
  if (!id.valid()) return sizes;
  const Signature& signature = trace().signature(id);
  const std::vector<Value>&dims = signature.dims.items(), &types = signature.types.items();
  for (std::size_t i = 0; i < std::min(dims.size(), types.size()); ++i) {
    const auto element = perf::element_bytes(types[i].as_text(), Edition::kExtended);
    if (!element || !dims[i].is_sequence()) continue;
    const double elements = elements_of(dims[i]);
    sizes.push_back({elements, elements * *element});
  }
  return sizes;
}

std::optional<double> FusionInput::reached_bandwidth() const {
  constexpr double kLarge = 128.0 * (1 << 20), kFair = 32.0 * (1 << 20);
  struct Rate {
    double sum = 0, calls = 0, bytes = 0;
  };
  std::map<std::uint32_t, Rate> rates;  // by signature
  for (GpuPosition at = 0; at < kernels_.size(); ++at) {
    const FusionKernel& kernel = kernels_[at];
    if (kernel.bytes < kFair || dur_ns(at) <= 0 ||
        (kernel.role != KernelRole::kElementwise && kernel.role != KernelRole::kCopy))
      continue;
    Rate& rate = rates[trace().signatures()[tree().event(kernel.op).row].row];
    rate.sum += kernel.bytes / static_cast<double>(dur_ns(at));
    rate.calls += 1;
    rate.bytes = kernel.bytes;
  }
  double large = 0, fair = 0;
  for (const auto& [signature, rate] : rates)
    (rate.bytes >= kLarge ? large : fair) =
        std::max(rate.bytes >= kLarge ? large : fair, rate.sum / rate.calls);
  const double reached = large > 0 ? large : fair;
  const Gpu* const gpu = ops_.options.gpu;
  if (gpu == nullptr || !gpu->memory_gbps)
    return reached > 0 ? std::optional{reached} : std::nullopt;
  return reached > 0 ? std::min(reached, 0.9 * *gpu->memory_gbps) : 0.8 * *gpu->memory_gbps;
}

FusedBytes fused_bytes(const FusionInput& input, std::span<const GpuPosition> kernels) {
  FusedBytes fused;
  double most = 0;
  for (const GpuPosition at : kernels)
    for (const TensorSize& tensor : input.tensors(at)) {
      most = std::max(most, tensor.elements);
      fused.largest_tensor = std::max(fused.largest_tensor, tensor.bytes);
    }
  double in = 0, out = 0;
  for (const GpuPosition at : kernels) {
    const bool is_copy = input.op_name(at) == "aten::copy_";  // (to, from)
    double first = 0, last = 0, widest = 0;
    for (const TensorSize& tensor : input.tensors(at)) {
      if (tensor.elements != most) continue;
      if (first == 0) first = tensor.bytes;
      last = tensor.bytes;
      widest = std::max(widest, tensor.bytes);
    }
    if (first == 0) continue;
    if (in == 0) in = is_copy ? last : first;
    out = is_copy ? first : widest;
  }
  fused.total = in + out;
  if (!kernels.empty() && input[kernels.front()].phase == ProgramPhase::kBackward)
    fused.total += std::max(in, out);
  return fused;
}

}  // namespace tracelens
