// HOST-4: launches that take a thousand times as long as the others: code is loaded or compiled at its
// first use.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/host/queue.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace host_4 {

constexpr Number kNumbers[] = {
    {"long_us", 1000, "us of a launch call"},
    {"long_times", 100, "times the median of launch calls"},
    {"least_pct", 2, "% of the window in such calls"},
    {"queue_pct", 90, "% of a full queue from which on a call may have waited for room"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (!c.path().usable()) return std::nullopt;
  const QueueLengths& queues = c.queues();
  std::map<EventId, std::int64_t> queued;  // by launch call
  std::vector<std::int64_t> lengths;
  const std::span<const GpuJob> jobs = c.host().jobs();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i].call.valid() || !c.in_window(c.trace.ts_ns()[jobs[i].call.row])) continue;
    std::int64_t& length = queued[jobs[i].call];
    length = std::max(length, queues.at_launch[i]);
  }
  for (const auto& [call, length] : queued) lengths.push_back(c.dur_ns(call));
  if (lengths.empty()) return std::nullopt;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::ranges::nth_element(lengths, middle);
  const std::int64_t usual = *middle;
  const double most = static_cast<double>(kQueueLimit) * n["queue_pct"] / 100;

  Draft draft;
  std::int64_t calls = 0, time = 0, longest = 0;
  for (const auto& [call, length] : queued) {
    const std::int64_t own = c.dur_ns(call);
    const bool is_long = static_cast<double>(own) > n["long_us"] * 1e3 ||
                         static_cast<double>(own) > n["long_times"] * static_cast<double>(usual);
    if (!is_long || static_cast<double>(length) >= most ||
        c.host().class_of(call) != CallClass::kLaunch)
      continue;
    draft.edit.set_host(c.trace.tracks()[call.row], c.trace.ts_ns()[call.row], c.trace.end_ns(call),
                        usual);
    ++calls;
    time += own;
    longest = std::max(longest, own);
    draft.where.push_back({.kind = "call",
                           .name = std::string{c.trace.name(call)},
                           .python = c.python_line(call),
                           .module = c.module_of(call),
                           .time_ns = own,
                           .count = 1});
  }
  if (calls == 0 || c.share(time) < n["least_pct"]) return std::nullopt;
  draft.verdict = draft.tell(
      "{} {} in all, the longest {}; the median of all is {}: kernels are loaded "
      "or compiled at their first use.",
      counted(derived("launch_summary", "slow calls", static_cast<double>(calls), ""),
              "launch call takes", "launch calls take"),
      derived("launch_summary", "slow calls time", in_ms(time), "ms"),
      proof("launch_stats", "cpu_duration", in_ms(longest), "ms"),
      proof("launch_summary", "cpu_duration_p50", in_ms(usual) * 1e3, "us"));
  draft.formula = "these calls -> the median";
  draft.tries = {"run a few steps before the profiler starts",
                 "CUDA_MODULE_LOADING=EAGER, or HIP_ENABLE_DEFERRED_LOADING=0",
                 "keep the caches of compiled kernels (Triton, Inductor, MIOpen) between runs"};
  draft.verify = {
      .table = "launch_stats", .column = "cpu_duration", .now = in_ms(longest), .expected = "< 1"};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace host_4

extern const Rule kHost4;
constinit const Rule kHost4 = {.id = "HOST-4",
                               .title = "First use of kernels inside the window",
                               .numbers = host_4::kNumbers,
                               .find = host_4::find};

}  // namespace tracelens
