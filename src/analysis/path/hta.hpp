// hta.hpp: the critical path as Holistic Trace Analysis finds it, to compare with its figures.
//   const HtaPath path = find_hta_critical_path(trace, window);
// Its graph differs from ours: host time outside of ops weighs nothing, and a call waits for the GPU
// only where the trace has cuda_sync events. docs/guide/critical-path.md says more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

enum class HtaEdgeKind : std::uint8_t {
  kOperator,
  kDependency,
  kKernelGap,
  kLaunchDelay,
  kSync,
};
inline constexpr std::array<std::string_view, 5> kHtaEdgeNames = {
    "critical_path_operator", "critical_path_dependency", "critical_path_kernel_kernel_delay",
    "critical_path_kernel_launch_delay", "critical_path_sync_dependency"};

struct HtaEdge {
  HtaEdgeKind kind{};
  std::int64_t weight_ns = 0;
  EventId owner;                                                      // invalid: nobody's
  [[nodiscard]] std::string_view bound_by(const Trace& trace) const;  // "cpu_bound"; may be empty
};

struct HtaPath {
  std::vector<HtaEdge> edges;  // from the first to the last
  std::int64_t length_ns = 0;
  std::size_t nodes = 0, events = 0;  // of the path
  std::size_t graph_nodes = 0, graph_edges = 0;
  std::array<std::size_t, kHtaEdgeNames.size()> edges_by_kind{};  // of the graph
};

// Without a window: of all events.
[[nodiscard]] HtaPath find_hta_critical_path(const Trace& trace, std::optional<Interval> window);

}  // namespace tracelens
