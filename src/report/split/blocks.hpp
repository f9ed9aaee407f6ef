// blocks.hpp: runs of steps of one phase, and which of two traces work on the most similar
// requests.
//   const std::vector<Block> a = find_blocks(steps_a, 16), b = find_blocks(steps_b, 16);
//   if (const auto match = best_match(ServingPhase::kDecode, steps_a, a, steps_b, b)) ...
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "facts/step_annotation.hpp"

namespace tracelens {

struct Block {
  ServingPhase phase = ServingPhase::kNone;
  std::size_t first = 0, steps = 0;
  std::size_t run_steps = 0;  // of the run it is cut from
};

// Runs of more than `most` steps are cut into windows of so many; the rest of a run is dropped.
// Decoding takes at least two steps.
[[nodiscard]] std::vector<Block> find_blocks(std::span<const StepAnnotation> steps,
                                             std::size_t most);

struct BlockMatch {
  std::size_t a = 0, b = 0;  // indices of blocks
  // Mean differences per step. Decoding: of query tokens and of keys; else of the requests being
  // prefilled and decoded, and of the tokens of both.
  std::vector<double> distance;
};

// The pair of blocks of equal length with the least distance, of equal ones that from the longest
// runs, then the longest. Only blocks all of whose steps have all sums take part.
[[nodiscard]] std::optional<BlockMatch> best_match(ServingPhase phase,
                                                   std::span<const StepAnnotation> steps_a,
                                                   std::span<const Block> a,
                                                   std::span<const StepAnnotation> steps_b,
                                                   std::span<const Block> b);

}  // namespace tracelens
