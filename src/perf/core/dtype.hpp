// dtype.hpp: what an element type named in a trace weighs and which peak of a GPU it runs at.
//   element_bytes("c10::BFloat16", Edition::kReference)   // 2
//   precision("c10::BFloat16", Edition::kReference)       // "bf16"
// Names are compared without regard to case. The reference edition leaves out the types the Python
// TraceLens does not know (bool, 16-bit integers, complex, ...); the extended one is complete.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "perf/core/op_info.hpp"

namespace tracelens::perf {

// None when the type is unknown: a list, a missing argument, or a type we never heard of.
[[nodiscard]] std::optional<double> element_bytes(std::string_view type, Edition edition);

// "fp64", "fp32", "fp16", "bf16", "fp8", "fp4", "int8"; empty when no peak goes by this type.
[[nodiscard]] std::string_view precision(std::string_view type, Edition edition);

enum class Unit : unsigned char { kMatrix, kVector };

// "matrix_bf16"; empty when the precision is.
[[nodiscard]] std::string compute_spec(Unit unit, std::string_view precision);

}  // namespace tracelens::perf
