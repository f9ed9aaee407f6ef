// patterns.hpp: what a chain of kernels probably is, by the name of its module and by its ops: how sure
// one can be that a fused op for it exists.
//   const ChainPattern pattern = pattern_of(run.unit, ops_of_the_run, run.phase);
//   if (pattern.by_name && pattern.by_ops) ...   // a hand-written norm
#pragma once

#include <span>
#include <string_view>

#include "facts/op_places.hpp"

namespace tracelens {

struct ChainPattern {
  std::string_view name = {};  // "norm", "rotary embedding", "GELU", "scale and shift"; empty: none
  bool by_name = false;        // the module's name says so
  bool by_ops = false;         // the ops say so
};

// The pattern that both name and ops speak for, else one of them. `ops`: names as traced.
[[nodiscard]] ChainPattern pattern_of(std::string_view module,
                                      std::span<const std::string_view> ops, ProgramPhase phase);

}  // namespace tracelens
