#include "readers/perfetto_slices.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "io/check.hpp"

namespace tracelens::perfetto {

void SliceStack::begin(const Slice& slice) {
  TL_CHECK(slices_.size() < kEnd);
  marks_.push_back({slice.ts_ns, slice.track, static_cast<std::uint32_t>(slices_.size())});
  slices_.push_back(slice);
}

void SliceStack::add_flow(std::uint64_t flow, bool is_last) {
  TL_CHECK(!slices_.empty());
  flow_points_.push_back({flow, static_cast<std::uint32_t>(slices_.size() - 1), is_last});
}

void SliceStack::end(std::int64_t ts_ns, std::uint32_t track, std::uint32_t name,
                     std::uint32_t category, std::uint32_t args) {
  std::uint32_t what = kPlainEnd;
  if (name != kNone || category != kNone || args != kNone) {
    TL_CHECK(ends_.size() < kEnd - 1);
    what = kEnd | static_cast<std::uint32_t>(ends_.size());
    ends_.push_back({name, category, args});
  }
  marks_.push_back({ts_ns, track, what});
}

std::vector<std::uint32_t> SliceStack::finish(std::span<const std::uint32_t> merged) {
  const auto earlier = [](const Mark& a, const Mark& b) { return a.ts_ns < b.ts_ns; };
  if (!std::is_sorted(marks_.begin(), marks_.end(), earlier))
    std::stable_sort(marks_.begin(), marks_.end(), earlier);

  std::vector<std::uint32_t> order;
  order.reserve(slices_.size());
  std::vector<std::vector<std::uint32_t>> stacks(merged.size());
  for (const Mark& mark : marks_) {
    std::vector<std::uint32_t>& stack = stacks[merged[mark.track]];
    const bool is_begin = (mark.what & kEnd) == 0;
    const bool is_instant = is_begin && slices_[mark.what].dur_ns == 0;
    // A finished slice leaves the stack when its end has passed. Instants of one time stay
    // together.
    while (!stack.empty() && slices_[stack.back()].dur_ns != Slice::kOpen) {
      const Slice& top = slices_[stack.back()];
      const std::int64_t end_ns = top.ts_ns + top.dur_ns;
      if (end_ns > mark.ts_ns || (end_ns == mark.ts_ns && top.dur_ns == 0 && is_instant)) break;
      stack.pop_back();
    }
    if (!is_begin) {
      close_topmost(stack, mark);
      continue;
    }
    order.push_back(mark.what);
    stack.push_back(mark.what);
  }
  marks_ = {};
  ends_ = {};
  connect_flows();
  return order;
}

void SliceStack::close_topmost(std::vector<std::uint32_t>& stack, const Mark& mark) {
  // An end that names what it closes may have to look below other open slices. So deep is no real
  // trace, and looking further would let a small file take hours.
  constexpr std::size_t kDeepestSearch = 4096;
  const End end = mark.what == kPlainEnd ? End{kNone, kNone, kNone} : ends_[mark.what & ~kEnd];
  const std::size_t lowest = stack.size() - std::min(stack.size(), kDeepestSearch);
  for (std::size_t at = stack.size(); at-- > lowest;) {
    Slice& slice = slices_[stack[at]];
    if (slice.dur_ns != Slice::kOpen) continue;
    if (end.category != kNone && end.category != slice.category) continue;
    if (end.name != kNone && slice.name != kNone && end.name != slice.name) continue;
    slice.dur_ns = mark.ts_ns - slice.ts_ns;
    slice.end_args = end.args;
    if (at + 1 == stack.size()) stack.pop_back();
    return;
  }
  ++ends_without_begin_;
}

void SliceStack::connect_flows() {
  const auto time_of = [this](std::uint32_t slice) {
    return std::pair{slices_[slice].ts_ns, slice};
  };
  // Points of one flow in time order; one leads to the next unless it is marked as the last.
  std::stable_sort(
      flow_points_.begin(), flow_points_.end(), [&](const FlowPoint& a, const FlowPoint& b) {
        return std::tuple{a.flow, time_of(a.slice)} < std::tuple{b.flow, time_of(b.slice)};
      });
  for (std::size_t i = 1; i < flow_points_.size(); ++i)
    if (flow_points_[i - 1].flow == flow_points_[i].flow && !flow_points_[i - 1].is_last)
      flows_.push_back({flow_points_[i - 1].slice, flow_points_[i].slice});
  flow_points_ = {};
  std::stable_sort(flows_.begin(), flows_.end(),
                   [&](const Flow& a, const Flow& b) { return time_of(a.to) < time_of(b.to); });
}

}  // namespace tracelens::perfetto
