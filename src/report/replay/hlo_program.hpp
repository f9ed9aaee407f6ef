// hlo_program.hpp: an HLO instruction with all it calls, as JSON that the JAX script runs.
//   hlo_program(module, place)
//     {"computations": [{"root": 1, "body": [{"op": "parameter", "shape": "f32[8]{0}"}, ...]}]}
// The first computation is the instruction itself, with its operands as parameters; "calls" are
// positions in the list. Names, scopes, source lines, data and settings of libraries stay behind.
#pragma once

#include <string>

#include "trace/hlo.hpp"

namespace tracelens {

[[nodiscard]] std::string hlo_program(const hlo::Module& module, hlo::Place place);

// What an instruction is, in a word that says nothing about the program it is from: "copy",
// "fusion(dot)", "__cublas$lt$matmul".
[[nodiscard]] std::string hlo_label(const hlo::Module& module, hlo::Place place);

}  // namespace tracelens
