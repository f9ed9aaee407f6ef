// HOST-1: the GPU waits because the host does not launch work fast enough.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace host_1 {

constexpr Number kNumbers[] = {
    {"least_idle_pct", 15, "% of the GPU's span that it idles"},
    {"least_host_pct", 50, "% of the idle time in which the host works toward the next launch"},
    {"least_path_pct", 30, "% of the critical path on the host"},
    {"least_launches", 20, "launches per step"},
    {"factor", 0.2, "what is left of host time"},
    {"low_factor", 0.5, "the same for the low estimate"},
    {"high_factor", 0, "the same for the high estimate"},
};

constexpr double kMost = 50;  // percent of the idle time: less is only the largest part

struct Part {
  GapPart part;
  std::string_view words;
};
constexpr Part kHostParts[] = {
    {GapPart::kOp, "in the framework's ops"},
    {GapPart::kPython, "in Python"},
    {GapPart::kLaunchCall, "in launch calls"},
    {GapPart::kLaunchLatency, "between launch and start"},
    {GapPart::kLaunch, "in launch calls for other work"},
    {GapPart::kRuntimeOther, "in other calls of the runtime"},
    {GapPart::kNone, "in nothing that was recorded"},
};

const DeviceGaps* idlest(const GpuGaps& gaps) {
  const auto most = std::ranges::max_element(gaps.devices, {}, &DeviceGaps::idle_ns);
  return most == gaps.devices.end() || most->idle_ns == 0 ? nullptr : &*most;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (!c.path().usable()) return std::nullopt;
  const double idle = percentage(c.gpu_times().idle_ns(), c.gpu_times().span_ns);
  const std::int64_t on_path = c.on_path_ns(BoundBy::kHostOp) + c.on_path_ns(BoundBy::kHostOther) +
                               c.on_path_ns(BoundBy::kHostRuntime);
  const double launches =
      static_cast<double>(c.gpu_events().size()) / static_cast<double>(c.steps());
  const DeviceGaps* const gaps = idlest(c.gaps());
  if (idle < n["least_idle_pct"] || c.share(on_path) < n["least_path_pct"] ||
      launches < n["least_launches"] || gaps == nullptr)
    return std::nullopt;
  std::int64_t host = 0;
  const Part* largest = &kHostParts[0];
  for (const Part& part : kHostParts) {
    host += gaps->part_ns[part.part];
    if (gaps->part_ns[part.part] > gaps->part_ns[largest->part]) largest = &part;
  }
  const double preparing = percentage(host, gaps->idle_ns);
  const double in_largest = percentage(gaps->part_ns[largest->part], gaps->idle_ns);
  if (preparing < n["least_host_pct"]) return std::nullopt;

  Draft draft;
  draft.edit.scale_all_host(n["factor"]);
  draft.low.emplace().scale_all_host(n["low_factor"]);
  draft.high.emplace().scale_all_host(n["high_factor"]);
  draft.verdict = draft.tell(
      "The GPU idles {} of its span. For {} of the idle time the host prepares the next launch, {} "
      "{} ({}); the host holds {} of the critical path.",
      derived("gpu_gap_summary", "idle of span without the profiler", idle, "%"),
      derived("gpu_gap_summary", "percent_of_idle of what prepares launches", preparing, "%"),
      in_largest >= kMost ? "most of it" : "the largest part", largest->words,
      proof("gpu_gap_summary", "percent_of_idle", in_largest, "%",
            {{"part", std::string{kGapPartNames[static_cast<std::size_t>(largest->part)]}}}),
      derived("critical_path_summary", "pct_of_window of all host_*", c.share(on_path), "%"));
  draft.evidence.push_back(proof("step_phases", "launches", launches, "", {{"step", "mean"}}));
  draft.formula = fmt::format("host time x {}", n["factor"]);
  if (c.is_pytorch())
    draft.tries = {"a larger batch, where memory allows it",
                   "torch.compile(mode='reduce-overhead'), or a CUDA or HIP graph of the step",
                   "fewer, fused ops; Python work out of the loop"};
  else
    draft.tries = {"more work per launch: larger batches, fused kernels",
                   "record launches that repeat as a graph (hipGraph), and replay it"};
  draft.tries.emplace_back("check the clock and the affinity of the CPU");
  draft.verify = {.table = "gpu_gap_summary",
                  .column = "idle of span without the profiler",
                  .now = idle,
                  .expected = fmt::format("< {}", figure(n["least_idle_pct"], "%")),
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace host_1

extern const Rule kHost1;
constinit const Rule kHost1 = {.id = "HOST-1",
                               .title = "The host cannot keep the GPU fed",
                               .is_generic = true,
                               .needs_whole_graphs = true,
                               .numbers = host_1::kNumbers,
                               .find = host_1::find};

}  // namespace tracelens
