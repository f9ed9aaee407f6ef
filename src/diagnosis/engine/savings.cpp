#include "diagnosis/engine/savings.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "diagnosis/kit/estimate.hpp"
#include "io/parallel.hpp"
#include "io/threads.hpp"

namespace tracelens {
namespace {

std::int64_t times(double factor, std::int64_t ns) {
  return static_cast<std::int64_t>(std::floor(factor * static_cast<double>(ns)));
}

// Savings of sets of findings, by the path and its resources.
class PathSavings {
 public:
  explicit PathSavings(const DiagnosisContext& context) : path_{context.path()} {}

  [[nodiscard]] std::int64_t with(const Candidate& candidate) const {
    std::vector<const PathChanges*> all = changes_;
    all.push_back(&candidate.changes);
    return estimate(path_, all).expected_ns();
  }
  void add(const Candidate& candidate) { changes_.push_back(&candidate.changes); }

 private:
  const PathModel& path_;
  std::vector<const PathChanges*> changes_;
};

// Without a path: GPU time that goes away, each event's once, and idle time that findings name; never
// more than the window.
class PlainSavings {
 public:
  explicit PlainSavings(const DiagnosisContext& context) : context_{context} {}
  [[nodiscard]] std::int64_t with(const Candidate& candidate) const {
    std::vector<const PathEdit*> edits = edits_;
    edits.push_back(&candidate.draft.edit);
    const std::int64_t gpu =
        std::min(context_.busy_ns(), context_.per_device(gpu_time_saved(context_.trace, edits)));
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

// What each would save next; before the first that is what it saves alone.
template <class Savings>
std::vector<std::int64_t> drops_of(const Savings& savings, std::span<Candidate* const> left,
                                   std::int64_t saved, bool is_first, int threads) {
  std::vector<std::int64_t> drops(left.size());
  io::for_each_part(threads, left.size(), [&](std::size_t i) {
    const std::int64_t all = is_first ? left[i]->alone.mid_ns : savings.with(*left[i]);
    drops[i] = std::max<std::int64_t>(0, all - saved);
  });
  return drops;
}

// The specific cause that saves most, if that is enough; else the generic one; else whatever does.
std::size_t next_of(std::span<Candidate* const> left, std::span<const std::int64_t> drops,
                    const SavingLimits& limits) {
  std::size_t best = 0, specific = left.size(), generic = left.size();
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (drops[i] > drops[best]) best = i;
    std::size_t& kind = left[i]->is_generic ? generic : specific;
    if (kind == left.size() || drops[i] > drops[kind]) kind = i;
  }
  if (specific < left.size() && drops[specific] >= limits.specific_ns) return specific;
  if (generic < left.size() && drops[generic] >= limits.least_ns) return generic;
  return best;
}

template <class Savings>
std::int64_t order_with(Savings savings, std::vector<Candidate>& candidates,
                        const SavingLimits& limits, int threads) {
  std::vector<Candidate*> left;
  for (Candidate& candidate : candidates)
    if (!candidate.is_for_information() && !candidate.is_one_off) left.push_back(&candidate);
  // By id, so that ties go to the smaller one.
  std::ranges::sort(left, {}, [](const Candidate* one) { return one->rule->id; });
  std::int64_t saved = 0;
  std::vector<std::int64_t> before(left.size());
  const Rule* last = nullptr;
  for (std::size_t place = 0; place < limits.most && !left.empty(); ++place) {
    std::vector<std::int64_t> drops = drops_of(savings, left, saved, place == 0, threads);
    for (std::size_t i = 0; i < left.size() && last != nullptr; ++i)
      if (before[i] < limits.unlocked_ns && drops[i] >= limits.unlocked_ns)
        left[i]->locked_by = last->id;
    const std::size_t chosen = next_of(left, drops, limits);
    if (drops[chosen] < std::max<std::int64_t>(1, limits.least_ns)) break;
    left[chosen]->place = place;
    left[chosen]->saving_ns = drops[chosen];
    saved += drops[chosen];
    savings.add(*left[chosen]);
    last = left[chosen]->rule;
    const auto at = static_cast<std::ptrdiff_t>(chosen);
    left.erase(left.begin() + at);
    drops.erase(drops.begin() + at);
    before = std::move(drops);
  }
  return saved;
}

void estimate_one(const DiagnosisContext& context, Candidate& candidate) {
  const Draft& draft = candidate.draft;
  candidate.gpu_saving_ns = gpu_time_saved(context.trace, draft.edit);
  if (!context.path().usable()) {
    const auto saved = [&](const std::optional<PathEdit>& edit) {
      return draft.idle_ns +
             std::min(context.busy_ns(),
                      context.per_device(gpu_time_saved(context.trace, edit ? *edit : draft.edit)));
    };
    candidate.alone = {saved(draft.low), saved(draft.edit), saved(draft.high)};
    return;
  }
  const PathModel& path = context.path();
  candidate.changes = path.changes_of(draft.edit);
  const PathChanges* const changes = &candidate.changes;
  const Estimate mid = estimate(path, {&changes, 1});
  const Estimate low = draft.low ? estimate(path, *draft.low) : mid;
  const Estimate high = draft.high ? estimate(path, *draft.high) : mid;
  candidate.estimates_agree = mid.agree();
  candidate.alone = {.low_ns = times(draft.low_factor, std::min(low.least_ns(), mid.expected_ns())),
                     .mid_ns = mid.expected_ns(),
                     .high_ns = std::max(high.most_ns(), mid.expected_ns())};
}

}  // namespace

int threads_on_path(const DiagnosisContext& context) {
  return std::min(io::thread_count(context.options.threads), 4);
}

void estimate_alone(const DiagnosisContext& context, std::span<Candidate> candidates) {
  (void)context.gpu_times();  // made by one thread
  io::for_each_part(threads_on_path(context), candidates.size(),
                    [&](std::size_t i) { estimate_one(context, candidates[i]); });
}

std::int64_t order_by_savings(const DiagnosisContext& context, std::vector<Candidate>& candidates,
                              const SavingLimits& limits) {
  const int threads = threads_on_path(context);
  return context.path().usable() ? order_with(PathSavings{context}, candidates, limits, threads)
                                 : order_with(PlainSavings{context}, candidates, limits, threads);
}

}  // namespace tracelens
