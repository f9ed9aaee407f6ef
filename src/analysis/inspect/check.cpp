#include <tracelens/check.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <tracelens/info.hpp>
#include <vector>

#include "analysis/jax/check.hpp"
#include "analysis/kit/findings.hpp"
#include "analysis/rocm/rocprof_processes.hpp"
#include "facts/converted.hpp"
#include "facts/steps.hpp"
#include "facts/trace_kind.hpp"
#include "trace/sparse_cursor.hpp"
#include "tree/links.hpp"

namespace tracelens {
namespace {

// Who recorded the trace: what is missing is asked for in the words of that profiler.
Recorder recorder_of(const Trace& trace, std::uint64_t ops) {
  const Recorder recorder = trace.source().recorder;
  if (recorder == Recorder::kNsight) return recorder;
  if (recorder == Recorder::kRocprof || recorder == Recorder::kRocpd ||
      recorder == Recorder::kRpd || is_rocm_timeline(trace))
    return Recorder::kRocprof;
  return recorder != Recorder::kPerfetto || ops > 0 ? Recorder::kPyTorch : Recorder::kUnknown;
}

// What the findings are about, counted in one pass.
struct Counts {
  std::uint64_t ops = 0, ops_with_shapes = 0;
  std::uint64_t frames = 0, modules = 0;
  std::uint64_t gpu = 0, unlinked_fills = 0;
  std::uint64_t in_graphs = 0;  // linked GPU events below a graph launch
  std::set<std::int64_t> devices;
};

Counts count(const Trace& trace, const Tree& tree) {
  Counts counts;
  std::vector<std::uint8_t> is_module(trace.string_count()), is_graph(trace.string_count());
  for (std::uint32_t id = 0; id < trace.string_count(); ++id) {
    is_module[id] = is_module_name(trace.text({id})) ? 1 : 0;
    is_graph[id] = is_graph_launch(trace.text({id})) ? 1 : 0;
  }
  SparseCursor devices{trace.devices()};
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if (category == Category::kCpuOp) {
      ++counts.ops;
      const SignatureId signature = trace.signatures()[event.row];
      if (signature.valid() && !trace.signature(signature).dims.is_null()) ++counts.ops_with_shapes;
    } else if (category == Category::kPythonFunction) {
      ++counts.frames;
      counts.modules += is_module[trace.names()[event.row].row];
    } else if (is_gpu(category)) {
      ++counts.gpu;
      if (const auto device = devices.at(event)) counts.devices.insert(*device);
      if (const EventId launch = tree.launch_of(event); launch.valid())
        counts.in_graphs += is_graph[trace.names()[launch.row].row];
      else if (category == Category::kGpuMemset)
        ++counts.unlinked_fills;
    }
  }
  return counts;
}

std::string_view how_to_record_gpus(Recorder recorder) {
  switch (recorder) {
    case Recorder::kPyTorch:
      return "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]";
    case Recorder::kRocprof:
      return "profile with rocprofv3 --kernel-trace --memory-copy-trace";
    case Recorder::kNsight:
      return "profile with nsys profile --trace=cuda,nvtx";
    default:
      break;
  }
  return "use a profiler that records kernels (PyTorch, rocprofv3, JAX)";
}

// Only tables of PyTorch profiles leave out what has no launch.
std::string_view how_to_link(const Trace& trace, Recorder recorder) {
  if (trace_kind(trace) == TraceKind::kPyTorch && !is_converted(trace))
    return "synchronise before the profiler starts; --include-unlinked counts them";
  if (recorder == Recorder::kRocprof)
    return "the tables count them all the same; --hip-trace records the calls";
  return "the tables count them all the same; synchronise before the profiler starts";
}

void check_gpu(const Trace& trace, const Tree& tree, const Counts& counts, Recorder recorder,
               Findings& findings) {
  if (counts.gpu == 0) {
    findings.fail("GPU events", "none: only the host was recorded", how_to_record_gpus(recorder));
    return;
  }
  findings.ok("GPU events", fmt::format("{} kernels, copies and fills", counts.gpu));
  const std::uint64_t linked = tree.linked_gpu_events().size();
  const std::string detail = "linked to their launch: " + share(linked, counts.gpu);
  if (linked == counts.gpu) {
    findings.ok("launches", detail);
  } else {
    if (tree.stats().unlinked_no_launch > 0)
      findings.warn("launches",
                    fmt::format("{}; {} were launched before recording began or by a call that "
                                "was not recorded",
                                detail, tree.stats().unlinked_no_launch),
                    how_to_link(trace, recorder));
    if (tree.stats().unlinked_no_flow > 0)
      findings.warn("launches",
                    fmt::format("{}; {} have their call in the trace but no flow to it", detail,
                                tree.stats().unlinked_no_flow),
                    "--link-by-correlation ties them by correlation id");
  }
  if (counts.unlinked_fills > 0)
    findings.warn("fills",
                  fmt::format("{} memsets are not linked (usual on ROCm)", counts.unlinked_fills),
                  "--link-by-correlation ties them by correlation id");
  if (tree.stats().links_by_external_id)
    findings.warn("correlation ids", "launches have none: linked by external id",
                  "record with a newer PyTorch");
  if (counts.in_graphs > 0)
    findings.warn("graphs",
                  "replayed by graph launches, so that no op is known for them: " +
                      share(counts.in_graphs, counts.gpu),
                  "record the capture phase too, or run without graphs");
  if (counts.devices.size() > 1)
    findings.ok("GPUs",
                fmt::format("{} GPUs: see {}", counts.devices.size(),
                            trace_kind(trace) == TraceKind::kDatabase ? "device_timeline"
                                                                      : "gpu_timeline_by_device"));
}

void check_host(const Trace& trace, const Tree& tree, const Counts& counts, Findings& findings) {
  if (counts.ops == 0) {
    findings.warn("ops", "none: only GPU tables can be made",
                  "profile with ProfilerActivity.CPU among the activities");
  } else {
    findings.ok("ops", fmt::format("{} cpu_ops", counts.ops));
    if (counts.ops_with_shapes == 0)
      findings.warn("shapes", "no op has its argument shapes: no FLOPs, bytes or roofline",
                    "profile with record_shapes=True");
    else
      findings.ok("shapes", "ops with shapes: " + share(counts.ops_with_shapes, counts.ops));
  }
  const bool has_stacks = counts.frames > 0 || !trace.call_stacks().rows().empty();
  if (has_stacks)
    findings.ok("Python stacks", fmt::format("{} frames", counts.frames));
  else
    findings.warn("Python stacks", "none: costs cannot be traced to source lines",
                  "profile with with_stack=True");
  if (counts.modules > 0)
    findings.ok("modules", counted(counts.modules, "nn.Module call"));
  else
    findings.warn("modules", "no nn.Module calls: no module tree",
                  "profile with with_stack=True (and with_modules=True for TorchScript)");
  if (const auto steps = find_steps(trace, tree); !steps.empty())
    findings.ok("steps", counted(steps.size(), "step"));
  else
    findings.warn("steps", "not marked", "call prof.step() once per iteration");
  if (tree.stats().discarded > 0)
    findings.warn("nesting",
                  fmt::format("{} host events ({} ops) outlast their caller and were left out",
                              tree.stats().discarded, tree.stats().discarded_ops),
                  "usually a few around the start and end of profiling; harmless");
}

// rocprofv3 knows no ops: what can be asked for is the calls around the kernels.
void check_rocm_host(const Trace& trace, Findings& findings) {
  std::uint64_t calls = 0, markers = 0;
  for (const Category category : trace.categories()) {
    calls += is_runtime(category) ? 1 : 0;
    markers += category == Category::kUserAnnotation ? 1 : 0;
  }
  if (calls == 0)
    findings.warn("HIP calls", "none: kernels cannot be tied to their launches",
                  "profile with rocprofv3 --hip-trace");
  else
    findings.ok("HIP calls", fmt::format("{} calls", calls));
  if (const std::size_t processes = profiled_processes(trace).size(); processes > 1)
    findings.ok("processes", fmt::format("{} processes: see the table processes", processes));
  if (markers > 0) findings.ok("markers", fmt::format("{} roctx ranges and marks", markers));
}

void check_ranks(const Trace& trace, Findings& findings) {
  const Value* run = trace.metadata("distributedInfo");
  const Value* rank = run == nullptr ? nullptr : run->find("rank");
  const Value* world = run == nullptr ? nullptr : run->find("world_size");
  if (rank != nullptr && world != nullptr && world->as_int() > 1)
    findings.ok("ranks", fmt::format("rank {} of {}: collectives need the traces of all ranks",
                                     rank->as_int(), world->as_int()));
}

}  // namespace

TraceCheck check_trace(const Trace& trace, const Tree& tree) {
  if (trace.source().recorder == Recorder::kJax) return check_jax(trace);
  const Counts counts = count(trace, tree);
  Findings findings;
  findings.check_file(trace);
  const Recorder recorder = recorder_of(trace, counts.ops);
  check_gpu(trace, tree, counts, recorder, findings);
  if (recorder == Recorder::kRocprof) check_rocm_host(trace, findings);
  if (recorder == Recorder::kPyTorch) check_host(trace, tree, counts, findings);
  check_ranks(trace, findings);
  return std::move(findings).take();
}

}  // namespace tracelens
