// path_saving.hpp: whether an edit pays on the critical path, for triggers of rules about waits: the
// arithmetic of bottlenecks takes every wait that goes for time that goes, also where the result was
// needed at once.
#pragma once

#include "diagnosis/kit/context.hpp"

namespace tracelens {

// In percent of the window.
[[nodiscard]] inline double path_saving_pct(const DiagnosisContext& c, const PathEdit& edit) {
  if (!c.path().usable()) return c.share(c.saving_ns(edit));
  return c.share(c.length_ns() - c.path().length_with(edit));
}

}  // namespace tracelens
