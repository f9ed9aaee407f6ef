// savings.hpp: what each finding saves once those before it are mended, and in which order that is
// best done. No time is saved twice.
//   std::vector<Candidate> candidates = ...;          // one per finding, with its edits
//   order_by_savings(context, candidates, {.least_ns = length / 100});
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagnosis/kit/context.hpp"
#include "diagnosis/kit/draft.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {

struct Candidate {
  const Rule* rule = nullptr;
  Draft draft = {};
  bool is_generic = false;  // comes after specific causes
  bool is_one_off = false;  // listed, not counted

  // --- filled in by the estimates ---
  PathChanges changes = {};  // of the draft's edit; none without a path
  SavingRange alone = {};
  bool estimates_agree = false;
  std::int64_t gpu_saving_ns = 0;
  std::optional<std::size_t> place = {};  // in the order of mending; none: never reached
  std::int64_t saving_ns = 0;             // given those before it
  std::string locked_by = {};

  [[nodiscard]] bool is_for_information() const { return alone.high_ns == 0 && gpu_saving_ns == 0; }
};

// How many threads may ask about the path at the same time: each copies the run.
[[nodiscard]] int threads_on_path(const DiagnosisContext& context);

// Each by itself.
void estimate_alone(const DiagnosisContext& context, std::span<Candidate> candidates);

struct SavingLimits {
  std::int64_t least_ns = 0;     // smaller savings end the search
  std::int64_t specific_ns = 0;  // specific causes that save this much come before generic ones
  std::int64_t unlocked_ns = 0;  // what counts as worth mending, for locked_by
  std::size_t most = 25;         // findings in the order
};
// What all that were reached save together.
std::int64_t order_by_savings(const DiagnosisContext& context, std::vector<Candidate>& candidates,
                              const SavingLimits& limits);

}  // namespace tracelens
