#include "facts/gpu_work.hpp"

namespace tracelens {

GpuWorkKinds::GpuWorkKinds(const Trace& trace) : trace_{trace} {
  constexpr auto kUnseen = static_cast<NameKind>(0xff);
  kinds_.assign(trace.string_count(), kUnseen);
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    if (!is_gpu(trace.categories()[row])) continue;
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
  GpuSelection selection;
  selection.fell_back = !include_unlinked && tree.linked_gpu_events().empty();
  const bool take_all = include_unlinked || selection.fell_back;
  for (std::uint32_t row = 0; row < trace.size(); ++row) {
    if (!is_gpu(trace.categories()[row]) || trace.phases()[row] != Phase::kComplete ||
        trace.ts_ns()[row] == kAbsent)
      continue;
    if (take_all || tree.is_linked({row})) selection.events.push_back({row});
  }
  selection.fell_back = selection.fell_back && !selection.events.empty();
  return selection;
}

}  // namespace tracelens
