#include "analysis/gpu/work.hpp"

#include <algorithm>
#include <array>

#include "io/ascii.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// Drops `suffix` from the end of `text` if it is there.
void drop(std::string_view& text, std::string_view suffix) {
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
}

}  // namespace

bool is_communication_name(std::string_view name) {
  constexpr std::array<std::string_view, 3> kWords = {"nccl", "rccl", "cross_device_reduce"};
  return std::ranges::any_of(kWords,
                             [&](auto word) { return io::contains_ignoring_case(name, word); });
}

bool is_copy_kernel_name(std::string_view name) {
  drop(name, ".kd");
  if (name.starts_with("MEMORY_COPY_")) {
    name.remove_prefix(std::string_view{"MEMORY_COPY_"}.size());
    return name == "HOST_TO_DEVICE" || name == "DEVICE_TO_HOST" || name == "DEVICE_TO_DEVICE";
  }
  if (!name.starts_with("__amd_rocclr_copyBuffer")) return false;
  drop(name, "Aligned");
  drop(name, "Rect");
  return name == "__amd_rocclr_copyBuffer";
}

bool is_fill_kernel_name(std::string_view name) {
  drop(name, ".kd");
  drop(name, "Aligned");
  return name == "__amd_rocclr_fillBuffer";
}

GpuWorkKinds::NameKind GpuWorkKinds::name_kind(EventId gpu_event) {
  NameKind& kind = kinds_[trace_.names()[gpu_event.row].row];
  if (kind != NameKind::kUnknown) return kind;
  const std::string_view name = trace_.name(gpu_event);
  kind = is_copy_kernel_name(name)     ? NameKind::kCopy
         : is_fill_kernel_name(name)   ? NameKind::kFill
         : is_communication_name(name) ? NameKind::kCommunication
                                       : NameKind::kPlain;
  return kind;
}

GpuWork GpuWorkKinds::of(EventId gpu_event) {
  const Category category = trace_.category(gpu_event);
  if (category == Category::kGpuMemcpy) return GpuWork::kCopy;
  switch (name_kind(gpu_event)) {
    case NameKind::kCopy:
      return category == Category::kKernel ? GpuWork::kCopy : GpuWork::kComputation;
    case NameKind::kCommunication:
      return GpuWork::kCommunication;
    default:
      return GpuWork::kComputation;
  }
}

bool GpuWorkKinds::is_communication(EventId gpu_event) {
  return name_kind(gpu_event) == NameKind::kCommunication;
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

Interval interval_of(const Trace& trace, EventId event) {
  return {trace.ts_ns()[event.row], end_of(trace, event)};
}

std::int64_t busy_ns(const Trace& trace, std::span<const EventId> events) {
  if (events.size() == 1) return length(interval_of(trace, events[0]));
  std::vector<Interval> intervals;
  intervals.reserve(events.size());
  for (const EventId event : events) intervals.push_back(interval_of(trace, event));
  return length(merge(std::move(intervals)));
}

std::vector<std::int64_t> gather(const SparseColumn<std::int64_t>& column,
                                 std::span<const EventId> events) {
  std::vector<std::int64_t> values;
  values.reserve(events.size());
  std::size_t at = 0;
  for (const EventId event : events) {
    while (at < column.rows().size() && column.rows()[at] < event.row) ++at;
    const bool found = at < column.rows().size() && column.rows()[at] == event.row;
    values.push_back(found ? column.values()[at] : kAbsent);
  }
  return values;
}

}  // namespace tracelens
