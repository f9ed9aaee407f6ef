// iterations.hpp: finding a loop in a list of names.
//   find_repeats(names);       // x a b a b a b z -> {.start = 1, .period = 2, .count = 3}
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

struct Repeats {
  std::size_t start = 0, period = 0, count = 0;
};

// The first start, and for it the shortest period, from which a block of names repeats at least
// three times and fills more than half of what is left. A loop is looked for at the first 256
// names only: what comes before a loop is set-up, and the cost stays linear.
[[nodiscard]] std::optional<Repeats> find_repeats(std::span<const StringId> names,
                                                  std::size_t starts = 256);

// As the reference finds a loop where nothing is annotated: below any call, kernels or not; every
// repetition of the first and last name of the block counts, also behind the run that was found.
[[nodiscard]] std::vector<IterationRoot> find_reference_iterations(const Trace& trace,
                                                                   const Tree& tree);

}  // namespace tracelens
