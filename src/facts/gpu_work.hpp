// gpu_work.hpp: what kind of work a GPU event is, and which GPU events a table is about.
//   const GpuWorkKinds kinds{trace};
//   for (const EventId event : select_gpu_events(trace, tree, false).events)
//     if (kinds.of(event) == GpuWork::kCommunication) ...
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "facts/kernel_names.hpp"

namespace tracelens {

enum class GpuWork : std::uint8_t { kComputation, kCommunication, kCopy };

// Looks at each distinct name of a GPU event once.
class GpuWorkKinds {
 public:
  explicit GpuWorkKinds(const Trace& trace);
  GpuWorkKinds(const Trace& trace, std::span<const std::uint32_t> gpu_events);  // rows of all
  // Copies are kCopy, fills and all other work kCommunication or kComputation by name.
  [[nodiscard]] GpuWork of(EventId gpu_event) const;
  // By name, whatever the category.
  [[nodiscard]] bool is_communication(EventId gpu_event) const {
    return name_kind_of(gpu_event) == NameKind::kCommunication;
  }

 private:
  [[nodiscard]] NameKind name_kind_of(EventId gpu_event) const {
    return kinds_[trace_.names()[gpu_event.row].row];
  }

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
// The same of all rows of GPU events.
[[nodiscard]] GpuSelection select_gpu_events(const Trace& trace, const Tree& tree,
                                             bool include_unlinked,
                                             std::span<const std::uint32_t> gpu_events);

}  // namespace tracelens
