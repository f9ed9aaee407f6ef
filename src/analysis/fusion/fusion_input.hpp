// fusion_input.hpp: what the kernels of a run do for the question which of them could be one: their
// op and its bytes, in which nn.Module and phase they run, what came before on their stream.
//   FusionInput input{facts, ops, places};
//   for (const auto& stream : input.streams()) for (GpuPosition at : stream) input[at].role;
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/ops/input.hpp"
#include "facts/op_places.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

enum class KernelRole : std::uint8_t {
  kMatrix,  // matrix product, convolution, attention: what chains are split at
  kElementwise,
  kActivation,  // gelu, silu, ...: elementwise, but what it replaces is fused already
  kReduction,
  kCopy,  // inside the GPU
  kFill,
  kOther,  // several steps in one already, or what does not combine: norms, indexing, triton, ...
};

struct FusionKernel {
  NodeId op;      // the op that launched it; invalid: none did
  NodeId module;  // innermost, of a backward op that of its forward op; invalid: none
  ProgramPhase phase = ProgramPhase::kForward;
  KernelRole role = KernelRole::kOther;
  bool is_modelled = false;  // the bytes of the op are known
  double bytes = 0;          // of the op, at the first of its kernels that is no fill
  std::optional<double> result_elements = {};  // of a matrix product, where known
};

// A tensor argument of a call.
struct TensorSize {
  double elements = 0, bytes = 0;
};

class FusionInput {
 public:
  // Refers to all three. The tree needs Python frames for the modules.
  FusionInput(const TraceFacts& facts, OpInput& ops, const OpPlaces& places);

  [[nodiscard]] const FusionKernel& operator[](GpuPosition at) const { return kernels_[at]; }
  [[nodiscard]] const GpuEvent& gpu(GpuPosition at) const { return ops_.launches.gpu_events()[at]; }
  [[nodiscard]] std::int64_t dur_ns(GpuPosition at) const {
    return gpu(at).end_ns - gpu(at).start_ns;
  }
  // The linked GPU events of each stream, by start.
  [[nodiscard]] std::span<const std::vector<GpuPosition>> streams() const { return streams_; }

  [[nodiscard]] const Trace& trace() const { return facts_.trace(); }
  [[nodiscard]] const Tree& tree() const { return facts_.tree(); }
  [[nodiscard]] const OpInput& ops() const { return ops_; }
  [[nodiscard]] std::string_view op_name(GpuPosition at) const;
  // The tensors of the kernel's op whose sizes are known, in the order of its arguments.
  [[nodiscard]] std::vector<TensorSize> tensors(GpuPosition at) const;
  // Bytes per nanosecond that the run's large elementwise ops reach, at most nine tenths of what the
  // GPU is made for; without such ops eight tenths of that. Nothing when neither is known.
  [[nodiscard]] std::optional<double> reached_bandwidth() const;

 private:
  void look_at(GpuPosition at, OpInput& ops, const OpPlaces& places);
  void collect_streams();

  const TraceFacts& facts_;
  const OpInput& ops_;
  std::vector<FusionKernel> kernels_;  // by position
  std::vector<std::vector<GpuPosition>> streams_;
};

// What one kernel that does the work of several has to read and write, by shapes alone: the largest
// tensor once in and once out, and once more for what a backward pass needs of the forward pass.
struct FusedBytes {
  double total = 0;
  double largest_tensor = 0;  // bytes
};
[[nodiscard]] FusedBytes fused_bytes(const FusionInput& input,
                                     std::span<const GpuPosition> kernels);

}  // namespace tracelens
