#include "analysis/ops/step_tables.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/gpu/timeline.hpp"
#include "analysis/kit/cells.hpp"
#include "analysis/kit/group_rows.hpp"
#include "analysis/kit/group_stats.hpp"
#include "analysis/kit/open_steps.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

OpenSteps open_steps(std::span<const Step> steps) {
  std::vector<Interval> times;
  for (const Step& step : steps) times.push_back({step.ts_ns, end_of(step.ts_ns, step.dur_ns)});
  return OpenSteps{times};
}

// When a GPU event was asked for: the start of its launch, or its own where there is none.
std::int64_t asked_at(const Trace& trace, const Tree& tree, EventId gpu_event) {
  const EventId launch = tree.is_linked(gpu_event) ? tree.launch_of(gpu_event) : EventId{};
  return trace.ts_ns()[launch.valid() ? launch.row : gpu_event.row];
}

}  // namespace

Table gpu_timeline_by_step(const TraceFacts& facts, std::span<const Step> steps,
                           bool include_unlinked) {
  const Tree& tree = facts.tree();
  const OpenSteps open = open_steps(steps);
  std::vector<std::vector<EventId>> events(steps.size());
  for (const EventId event : facts.gpu_events(include_unlinked).events)
    if (const std::size_t step = open.at(asked_at(facts.trace(), tree, event)); step < steps.size())
      events[step].push_back(event);

  const ColumnSpec columns[] = {
      {"step", Kind::kText, "", "as marked by the profiler, or the call that opens an iteration"},
      {"host time ms", Kind::kReal, "ms", "host time of the step"},
      {"GPU time ms", Kind::kReal, "ms",
       "from the start of the first GPU event launched in the step to the end of the last"},
      {"computation ms", Kind::kReal, "ms", "time in which something computed"},
      {"exposed comm ms", Kind::kReal, "ms", "communication while nothing computed"},
      {"exposed memcpy ms", Kind::kReal, "ms", "copies while nothing computed or communicated"},
      {"idle ms", Kind::kReal, "ms", "time in which nothing ran"},
      {"percent idle", Kind::kReal, "%", "idle time as a share of the GPU time"},
      {"GPU events", Kind::kInteger, "", "kernels, copies and fills launched in the step"}};
  Table table{"gpu_timeline_by_step", "What the GPU's time went to, step by step", columns};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const GpuTimes times = gpu_times(facts, events[i]);
    const std::int64_t idle_ns = minus_ns(times.total, times.busy);
    table.add_row(steps[i].name, ms(steps[i].dur_ns), ms(times.total), ms(times.computation),
                  ms(times.exposed_comm), ms(times.exposed_copy), ms(idle_ns),
                  percent_of(ms(idle_ns), ms(times.total)), events[i].size());
  }
  return table;
}

Table ops_by_step(OpInput& input, std::span<const Step> steps) {
  const Trace& trace = input.trace;
  struct Op {
    const Launcher* first;
    std::int64_t calls = 0, sum_ns = 0;
    std::vector<std::int64_t> by_step;
  };
  const OpenSteps open = open_steps(steps);
  Grouped<Op> grouped;
  std::int64_t all_ns = 0;
  for (const Launcher& op : input.launches.parts()) {
    const std::size_t step = open.at(trace.ts_ns()[op.event.row]);
    if (step == steps.size()) continue;
    Op& row = grouped.at({trace.names()[op.event.row].row, op.category},
                         [&] { return Op{.first = &op, .by_step = {}}; });
    row.by_step.resize(steps.size());
    row.by_step[step] = plus_ns(row.by_step[step], op.direct_ns);
    row.sum_ns = plus_ns(row.sum_ns, op.direct_ns);
    ++row.calls;
    all_ns = plus_ns(all_ns, op.direct_ns);
  }
  std::vector<Op> ops = std::move(grouped).take();
  std::ranges::stable_sort(ops, std::ranges::greater{}, &Op::sum_ns);

  const ColumnSpec columns[] = {
      {"name", Kind::kText, "", "op name as traced"},
      {"op category", Kind::kText, "", "what kind of work the op does"},
      {"calls per step", Kind::kReal, "", "calls that launched GPU work, on average"},
      {"mean µs", Kind::kReal, "µs", "GPU time of the op's own kernels in a step, on average"},
      {"std µs", Kind::kReal, "µs", "standard deviation of that time over the steps"},
      {"min µs", Kind::kReal, "µs", "in the step where it took least"},
      {"max µs", Kind::kReal, "µs", "in the step where it took most"},
      {"slowest step", Kind::kText, "", "the first step in which it took most"},
      {"percent", Kind::kReal, "%", "share of the GPU time of all ops in the steps"}};
  Table table{"ops_by_step", "GPU time of each op per step, the costliest first", columns};
  for (const Op& op : ops) {
    const auto slowest = std::ranges::max_element(op.by_step) - op.by_step.begin();
    std::vector<std::int64_t> times = op.by_step;
    const GroupStats stats = stats_of_ns(times);
    table.add_row(trace.name(op.first->event), input.categories.text(op.first->category),
                  static_cast<double>(op.calls) / static_cast<double>(steps.size()), stats.mean,
                  stats.std, stats.min, stats.max, steps[static_cast<std::size_t>(slowest)].name,
                  percent_of(us(op.sum_ns), us(all_ns)));
  }
  return table;
}

}  // namespace tracelens
