#include "facts/host_ranges.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

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

HostRanges::HostRanges(const Trace& trace) {
  std::vector<char> loader_names(trace.string_count());  // 1: a loader's frame, 2: no such
  std::vector<HostRange> frames;
  for (const EventId event : trace.all_events()) {
    const Category category = trace.category(event);
    if ((category != Category::kUserAnnotation && category != Category::kPythonFunction) ||
        trace.phase(event) != Phase::kComplete || trace.ts_ns()[event.row] == kAbsent)
      continue;
    std::vector<HostRange>* kind = nullptr;
    if (category == Category::kPythonFunction) {
      char& known = loader_names[trace.names()[event.row].row];
      if (known == 0) known = is_loader_frame(trace.name(event)) ? 1 : 2;
      if (known == 1) kind = &frames;
    } else if (const std::string_view name = trace.name(event);
               name.starts_with("enumerate(DataLoader)#")) {
      kind = &loading_;
      if (name.find("_SingleProcessDataLoaderIter") != std::string_view::npos)
        loads_in_main_process_ = true;
      if (name.find("_MultiProcessingDataLoaderIter") != std::string_view::npos)
        loads_in_workers_ = true;
    } else if (name.starts_with("Optimizer.step#")) {
      kind = &optimizer_;
    } else if (name.starts_with("Optimizer.zero_grad#")) {
      kind = &zero_grad_;
    }
    if (kind == nullptr) continue;
    kind->push_back({.event = event,
                     .track = trace.tracks()[event.row],
                     .start_ns = trace.ts_ns()[event.row],
                     .end_ns = end_of(trace, event)});
  }
  if (loading_.empty()) loading_ = std::move(frames);
  for (auto* ranges : {&loading_, &optimizer_, &zero_grad_}) sort_ranges(*ranges);
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
