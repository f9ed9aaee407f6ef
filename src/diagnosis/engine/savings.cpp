#include "diagnosis/engine/savings.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "diagnosis/kit/estimate.hpp"

namespace tracelens {
namespace {

std::int64_t times(double factor, std::int64_t ns) {
  return static_cast<std::int64_t>(std::floor(factor * static_cast<double>(ns)));
}

// Savings of sets of findings, by the path and its resources.
class PathSavings {
 public:
  explicit PathSavings(const DiagnosisContext& context) : path_{context.path()} {}

  [[nodiscard]] std::int64_t with(const Candidate& candidate) {
    edits_.push_back(&candidate.draft.edit);
    const std::int64_t all = estimate(path_, edits_).expected_ns();
    edits_.pop_back();
    return all;
  }
  void add(const Candidate& candidate) { edits_.push_back(&candidate.draft.edit); }

 private:
  const PathModel& path_;
  std::vector<const PathEdit*> edits_;
};

// Without a path: GPU time that goes away, each event's once, and idle time that findings name; never
// more than the window.
class PlainSavings {
 public:
  explicit PlainSavings(const DiagnosisContext& context) : context_{context} {}
  [[nodiscard]] std::int64_t with(const Candidate& candidate) {
    edits_.push_back(&candidate.draft.edit);
    const std::int64_t gpu = std::min(context_.busy_ns(), gpu_time_saved(context_.trace, edits_));
    edits_.pop_back();
    const std::int64_t idle =
        std::min(context_.gpu_times().idle_ns(), idle_ns_ + candidate.draft.idle_ns);
    return std::min(context_.length_ns(), gpu + idle);
  }
  void add(const Candidate& candidate) {
    edits_.push_back(&candidate.draft.edit);
    idle_ns_ += candidate.draft.idle_ns;
  }

 private:
  const DiagnosisContext& context_;
  std::vector<const PathEdit*> edits_;
  std::int64_t idle_ns_ = 0;
};

template <class Savings>
std::int64_t order_with(Savings savings, std::vector<Candidate>& candidates,
                        const SavingLimits& limits) {
  std::vector<Candidate*> left;
  for (Candidate& candidate : candidates)
    if (!candidate.is_for_information() && !candidate.is_one_off) left.push_back(&candidate);
  // By id, so that ties go to the smaller one.
  std::ranges::sort(left, {}, [](const Candidate* one) { return one->rule->id; });
  std::vector<std::int64_t> drops(left.size());
  std::int64_t saved = 0;
  for (std::size_t place = 0; place < limits.most && !left.empty(); ++place) {
    std::size_t best = 0, specific = left.size(), generic = left.size();
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::int64_t before = drops[i];
      drops[i] = std::max<std::int64_t>(0, savings.with(*left[i]) - saved);
      if (place > 0 && before < limits.unlocked_ns && drops[i] >= limits.unlocked_ns)
        for (const Candidate& last : candidates)
          if (last.place == place - 1) left[i]->locked_by = last.rule->id;
      if (drops[i] > drops[best]) best = i;
      std::size_t& kind = left[i]->rule->is_generic ? generic : specific;
      if (kind == left.size() || drops[i] > drops[kind]) kind = i;
    }
    std::size_t chosen = best;
    if (specific < left.size() && drops[specific] >= limits.specific_ns)
      chosen = specific;
    else if (generic < left.size() && drops[generic] >= limits.least_ns)
      chosen = generic;
    if (drops[chosen] < std::max<std::int64_t>(1, limits.least_ns)) break;
    left[chosen]->place = place;
    left[chosen]->saving_ns = drops[chosen];
    saved += drops[chosen];
    savings.add(*left[chosen]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(chosen));
    drops.erase(drops.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  return saved;
}

}  // namespace

void estimate_alone(const DiagnosisContext& context, Candidate& candidate) {
  const Draft& draft = candidate.draft;
  candidate.gpu_saving_ns = gpu_time_saved(context.trace, draft.edit);
  if (!context.path().usable()) {
    const auto saved = [&](const std::optional<PathEdit>& edit) {
      return draft.idle_ns +
             std::min(context.busy_ns(), gpu_time_saved(context.trace, edit ? *edit : draft.edit));
    };
    candidate.alone = {saved(draft.low), saved(draft.edit), saved(draft.high)};
    return;
  }
  const auto estimated = [&](const PathEdit& edit) {
    const PathEdit* const one = &edit;
    return estimate(context.path(), {&one, 1});
  };
  const Estimate mid = estimated(draft.edit);
  const Estimate low = draft.low ? estimated(*draft.low) : mid;
  const Estimate high = draft.high ? estimated(*draft.high) : mid;
  candidate.estimates_agree = mid.agree();
  candidate.alone = {.low_ns = times(draft.low_factor, std::min(low.least_ns(), mid.expected_ns())),
                     .mid_ns = mid.expected_ns(),
                     .high_ns = std::max(high.most_ns(), mid.expected_ns())};
}

std::int64_t order_by_savings(const DiagnosisContext& context, std::vector<Candidate>& candidates,
                              const SavingLimits& limits) {
  return context.path().usable() ? order_with(PathSavings{context}, candidates, limits)
                                 : order_with(PlainSavings{context}, candidates, limits);
}

}  // namespace tracelens
