// check.hpp: is a JAX profile good enough to analyse, and how would one record a better one?
//   const TraceCheck check = check_jax(trace);
#pragma once

#include <tracelens/trace.hpp>

#include "analysis/kit/findings.hpp"

namespace tracelens {

[[nodiscard]] TraceCheck check_jax(const Trace& trace);

}  // namespace tracelens
