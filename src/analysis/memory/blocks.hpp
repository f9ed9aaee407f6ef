// blocks.hpp: the blocks an allocator handed out during the trace: when, where in the program, what
// for, and until when.
//   const MemoryPlaces places{facts};
//   for (const MemoryBlock& block : memory_blocks(trace, device, places)) ...
// What a block is for follows from where it was handed out and taken back; it is never said to be a
// parameter, since those live from before the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/memory/totals.hpp"
#include "facts/op_places.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

enum class BlockUse : std::uint8_t {
  kBeforeTrace,  // in use when the trace began
  kGradient,     // handed out in the backward pass, alive at the end of the step
  kOptimizer,    // handed out in the optimizer's step and never taken back
  kWorkspace,    // handed out and taken back by one matrix product or convolution
  kActivation,   // handed out in the forward pass, taken back in the backward pass
  kTemporary,    // taken back by the same outermost op, or in the same phase
  kOther,
};
[[nodiscard]] std::string_view block_use_name(BlockUse use);

struct MemoryBlock {
  static constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t born = 0, freed = kNever;  // places in DeviceMemory::order
  std::int64_t bytes = 0;
  NodeId owner;  // innermost host event that was open; invalid: none
  BlockUse use = BlockUse::kOther;
  bool freed_in_step = false;
};

// Where in the program each [memory] event stands. Modules need a tree with Python frames.
class MemoryPlaces {
 public:
  explicit MemoryPlaces(const TraceFacts& facts);  // refers to the facts
  // The innermost host event of the thread around a position of Trace::memory_changes().
  [[nodiscard]] NodeId node(std::uint32_t at) const { return nodes_[at]; }
  [[nodiscard]] const OpPlaces& program() const { return program_; }
  [[nodiscard]] ProgramPhase phase(std::uint32_t at) const;
  [[nodiscard]] const Trace& trace() const { return trace_; }
  [[nodiscard]] const Tree& tree() const { return tree_; }
  // When the step that holds a time ends; that of the trace outside of all steps.
  [[nodiscard]] std::int64_t step_end_ns(std::int64_t ts_ns) const;

 private:
  void find_nodes();

  const Trace& trace_;
  const Tree& tree_;
  HostRanges ranges_;
  OpPlaces program_;
  std::span<const Step> steps_;
  std::vector<NodeId> nodes_;  // by position
};

// In the order in which they were handed out.
[[nodiscard]] std::vector<MemoryBlock> memory_blocks(const DeviceMemory& device,
                                                     const MemoryPlaces& places);

}  // namespace tracelens
