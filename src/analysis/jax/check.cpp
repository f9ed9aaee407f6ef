#include "analysis/jax/check.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "analysis/jax/ops.hpp"
#include "analysis/kit/findings.hpp"

namespace tracelens {
namespace {

// What the findings are about, counted in one pass.
struct Counts {
  std::uint64_t kernels = 0, with_op = 0, with_hlo = 0, with_work = 0, with_launch = 0;
  std::uint64_t copies = 0, frames = 0, steps = 0;
  std::set<std::int64_t> gpus;
};

Counts count(const Trace& trace, const JaxOps& ops) {
  Counts counts;
  std::set<std::int64_t> launches;
  for (const EventId event : trace.all_events())
    if (is_runtime(trace.category(event))) launches.insert(trace.correlations()[event.row]);
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    counts.frames += category == Category::kPythonFunction ? 1 : 0;
    if (!is_gpu(category)) continue;
    counts.gpus.insert(trace.track(event).pid.as_int());
    if (category != Category::kKernel) {
      ++counts.copies;
      continue;
    }
    ++counts.kernels;
    counts.with_launch += launches.contains(trace.correlations()[event.row]) ? 1 : 0;
    if (const JaxOp* const op = ops.of(event)) {
      ++counts.with_op;
      counts.with_hlo += op->instruction != nullptr ? 1 : 0;
      counts.with_work += op->work ? 1 : 0;
    }
  }
  counts.steps = trace.sequence_numbers().rows().size();
  return counts;
}

void check_gpu(const Counts& counts, Findings& findings) {
  if (counts.kernels + counts.copies == 0) {
    findings.fail(
        "GPU events", "none: the profile has no GPU plane with work in it",
        "run on a GPU backend (jax.devices() names it), wait for results inside the trace "
        "(block_until_ready), and keep ProfileOptions.device_tracer_level at 1");
    return;
  }
  findings.ok("GPU events",
              fmt::format("{}, {} copies and fills on {}", counted(counts.kernels, "kernel"),
                          counts.copies, counted(counts.gpus.size(), "GPU")));
}

void check_hlo(const Counts& counts, const JaxOps& ops, Findings& findings) {
  if (counts.kernels == 0) return;
  if (counts.with_op == counts.kernels)
    findings.ok("HLO ops", "kernels with their HLO op: " + share(counts.with_op, counts.kernels));
  else
    findings.warn("HLO ops", "kernels with their HLO op: " + share(counts.with_op, counts.kernels),
                  "the others were not launched by a compiled module, or the profiler lost their "
                  "annotations");
  if (counts.with_hlo < counts.with_op)
    findings.warn("HLO",
                  "kernels whose module's HLO is missing, so that they have no shapes, FLOPs or "
                  "source lines: " +
                      share(counts.with_op - counts.with_hlo, counts.kernels),
                  "keep ProfileOptions.enable_hlo_proto on, and compile inside the process that is "
                  "traced");
  else
    findings.ok("HLO", fmt::format("{} modules", ops.modules().size()));
  findings.ok("work", "kernels whose op has a model: " + share(counts.with_work, counts.kernels));
}

void check_host(const Trace& trace, const Counts& counts, Findings& findings) {
  if (counts.kernels > 0 && counts.with_launch < counts.kernels)
    findings.warn("launches",
                  "kernels whose launch is recorded: " + share(counts.with_launch, counts.kernels),
                  "launch latencies need ProfileOptions.host_tracer_level of 2 or more");
  else if (counts.kernels > 0)
    findings.ok("launches", "every kernel has its launch");
  if (counts.steps > 0)
    findings.ok("steps", counted(counts.steps, "step"));
  else
    findings.warn("steps", "not marked",
                  "wrap each step in jax.profiler.StepTraceAnnotation(\"train\", step_num=i)");
  if (counts.frames > 0)
    findings.ok("Python frames", counted(counts.frames, "frame"));
  else
    findings.warn("Python frames", "none: the host's time cannot be traced to source lines",
                  "set ProfileOptions.python_tracer_level to 1 (it makes profiles large)");
  for (const Warnings::Entry& entry : trace.warnings().entries())
    if (entry.what.find("drop") != std::string::npos)
      findings.warn("limit", "the profiler gave up at its limit of events: " + entry.what,
                    "trace fewer steps, or lower the tracer levels");
}

}  // namespace

TraceCheck check_jax(const Trace& trace) {
  const JaxOps ops{trace};
  const Counts counts = count(trace, ops);
  Findings findings;
  findings.check_file(trace);
  check_gpu(counts, findings);
  check_hlo(counts, ops, findings);
  check_host(trace, counts, findings);
  return std::move(findings).take();
}

}  // namespace tracelens
