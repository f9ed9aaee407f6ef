#include "facts/host_ranges.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

#include "tree/category_rows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

// "torch/utils/data/dataloader.py(732): __next__", in any folder.
bool is_loader_frame(std::string_view name) {
  constexpr std::string_view kFile = "torch/utils/data/dataloader.py(", kTail = "): __next__";
  if (!name.ends_with(kTail)) return false;
  name.remove_suffix(kTail.size());
  const std::size_t line = name.find_last_not_of("0123456789");
  return line != std::string_view::npos && line + 1 < name.size() &&
         name.substr(0, line + 1).ends_with(kFile);
}

bool is_there(const Trace& trace, EventId event) {
  return trace.phase(event) == Phase::kComplete && trace.ts_ns()[event.row] != kAbsent;
}

HostRange range_of(const Trace& trace, EventId event) {
  return {.event = event,
          .track = trace.tracks()[event.row],
          .start_ns = trace.ts_ns()[event.row],
          .end_ns = end_of(trace, event)};
}

void sort_ranges(std::vector<HostRange>& ranges) {
  std::ranges::sort(ranges, {}, [](const HostRange& range) {
    return std::tuple{range.track, range.start_ns, range.event};
  });
  const HostRange* before = nullptr;
  for (HostRange& range : ranges) {
    range.open_until_ns = range.end_ns;
    if (before != nullptr && before->track == range.track)
      range.open_until_ns = std::max(range.open_until_ns, before->open_until_ns);
    before = &range;
  }
}

}  // namespace

HostRanges::HostRanges(const Trace& trace) : HostRanges{trace, CategoryRows{trace}.annotations()} {}

HostRanges::HostRanges(const Trace& trace, std::span<const std::uint32_t> annotations) {
  for (const std::uint32_t row : annotations)
    if (is_there(trace, {row})) add_annotation(trace, {row});
  if (loading_.empty()) add_loader_frames(trace);
  for (auto* ranges : {&loading_, &optimizer_, &zero_grad_}) sort_ranges(*ranges);
}

void HostRanges::add_annotation(const Trace& trace, EventId event) {
  const std::string_view name = trace.name(event);
  if (name.starts_with("enumerate(DataLoader)#")) {
    loading_.push_back(range_of(trace, event));
    if (name.find("_SingleProcessDataLoaderIter") != std::string_view::npos)
      loads_in_main_process_ = true;
    if (name.find("_MultiProcessingDataLoaderIter") != std::string_view::npos)
      loads_in_workers_ = true;
  } else if (name.starts_with("Optimizer.step#")) {
    optimizer_.push_back(range_of(trace, event));
  } else if (name.starts_with("Optimizer.zero_grad#")) {
    zero_grad_.push_back(range_of(trace, event));
  }
}

void HostRanges::add_loader_frames(const Trace& trace) {
  std::vector<bool> is_loader(trace.string_count());
  bool has_loader = false;  // most traces have none: their frames need not be looked at
  for (std::uint32_t id = 0; id < is_loader.size(); ++id) {
    is_loader[id] = is_loader_frame(trace.text({id}));
    has_loader = has_loader || is_loader[id];
  }
  if (!has_loader) return;
  for (const EventId event : trace.all_events())
    if (trace.category(event) == Category::kPythonFunction && is_there(trace, event) &&
        is_loader[trace.names()[event.row].row])
      loading_.push_back(range_of(trace, event));
}

bool in_ranges(std::span<const HostRange> ranges, TrackId track, std::int64_t ts_ns) {
  const auto after =
      std::ranges::upper_bound(ranges, std::tuple{track, ts_ns}, {}, [](const HostRange& range) {
        return std::tuple{range.track, range.start_ns};
      });
  if (after == ranges.begin()) return false;
  const HostRange& last = *(after - 1);
  return last.track == track && last.open_until_ns > ts_ns;
}

}  // namespace tracelens
