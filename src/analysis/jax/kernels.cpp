#include "analysis/jax/kernels.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "analysis/jax/hosts.hpp"
#include "analysis/kit/group_rows.hpp"
#include "facts/kernel_names.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kHostPid = 701;

// When each launch started, by host and correlation id.
class LaunchTimes {
 public:
  explicit LaunchTimes(const Trace& trace) {
    for (std::uint32_t row = 0; row < trace.size(); ++row) {
      if (!is_runtime(trace.categories()[row]) || trace.correlations()[row] == kAbsent) continue;
      const std::int64_t host = JaxHosts::number(trace, {row});
      times_[host][trace.correlations()[row]] = trace.ts_ns()[row];  // the last one wins
    }
  }
  [[nodiscard]] std::optional<std::int64_t> at(std::int64_t pid, std::int64_t correlation) const {
    const auto host = times_.find(pid / kJaxPidsPerHost);
    if (host == times_.end() || correlation == kAbsent) return std::nullopt;
    const auto found = host->second.find(correlation);
    return found == host->second.end() ? std::nullopt : std::optional{found->second};
  }

 private:
  std::unordered_map<std::int64_t, std::unordered_map<std::int64_t, std::int64_t>> times_;
};

}  // namespace

bool is_jax_span(const Trace& trace, EventId event) {
  return trace.category(event) == Category::kCpuOp &&
         trace.track(event).pid.as_int() % kJaxPidsPerHost < kHostPid;
}

JaxKernels::JaxKernels(const Trace& trace, const Tree& tree, const JaxOps& ops) : trace_{trace} {
  const LaunchTimes launches{trace};
  KeyIndex kinds;
  std::vector<std::string_view> categories;  // by kind
  kernels_.reserve(
      static_cast<std::size_t>(std::ranges::count(trace.categories(), Category::kKernel)));
  std::int64_t uid = 0;
  for (const EventId event : trace.all_events()) {
    if (is_jax_span(trace, event)) continue;  // not in the file
    const std::int64_t number = uid++;
    if (trace.category(event) != Category::kKernel) continue;
    const Track& track = trace.track(event);
    JaxKernel kernel{
        .event = event,
        .kind = kinds.id_of({trace.names()[event.row].row, trace.signatures()[event.row].row}),
        .op = ops.of(event),
        .uid = number,
        .pid = track.pid.as_int(),
        .tid = track.tid.as_int(),
        .category = {},
        .latency_ns = {},
        .dur_ns = duration_of(trace, event),
        .op_ns = duration_of(trace, event)};
    if (kernel.kind == categories.size())
      categories.push_back(jax_category(
          trace.name(event), kernel.op == nullptr ? std::string_view{} : kernel.op->name));
    kernel.category = categories[kernel.kind];
    if (const auto launch = launches.at(kernel.pid, trace.correlations()[event.row]))
      kernel.latency_ns = minus_ns(trace.ts_ns()[event.row], *launch);
    if (const NodeId node = tree.node(event); node.valid() && tree.parent(node).valid())
      if (is_jax_span(trace, tree.event(tree.parent(node))))
        kernel.op_ns = tree.gpu_sum_ns(tree.parent(node));
    kernels_.push_back(kernel);
  }
  kinds_ = categories.size();
  count_gpus();
}

void JaxKernels::count_gpus() {
  std::set<std::int64_t> pids;
  for (const JaxKernel& kernel : kernels_) pids.insert(kernel.pid);
  gpus_ = pids.size();
}

JaxKernels JaxKernels::with_metadata(std::span<const std::string> words) const {
  JaxKernels some{trace_};
  some.kinds_ = kinds_;
  for (const JaxKernel& kernel : kernels_)
    if (words.empty() || (kernel.op != nullptr && kernel.op->instruction != nullptr &&
                          std::ranges::any_of(words, [&kernel](const std::string& word) {
                            return kernel.op->metadata.find(word) != std::string::npos;
                          })))
      some.kernels_.push_back(kernel);
  some.count_gpus();
  return some;
}

}  // namespace tracelens
