// slow_rows.hpp: ops bound by memory that move their bytes much slower than others of the same run.
// What NORM-1, ELEM-1, RED-1 and TRI-1 have in common.
#pragma once

#include <optional>
#include <string_view>

#include "diagnosis/kit/draft.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {

struct SlowRows {
  bool (*is_one)(const OpGroup& group);
  double slow_pct = 50;      // % of the bandwidth that the run reaches: below is slow
  double target = 0.7;       // of that bandwidth: what the ops should reach
  double least_bytes = 8e6;  // of a call; smaller ones are bound by launching
  double least_gpu_pct = 2;
  std::string_view what;  // "Normalisations"
};

// A draft with edit, evidence, places, verdict, formula and what verifies it.
[[nodiscard]] std::optional<Draft> find_slow_rows(const DiagnosisContext& c, const SlowRows& rows);

}  // namespace tracelens
