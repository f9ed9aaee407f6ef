// overhead_numbers.hpp: what recording costs the host, as numbers that a file of rules may set:
// {"overhead.op_us": 4}.
#pragma once

#include <cstdint>
#include <string_view>

#include "analysis/path/model.hpp"
#include "diagnosis/kit/numbers.hpp"

namespace tracelens {

inline constexpr std::string_view kOverheadId = "overhead";
[[nodiscard]] std::span<const Number> overhead_numbers();
[[nodiscard]] RecordingCosts recording_costs(const RuleSettings& settings);

}  // namespace tracelens
