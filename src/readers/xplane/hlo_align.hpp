// hlo_align.hpp: which HLO instruction each kernel of a captured graph belongs to.
//   HloAligner aligner{module};
//   std::vector<AlignedKernel> ops = aligner.align(entry, {"fusion_399", "gemm_fusion_dot_40",
//   ...});
// XLA runs most of a module as one CUDA graph, whose kernels say only "command_buffer_1". But they
// run in the order of the module's schedule, and a kernel that XLA generated has the name of a
// fusion: often not of its own, since fusions with equal bodies share one kernel, but of one with
// the same stem. So the two lists are aligned like two texts, at the least cost. Kernels of
// libraries (cuBLAS, cuDNN) and fills go to the custom calls between their neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/hlo.hpp"

namespace tracelens {

// The name a kernel is compared by: "gemm_fusion_dot.40" and "gemm_fusion_dot_40.kd" are both
// {full "gemm_fusion_dot_40", stem "gemm_fusion_dot"}.
struct KernelName {
  std::string full, stem;
  explicit KernelName(std::string_view text);
};

// A kernel and what it was launched for.
struct AlignedKernel {
  hlo::Place place;      // without an instruction: nothing fits
  bool is_first = true;  // the first kernel of this run of the instruction
};

class HloAligner {
 public:
  explicit HloAligner(const hlo::Module& module);

  // One entry per kernel, in order. `computation` is what the graph was captured from. Alignments
  // of equal lists are remembered.
  [[nodiscard]] std::vector<AlignedKernel> align(std::uint32_t computation,
                                                 std::span<const std::string_view> kernels);

  // The instruction that XLA named a kernel after; nothing when no or several names fit.
  [[nodiscard]] std::optional<hlo::Place> place_of_kernel(const KernelName& kernel) const;

  // Where an instruction stands in the order of the entry computation; that of the loop for one in
  // a loop's body. kNone: it is in no computation that the entry reaches.
  [[nodiscard]] std::uint32_t entry_position(hlo::Place place) const;
  // How many instructions the entry computation launches, loop bodies counted once.
  [[nodiscard]] std::size_t launching_instructions() const { return launching_; }

 private:
  struct Item {
    hlo::Place place;
    KernelName name;
    bool is_generated = false;  // XLA makes its kernel; else a library does
    bool may_be_absent = false;
  };
  [[nodiscard]] std::vector<Item> items_of(std::uint32_t computation) const;
  [[nodiscard]] std::vector<AlignedKernel> by_cost(const std::vector<Item>& items,
                                                   std::span<const std::string_view> kernels);
  void find_positions();

  const hlo::Module& module_;
  std::unordered_map<std::string, std::vector<AlignedKernel>> known_;  // by computation and kernels
  std::unordered_map<std::uint64_t, std::uint32_t> positions_;         // by place
  std::unordered_map<std::string, hlo::Place> by_kernel_;              // by KernelName::full
  std::size_t launching_ = 0;
  std::uint64_t cells_left_;  // what alignments may still cost: hostile files must end, too
};

// Whether an instruction launches something on the GPU by itself. Those that only name or move
// around what others made (bitcast, tuple, parameter, ...) do not; neither do calls and loops,
// whose bodies do.
[[nodiscard]] bool launches_work(const hlo::Instruction& instruction);
// A call, loop or conditional: its computations run one instruction after another.
[[nodiscard]] bool runs_computations(const hlo::Instruction& instruction);

}  // namespace tracelens
