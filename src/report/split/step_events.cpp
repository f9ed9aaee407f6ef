#include "report/split/step_events.hpp"

#include <algorithm>
#include <tracelens/tree.hpp>
#include <unordered_map>

#include "facts/serving_steps.hpp"
#include "facts/steps.hpp"
#include "tree/id_slots.hpp"
#include "tree/iterations.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

bool is_on_gpu(Category category) {
  return is_gpu(category) || category == Category::kGpuUserAnnotation;
}

// Whether an event is placed by the id it shares with a launch, not by its own time.
bool is_linked(const Trace& trace, EventId event, Edition edition) {
  if (is_on_gpu(trace.category(event))) return true;
  const Phase phase = trace.phase(event);
  return (phase == Phase::kFlowStart || phase == Phase::kFlowEnd) &&
         (edition == Edition::kReference || trace.category(event) == Category::kAsyncCpuToGpu);
}

// The step that is running at a time. Events come nearly sorted, so the last answer mostly holds.
class StepAt {
 public:
  void add(std::uint32_t step, std::int64_t ts_ns) { steps_.push_back({step, ts_ns}); }

  // The last one that starts at or before; kNoStep: none.
  std::uint32_t operator()(std::int64_t ts_ns) {
    if (!holds(ts_ns)) {
      const auto after = std::ranges::upper_bound(steps_, ts_ns, {}, &Start::ts_ns);
      last_ = static_cast<std::size_t>(after - steps_.begin());
    }
    return last_ == 0 ? StepEvents::kNoStep : steps_[last_ - 1].step;
  }

 private:
  struct Start {
    std::uint32_t step;
    std::int64_t ts_ns;
  };
  [[nodiscard]] bool holds(std::int64_t ts_ns) const {
    return (last_ == 0 || steps_[last_ - 1].ts_ns <= ts_ns) &&
           (last_ == steps_.size() || ts_ns < steps_[last_].ts_ns);
  }
  std::vector<Start> steps_;  // by start
  std::size_t last_ = 0;      // one behind the step
};

}  // namespace

std::vector<StepRoot> find_split_roots(const Trace& trace, Edition edition) {
  std::vector<StepRoot> roots;
  for (const EventId event : find_step_roots(trace))
    roots.push_back({std::string{trace.name(event)}, trace.tracks()[event.row],
                     trace.ts_ns()[event.row], end_of(trace, event)});
  if (!roots.empty()) return roots;
  const Tree tree = build_tree(trace, {.python_frames = true});
  if (edition == Edition::kReference) {
    for (const IterationRoot& root : find_reference_iterations(trace, tree))
      roots.push_back({std::string{trace.name(root.first)}, trace.tracks()[root.first.row],
                       root.ts_ns, end_of(root.ts_ns, root.dur_ns)});
  } else {
    for (const Step& step : find_steps(trace, tree))
      roots.push_back({step.name, {}, step.ts_ns, end_of(step.ts_ns, step.dur_ns)});
  }
  std::ranges::stable_sort(roots, {}, &StepRoot::ts_ns);
  return roots;
}

StepEvents::StepEvents(const Trace& trace, std::span<const StepRoot> roots, Edition edition)
    : step_of_(trace.size(), kNoStep), stats_(roots.size()) {
  place_host_events(trace, roots, edition);
  place_linked_events(trace, edition);
  if (edition == Edition::kExtended) place_gpu_annotations(trace);
}

void StepEvents::place_host_events(const Trace& trace, std::span<const StepRoot> roots,
                                   Edition edition) {
  const bool is_reference = edition == Edition::kReference;
  // In the reference edition a step has events of its own thread only; in ours of all.
  std::vector<StepAt> step_at(is_reference ? trace.track_table().size() : 1);
  for (std::uint32_t i = 0; i < roots.size(); ++i)
    if (!is_reference || roots[i].track.valid())
      step_at[is_reference ? roots[i].track.row : 0].add(i, roots[i].ts_ns);
  for (const EventId event : trace.all_events()) {
    const Phase phase = trace.phase(event);
    const std::int64_t ts_ns = trace.ts_ns()[event.row];
    if (phase == Phase::kMetadata) step_of_[event.row] = kEveryStep;
    if (phase == Phase::kMetadata || phase == Phase::kDamaged || ts_ns == kAbsent ||
        is_linked(trace, event, edition))
      continue;
    const TrackId track = trace.tracks()[event.row];
    if (is_reference && !track.valid()) continue;
    const std::uint32_t step = step_at[is_reference ? track.row : 0](ts_ns);
    if (step == kNoStep) continue;
    if (is_reference) {
      if (phase != Phase::kComplete || end_of(trace, event) > roots[step].end_ns) continue;
      note_batch_size(trace, event, step);
    }
    step_of_[event.row] = step;
  }
}

void StepEvents::place_linked_events(const Trace& trace, Edition edition) {
  const auto ids = trace.correlations();
  const IdSlots slots{ids};
  std::vector<std::uint32_t> steps(slots.size(), kNoStep);  // by slot
  for (const EventId event : trace.all_events()) {
    const std::uint32_t step = step_of_[event.row];
    if (step >= kEveryStep || ids[event.row] == kAbsent) continue;
    std::uint32_t& known = steps[slots.find(ids[event.row])];
    if (known == kNoStep) known = step;
  }
  for (const EventId event : trace.all_events()) {
    if (ids[event.row] == kAbsent || trace.phase(event) == Phase::kDamaged ||
        !is_linked(trace, event, edition))
      continue;
    const std::uint32_t step = steps[slots.find(ids[event.row])];
    step_of_[event.row] = step;
    const Category category = trace.category(event);
    if (step == kNoStep || trace.phase(event) != Phase::kComplete || !is_on_gpu(category)) continue;
    if (edition == Edition::kExtended && !is_gpu(category)) continue;
    Stats& stats = stats_[step];
    ++stats.gpu_events;
    stats.gpu_sum_ns = plus_ns(stats.gpu_sum_ns, duration_of(trace, event));
    stats.first_ns = std::min(stats.first_ns, trace.ts_ns()[event.row]);
    stats.last_ns = std::max(stats.last_ns, end_of(trace, event));
  }
}

// The GPU's side of an annotation has the external id of the host's.
void StepEvents::place_gpu_annotations(const Trace& trace) {
  std::unordered_map<std::int64_t, std::uint32_t> steps;
  const auto rows = trace.external_ids().rows();
  const auto ids = trace.external_ids().values();
  const auto category_at = [&](std::size_t i) { return trace.category(EventId{rows[i]}); };
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (category_at(i) == Category::kUserAnnotation && step_of_[rows[i]] < kEveryStep)
      steps.emplace(ids[i], step_of_[rows[i]]);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (category_at(i) != Category::kGpuUserAnnotation || step_of_[rows[i]] != kNoStep) continue;
    if (const auto found = steps.find(ids[i]); found != steps.end())
      step_of_[rows[i]] = found->second;
  }
}

void StepEvents::note_batch_size(const Trace& trace, EventId event, std::uint32_t step) {
  const SignatureId id = trace.signatures()[event.row];
  if (!id.valid() || trace.category(event) != Category::kCpuOp) return;
  const std::string_view name = trace.name(event);
  if (name.find("vllm::unified_attention_with_output") == name.npos &&
      name.find("sgl_kernel::sgl_per_token_group_quant_8bit") == name.npos)
    return;
  const Value& dims = trace.signature(id).dims;
  if (!dims.is_sequence() || dims.items().empty() || !dims.items()[0].is_sequence()) return;
  const std::vector<Value>& first = dims.items()[0].items();
  if (!first.empty() && first[0].is_int()) stats_[step].batch_sizes.insert(first[0].as_int());
}

}  // namespace tracelens
