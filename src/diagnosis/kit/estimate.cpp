#include "diagnosis/kit/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace tracelens {
namespace {

constexpr double kAgree = 1.5;

}  // namespace

bool Estimate::agree() const {
  return static_cast<double>(most_ns()) <= kAgree * static_cast<double>(least_ns());
}

Estimate estimate(const PathModel& path, std::span<const PathChanges* const> changes) {
  const std::int64_t whole = path.length_ns();
  const PathOutcome after = path.outcome_of(changes);
  const std::int64_t by_resources = path.resources().total_ns() - after.resources.total_ns();
  // Streams that the simulation lets overlap more than before still have their work to do.
  const Resources& left = after.resources;
  const std::int64_t least = std::max({left.host_ns, left.least_gpu_ns, left.loader_ns});
  return {.path_ns = std::clamp<std::int64_t>(whole - std::max(after.length_ns, least), 0, whole),
          .arithmetic_ns = std::clamp<std::int64_t>(by_resources, 0, whole)};
}

Estimate estimate(const PathModel& path, const PathEdit& edit) {
  const PathChanges changes = path.changes_of(edit);
  const PathChanges* const one = &changes;
  return estimate(path, {&one, 1});
}

std::int64_t gpu_time_saved(const Trace& trace, const PathEdit& edit) {
  const PathEdit* const one = &edit;
  return gpu_time_saved(trace, {&one, 1});
}

std::int64_t gpu_time_saved(const Trace& trace, std::span<const PathEdit* const> edits) {
  std::unordered_map<std::uint32_t, std::int64_t> left;  // what each event keeps
  for (const PathEdit* const edit : edits)
    for (const PathEdit::GpuChange& change : edit->gpu()) {
      const std::int64_t before = trace.dur_ns()[change.event.row];
      const std::int64_t after =
          change.set_ns != kAbsent
              ? change.set_ns
              : static_cast<std::int64_t>(std::floor(static_cast<double>(before) * change.factor));
      const auto [at, is_new] = left.try_emplace(change.event.row, before);
      at->second = std::clamp<std::int64_t>(after, 0, at->second);
    }
  std::int64_t saved = 0;
  for (const auto& [row, after] : left) saved += trace.dur_ns()[row] - after;
  return saved;
}

}  // namespace tracelens
