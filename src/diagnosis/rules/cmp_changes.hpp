// cmp_changes.hpp: what this run does otherwise than the one it is held against, point by point.
//   for (const CmpChange& change : changes_against_other(c)) ...
// A point is a lowest node of the call trees that both have and below which they part, or a pair of
// kernels. Times of the other run are those of as many steps as this one's window has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/kit/context.hpp"
#include "diagnosis/kit/draft.hpp"

namespace tracelens {

// Nothing without a run to compare with, or where the call trees cannot be laid over each other. Those
// that this run loses most by first.
[[nodiscard]] const std::vector<CmpChange>& changes_against_other(const DiagnosisContext& c);

// The findings of one kind whose loss is at least this share of the window: places, edit, sums.
struct CmpLosses {
  Draft draft;
  std::int64_t ns = 0, other_ns = 0, count = 0;
  double kernels = 0, other_kernels = 0;
  bool is_capped = false;  // some take longer on this GPU, whatever is done
};
[[nodiscard]] CmpLosses losses_of_kind(const DiagnosisContext& c, CmpChange::Kind kind,
                                       double least_pct);

}  // namespace tracelens
