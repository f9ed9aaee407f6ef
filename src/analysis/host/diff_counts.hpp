// diff_counts.hpp: how often each op, call and kernel ran in two traces, and for how long, by name alone.
//   const Table table = diff_counts(before, after);
// For runs whose call trees have little in common. What is in one trace only counts 0 in the other.
#pragma once

#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>

namespace tracelens {

[[nodiscard]] Table diff_counts(const Trace& control, const Trace& test);

}  // namespace tracelens
