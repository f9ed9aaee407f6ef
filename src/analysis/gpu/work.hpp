// work.hpp: what kind of work a GPU event is, and which GPU events a table is about.
//   GpuWorkKinds kinds{trace};
//   for (const EventId event : select_gpu_events(trace, tree, false).events)
//     if (kinds.of(event) == GpuWork::kCommunication) ...
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/kit/intervals.hpp"

namespace tracelens {

enum class GpuWork : std::uint8_t { kComputation, kCommunication, kCopy };

// NCCL, RCCL and custom all-reduce kernels, by parts of their names in any case.
[[nodiscard]] bool is_communication_name(std::string_view name);

// ROCm up to 7.1 records copies and fills as kernels with names of their own.
[[nodiscard]] bool is_copy_kernel_name(std::string_view name);
[[nodiscard]] bool is_fill_kernel_name(std::string_view name);

// Looks at each distinct name once.
class GpuWorkKinds {
 public:
  explicit GpuWorkKinds(const Trace& trace) : trace_{trace}, kinds_(trace.string_count()) {}
  // Copies are kCopy, fills and all other work kCommunication or kComputation by name.
  [[nodiscard]] GpuWork of(EventId gpu_event);
  [[nodiscard]] bool is_communication(EventId gpu_event);  // by name, whatever the category

 private:
  enum class NameKind : std::uint8_t { kUnknown, kPlain, kCommunication, kCopy, kFill };
  NameKind name_kind(EventId gpu_event);

  const Trace& trace_;
  std::vector<NameKind> kinds_;  // by StringId
};

struct GpuSelection {
  std::vector<EventId> events;  // in file order
  bool fell_back = false;       // nothing is linked, so that unlinked events were taken
};

// The GPU events whose launch is in the trace, or all of them. Events without a time are left out.
[[nodiscard]] GpuSelection select_gpu_events(const Trace& trace, const Tree& tree,
                                             bool include_unlinked);

[[nodiscard]] Interval interval_of(const Trace& trace, EventId event);

// The time in which at least one of the events ran.
[[nodiscard]] std::int64_t busy_ns(const Trace& trace, std::span<const EventId> events);

// One value of a sparse column per event, kAbsent where there is none; events in file order.
[[nodiscard]] std::vector<std::int64_t> gather(const SparseColumn<std::int64_t>& column,
                                               std::span<const EventId> events);

}  // namespace tracelens
