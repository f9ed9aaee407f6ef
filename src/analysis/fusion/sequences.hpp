// sequences.hpp: the kernels that ops and nn.Modules launch, as sequences: which repeat, what they
// cost, and what one kernel in place of a chain would save.
//   const Table table = kernel_sequences(input, {.of = "RMSNorm"});
#pragma once

#include <cstddef>
#include <string>
#include <tracelens/table.hpp>

#include "analysis/fusion/fusion_input.hpp"

namespace tracelens {

struct SequenceOptions {
  std::string of = {};  // only ops and modules with this in their name; empty: all
  double short_kernel_us = 10;
  std::size_t fewest = 2;    // kernels of a sequence
  std::size_t longest = 64;  // of more kernels no one reads the names
};

// One row per op name or module class and sequence of kernels, the costliest first. Of units inside
// a unit of the same name only the outermost counts.
[[nodiscard]] Table kernel_sequences(const FusionInput& input, const SequenceOptions& options = {});

// As Holistic Trace Analysis counts them: only the outermost level of calls at which the name occurs,
// streams above 0, GPU synchronisation events among the kernels, instances of modules apart; the most
// frequent first.
[[nodiscard]] Table hta_kernel_sequences(const TraceFacts& facts, const SequenceOptions& options);

}  // namespace tracelens
