#include "facts/gpu_work.hpp"

#include "tree/category_rows.hpp"

namespace tracelens {

GpuWorkKinds::GpuWorkKinds(const Trace& trace)
    : GpuWorkKinds{trace, CategoryRows{trace}.gpu_events()} {}

GpuWorkKinds::GpuWorkKinds(const Trace& trace, std::span<const std::uint32_t> gpu_events)
    : trace_{trace} {
  constexpr auto kUnseen = static_cast<NameKind>(0xff);
  kinds_.assign(trace.string_count(), kUnseen);
  for (const std::uint32_t row : gpu_events) {
    NameKind& kind = kinds_[trace.names()[row].row];
    if (kind == kUnseen) kind = name_kind(trace.name({row}));
  }
}

GpuWork GpuWorkKinds::of(EventId gpu_event) const {
  const Category category = trace_.category(gpu_event);
  if (category == Category::kGpuMemcpy) return GpuWork::kCopy;
  switch (name_kind_of(gpu_event)) {
    case NameKind::kCopy:
      return category == Category::kKernel ? GpuWork::kCopy : GpuWork::kComputation;
    case NameKind::kCommunication:
      return GpuWork::kCommunication;
    default:
      return GpuWork::kComputation;
  }
}

GpuSelection select_gpu_events(const Trace& trace, const Tree& tree, bool include_unlinked) {
  return select_gpu_events(trace, tree, include_unlinked, CategoryRows{trace}.gpu_events());
}

GpuSelection select_gpu_events(const Trace& trace, const Tree& tree, bool include_unlinked,
                               std::span<const std::uint32_t> gpu_events) {
  GpuSelection selection;
  selection.fell_back = !include_unlinked && tree.linked_gpu_events().empty();
  const bool take_all = include_unlinked || selection.fell_back;
  selection.events.reserve(take_all ? gpu_events.size() : tree.linked_gpu_events().size());
  for (const std::uint32_t row : gpu_events)
    if (trace.phases()[row] == Phase::kComplete && trace.ts_ns()[row] != kAbsent &&
        (take_all || tree.is_linked({row})))
      selection.events.push_back({row});
  selection.fell_back = selection.fell_back && !selection.events.empty();
  return selection;
}

}  // namespace tracelens
