// quality.hpp: what a reader must know about a trace before believing its findings.
#pragma once

#include <tracelens/diagnose.hpp>
#include <vector>

#include "diagnosis/kit/context.hpp"

namespace tracelens {

// TQ-1 to TQ-17, as far as they apply.
[[nodiscard]] std::vector<QualityNote> quality_notes(const DiagnosisContext& context);

// Whether every graph launch of the window has GPU events, and at least half of what the same launch
// of other steps has: else idle time is not what it seems.
[[nodiscard]] bool are_graphs_whole(const DiagnosisContext& context);

}  // namespace tracelens
