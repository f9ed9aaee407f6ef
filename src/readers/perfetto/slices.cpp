#include "readers/perfetto/slices.hpp"

#include <algorithm>

namespace tracelens::perfetto {

void OpenSlices::release(std::uint32_t id) {
  if (--slices_[id].holders == 0) free_.push_back(id);
}

void OpenSlices::pop(Stack& stack) {
  release(stack.back());
  stack.pop_back();
}

// A finished slice leaves the stack when its end has passed. Instants of one time stay together.
OpenSlices::Stack& OpenSlices::stack_at(const Mark& mark) {
  Stack& stack = stacks_[merged_[mark.track]];
  const bool is_instant = !mark.is_end && mark.dur_ns == 0;
  while (!stack.empty() && slices_[stack.back()].dur_ns != Slice::kOpen) {
    const Slice& top = slices_[stack.back()];
    if (top.end_ns() > mark.ts_ns) break;
    if (top.end_ns() == mark.ts_ns && top.dur_ns == 0 && is_instant) break;
    pop(stack);
  }
  return stack;
}

std::uint32_t OpenSlices::begin(const Mark& mark) {
  Stack& stack = stack_at(mark);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slices_.size()));
    slices_.emplace_back();
  }
  const std::uint32_t id = free_.back();
  free_.pop_back();
  slices_[id] = {.ts_ns = mark.ts_ns,
                 .dur_ns = mark.dur_ns,
                 .order = mark.order,
                 .track = mark.track,
                 .name = mark.name,
                 .category = mark.category,
                 .thread = mark.thread,
                 .has_times = mark.row.row.dur_ns != kAbsent,
                 .holders = 2};
  stack.push_back(id);
  return id;
}

std::optional<std::uint32_t> OpenSlices::end(const Mark& mark) {
  // An end that names what it closes may have to look below other open slices. So deep is no real
  // trace, and looking further would let a small file take hours.
  constexpr std::size_t kDeepestSearch = 4096;
  Stack& stack = stack_at(mark);
  const std::size_t lowest = stack.size() - std::min(stack.size(), kDeepestSearch);
  for (std::size_t at = stack.size(); at-- > lowest;) {
    const std::uint32_t id = stack[at];
    Slice& slice = slices_[id];
    if (slice.dur_ns != Slice::kOpen) continue;
    if (mark.category != kNone && mark.category != slice.category) continue;
    if (mark.name != kNone && slice.name != kNone && mark.name != slice.name) continue;
    slice.dur_ns = mark.ts_ns - slice.ts_ns;
    slice.end_args = mark.end_args;
    hold(id);
    if (at + 1 == stack.size()) pop(stack);
    return id;
  }
  ++ends_without_begin_;
  return std::nullopt;
}

}  // namespace tracelens::perfetto
