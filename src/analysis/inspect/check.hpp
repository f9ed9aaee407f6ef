// check.hpp: is this trace good enough to analyse, and what is missing?
//   const TraceCheck check = check_trace(trace, tree);
//   return check.verdict == Verdict::kFail ? 1 : 0;
#pragma once

#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>

#include "analysis/kit/findings.hpp"

namespace tracelens {

[[nodiscard]] TraceCheck check_trace(const Trace& trace, const Tree& tree);

}  // namespace tracelens
