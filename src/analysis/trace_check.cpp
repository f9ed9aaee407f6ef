#include "analysis/trace_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/pftrace_events.hpp"
#include "analysis/trace_info.hpp"
#include "tree/links.hpp"

namespace tracelens {
namespace {

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
      if (const EventId launch = tree.launch_of(event); launch.valid())
        counts.in_graphs += is_graph[trace.names()[launch.row].row];
      else if (category == Category::kGpuMemset)
        ++counts.unlinked_fills;
    }
  }
  const auto device_ids = trace.devices().values();
  counts.devices.insert(device_ids.begin(), device_ids.end());
  return counts;
}

class Findings {
 public:
  void ok(std::string_view what, std::string_view detail) { add(Verdict::kOk, what, detail, ""); }
  void warn(std::string_view what, std::string_view detail, std::string_view fix) {
    add(Verdict::kWarn, what, detail, fix);
  }
  void fail(std::string_view what, std::string_view detail, std::string_view fix) {
    add(Verdict::kFail, what, detail, fix);
  }
  TraceCheck take() && { return {std::move(table_), verdict_}; }

 private:
  void add(Verdict level, std::string_view what, std::string_view detail, std::string_view fix) {
    constexpr std::array<std::string_view, 3> kLevels = {"ok", "warn", "fail"};
    verdict_ = std::max(verdict_, level);
    table_.add_row(kLevels[static_cast<std::size_t>(level)], what, detail, fix);
  }
  static Table make_table() {
    const ColumnSpec columns[] = {{"level", Kind::kText, "", "ok, warn or fail"},
                                  {"what", Kind::kText, "", "what was looked at"},
                                  {"detail", Kind::kText, "", "what was found"},
                                  {"how to fix", Kind::kText, "", "what to change when recording"}};
    return Table{"check", "Whether the trace is fit for analysis", columns};
  }

  Table table_ = make_table();
  Verdict verdict_ = Verdict::kOk;
};

std::string share(std::uint64_t part, std::uint64_t whole) {
  return fmt::format(
      "{} of {} ({:.1f}%)", part, whole,
      whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void check_file(const Trace& trace, Findings& findings) {
  if (trace.size() == 0)
    findings.fail("events", "the trace has none", "check that the profiler ran and was exported");
  else
    findings.ok("events", fmt::format("{} events", trace.size()));
  if (trace.source().cut_short)
    findings.warn("file", "cut short: events after the cut are missing",
                  "let the export finish; copy the file again");
  for (const Warnings::Entry& entry : trace.warnings().entries())
    findings.warn(
        "damage",
        fmt::format("{}: {}, first at byte {}", entry.what, entry.count, entry.first_byte),
        "record or copy the trace again if it matters");
  if (!trace.source().cut_short && trace.warnings().entries().empty())
    findings.ok("file", "complete, no damaged events");
}

void check_gpu(const Tree& tree, const Counts& counts, Findings& findings) {
  if (counts.gpu == 0) {
    findings.fail("GPU events", "none: only the host was recorded",
                  "profile with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]");
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
                    "synchronise before the profiler starts; --include-unlinked counts them");
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
    findings.ok("GPUs", fmt::format("{} GPUs: see gpu_timeline_by_device", counts.devices.size()));
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
    findings.ok("modules", fmt::format("{} nn.Module calls", counts.modules));
  else
    findings.warn("modules", "no nn.Module calls: no module tree",
                  "profile with with_stack=True (and with_modules=True for TorchScript)");
  if (const auto steps = find_steps(trace, tree); !steps.empty())
    findings.ok("steps", fmt::format("{} steps", steps.size()));
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
  const Counts counts = count(trace, tree);
  Findings findings;
  check_file(trace, findings);
  check_gpu(tree, counts, findings);
  if (trace.source().format == "rocprof" || is_rocm_timeline(trace))
    check_rocm_host(trace, findings);
  else
    check_host(trace, tree, counts, findings);
  check_ranks(trace, findings);
  return std::move(findings).take();
}

}  // namespace tracelens
