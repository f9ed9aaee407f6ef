// slow_rows.hpp: ops bound by memory that move their bytes much slower than others of the same run.
// What NORM-1, ELEM-1, RED-1 and TRI-1 have in common.
#pragma once

#include <optional>
#include <string_view>

#include "diagnosis/kit/draft.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {

// A draft with edit, evidence, places, verdict, formula and what verifies it, for a rule with the
// numbers least_gpu_pct, slow_pct, target and least_bytes. `what` is about: "Normalisations".
[[nodiscard]] std::optional<Draft> find_slow_rows(const DiagnosisContext& c, const Numbers& n,
                                                  bool (*is_one)(const OpGroup& group),
                                                  std::string_view what);

}  // namespace tracelens
