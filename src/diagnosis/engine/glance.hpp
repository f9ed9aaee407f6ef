// glance.hpp: a diagnosis of a part of a run, for those who cannot wait for all of it.
//   const Glance seen = glance(facts, {});
//   if (seen.is_part()) say(seen.steps, "of", seen.all_steps, "steps");
// A few steps of a loop tell nearly all that many do. Small traces are diagnosed whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tracelens/diagnose.hpp>

#include "facts/trace_facts.hpp"

namespace tracelens {

struct Glance {
  Diagnosis diagnosis = {};
  std::size_t steps = 0, all_steps = 0;  // looked at; 0: none are known
  std::int64_t ns = 0, all_ns = 0;       // of the trace
  [[nodiscard]] bool is_part() const { return ns < all_ns; }
};

// Throws what diagnose() throws.
[[nodiscard]] Glance glance(const TraceFacts& facts, const DiagnoseOptions& options,
                            std::size_t most_events = 40'000);

}  // namespace tracelens
