#include "report/split/windows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace tracelens {
namespace {

constexpr std::size_t kLeastBusy = 6;  // steps that make a region

std::vector<bool> busy_steps(std::span<const StepDetails> steps, std::size_t window) {
  std::int64_t peak = 0;
  for (const StepDetails& step : steps) peak = std::max(peak, step.requests());
  const double share = steps.size() >= window ? 0.1 : 0.2;
  const double tolerance = std::max(1.0, share * static_cast<double>(peak));
  std::vector<bool> busy;
  for (const StepDetails& step : steps)
    busy.push_back(static_cast<double>(peak - step.requests()) <= tolerance);
  return busy;
}

std::vector<Region> counted_regions(const std::vector<bool>& busy) {
  std::vector<Region> regions;
  std::size_t count = 0, start = 0;
  bool started = false;
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (busy[i] && !started) ++count;
    if (!busy[i] && started) --count;
    if (count >= kLeastBusy && !started) {
      started = true;
      start = i - count + 1;
    }
    if (count == 0 && started) {
      regions.push_back({start, i});
      started = false;
    }
  }
  if (started) regions.push_back({start, busy.size() - 1});
  return regions;
}

std::vector<Region> busy_regions(const std::vector<bool>& busy) {
  std::vector<Region> regions;
  Region region;
  std::size_t count = 0;
  const auto close = [&] {
    if (count >= kLeastBusy) regions.push_back(region);
    count = 0;
  };
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (!busy[i]) continue;
    if (count > 0 && i - region.end >= kLeastBusy) close();
    if (count++ == 0) region.first = i;
    region.end = i + 1;
  }
  close();
  return regions;
}

// Without any region: all but a margin on both sides, of up to half the run.
Region middle(std::size_t steps, std::size_t window) {
  const std::size_t margin =
      std::min(steps, std::max<std::size_t>(8, window > steps ? window - steps : 0)) / 2;
  return {margin, std::max(margin + 1, steps - margin)};
}

bool has_context(const StepDetails& step) { return step.context_requests > 0; }

std::vector<std::uint32_t> steps_from(std::size_t first, std::size_t count) {
  std::vector<std::uint32_t> steps(count);
  std::iota(steps.begin(), steps.end(), static_cast<std::uint32_t>(first));
  return steps;
}

// The longest run in the region, the first of them, cut to `most` steps.
template <class Test>
Region longest_run(std::span<const StepDetails> steps, Region region, std::size_t most,
                   const Test& test) {
  Region best, run;
  for (std::size_t i = region.first; i < region.end; ++i) {
    run = test(steps[i]) ? Region{run.size() == 0 ? i : run.first, i + 1} : Region{};
    if (run.size() > best.size()) best = run;
  }
  best.end = std::min(best.end, best.first + most);
  return best;
}

double share_of_context(std::span<const StepDetails> steps) {
  return static_cast<double>(std::ranges::count_if(steps, has_context)) /
         static_cast<double>(steps.size());
}

Region most_typical(std::span<const StepDetails> steps, Region region, std::size_t count,
                    double share) {
  if (region.size() < count) return region;
  const std::size_t tries = std::max<std::size_t>(1, std::min<std::size_t>(count / 2, 10));
  const std::size_t stride = std::max<std::size_t>(1, count / tries);
  // Smaller is better: those without any new request last, then by how unlike they are.
  using Score = std::tuple<bool, double, double>;
  std::optional<Score> best_score;
  Region best;
  for (std::size_t first = region.first; first + count <= region.end; first += stride) {
    const auto window = steps.subspan(first, count);
    const double own = share_of_context(window);
    double requests = 0;
    for (const StepDetails& step : window) requests += static_cast<double>(step.requests());
    const Score score{own == 0, std::abs(own - share), -requests};
    if (best_score && score >= *best_score) continue;
    best_score = score;
    best = {first, first + count};
  }
  return best;
}

}  // namespace

StepDetails step_details(std::string_view name, Edition edition) {
  const auto step = parse_step_annotation(name, edition);
  if (!step && edition == Edition::kReference) return {};
  if (!step) return {.generation_requests = 0, .generation_sum = 0, .phase = ServingPhase::kNone};
  return {.batch_size = step->batch_size,
          .context_requests = step->context_requests,
          .context_sum = step->context_sum,
          .generation_requests = step->generation_requests,
          .generation_sum = step->generation_sum,
          .phase = step->phase};
}

std::vector<Region> steady_regions(std::span<const StepDetails> steps, std::size_t window,
                                   Edition edition) {
  if (steps.empty()) return {};
  const std::vector<bool> busy = busy_steps(steps, window);
  std::vector<Region> regions =
      edition == Edition::kReference ? counted_regions(busy) : busy_regions(busy);
  if (regions.empty()) regions.push_back(middle(steps.size(), window));
  return regions;
}

std::vector<Window> steady_windows(std::span<const StepDetails> steps,
                                   std::span<const Region> regions, const SteadyOptions& options) {
  std::vector<Window> windows;
  if (regions.empty()) return windows;
  double with_context = 0, total = 0;
  Region largest;
  for (const Region& region : regions) {
    if (region.size() > largest.size()) largest = region;
    const auto inside = steps.subspan(region.first, region.size());
    with_context += static_cast<double>(std::ranges::count_if(inside, has_context));
    total += static_cast<double>(region.size());
  }
  if (total == 0) return windows;
  double share = with_context / total;
  std::size_t count = options.steps;
  if (options.concurrency && options.output_tokens && options.length_ratio) {
    const double spread = 1 + std::clamp(*options.length_ratio, 0.0, 1.0);
    share = 2 * static_cast<double>(*options.concurrency) / (*options.output_tokens * spread);
    const double cycle = std::ceil(1 / share);  // steps between two new requests
    if (cycle > static_cast<double>(count))
      count = static_cast<std::size_t>(std::min(cycle, static_cast<double>(steps.size()) + 1));
  }
  const auto add = [&](WindowKind kind, Region region) {
    if (region.size() > 0)
      windows.push_back({.kind = kind, .steps = steps_from(region.first, region.size())});
  };
  add(WindowKind::kSteadyMixed, most_typical(steps, largest, count, share));
  add(WindowKind::kSteadyDecode,
      longest_run(steps, largest, options.steps,
                  [](const StepDetails& step) { return step.phase == ServingPhase::kDecode; }));
  add(WindowKind::kSteadyPrefill, longest_run(steps, largest, options.steps, has_context));
  return windows;
}

std::vector<Window> phase_windows(std::span<const StepDetails> steps,
                                  std::span<const Region> regions, Edition edition) {
  const bool is_reference = edition == Edition::kReference;
  const auto kind_of = [&](const StepDetails& step) -> std::optional<WindowKind> {
    const ServingPhase phase =
        is_reference ? phase_of(step.context_requests, step.generation_requests) : step.phase;
    if (phase == ServingPhase::kNone) return std::nullopt;
    if (phase == ServingPhase::kDecode) return WindowKind::kPhaseDecode;
    if (phase == ServingPhase::kDenoise) return WindowKind::kPhaseDenoise;
    if (phase == ServingPhase::kMixed || is_reference) return WindowKind::kPhaseMixed;
    return WindowKind::kPhasePrefill;
  };
  std::vector<Window> windows;
  std::size_t numbers[static_cast<std::size_t>(WindowKind::kPhaseDenoise) + 1] = {};
  bool goes_on = false;  // the last window may get more steps
  for (const Region& region : regions) {
    goes_on = goes_on && is_reference;
    for (std::size_t i = region.first; i < region.end; ++i) {
      const auto kind = kind_of(steps[i]);
      if (!kind) {
        goes_on = goes_on && is_reference;
        continue;
      }
      if (!goes_on || windows.back().kind != *kind)
        windows.push_back({.kind = *kind, .steps = {}, .number = numbers[std::size_t(*kind)]++});
      windows.back().steps.push_back(static_cast<std::uint32_t>(i));
      goes_on = true;
    }
  }
  return windows;
}

WindowSummary summarize(std::span<const StepDetails> steps) {
  WindowSummary summary;
  if (steps.empty()) return summary;
  double batch = 0, requests = 0;
  for (const StepDetails& step : steps) {
    summary.prefill += step.phase == ServingPhase::kPrefill ? 1 : 0;
    summary.mixed += step.phase == ServingPhase::kMixed ? 1 : 0;
    summary.decode += step.phase == ServingPhase::kDecode ? 1 : 0;
    summary.other +=
        step.phase == ServingPhase::kDenoise || step.phase == ServingPhase::kNone ? 1 : 0;
    batch += static_cast<double>(step.batch_size);
    requests += static_cast<double>(step.requests());
  }
  const auto count = static_cast<double>(steps.size());
  summary.average_batch = static_cast<std::int64_t>(batch / count);
  summary.average_requests = static_cast<std::int64_t>(requests / count);
  return summary;
}

}  // namespace tracelens
