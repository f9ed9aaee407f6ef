#include "analysis/page/strips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/page/times.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kMostStrips = 16;

// Percent of each bucket that the intervals fill; they are sorted and disjoint.
std::vector<std::uint8_t> percents(std::span<const Interval> intervals, std::int64_t span_ns) {
  constexpr auto kBuckets = static_cast<std::int64_t>(kStripBuckets);
  const auto bound = [&](std::int64_t bucket) { return bucket * span_ns / kBuckets; };
  std::vector<std::uint8_t> shares;
  std::size_t next = 0;
  for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
    const Interval all{bound(bucket), bound(bucket + 1)};
    std::int64_t filled = 0;
    for (; next < intervals.size() && intervals[next].start < all.end; ++next) {
      filled += std::max<std::int64_t>(
          0, std::min(intervals[next].end, all.end) - std::max(intervals[next].start, all.start));
      if (intervals[next].end > all.end) break;  // goes on in the next bucket
    }
    const double width = static_cast<double>(std::max<std::int64_t>(1, all.end - all.start));
    shares.push_back(static_cast<std::uint8_t>(static_cast<double>(filled) * 100 / width + 0.5));
  }
  return shares;
}

}  // namespace

PageStrip busy_strip(std::string label, StripTimes times, std::int64_t span_ns) {
  const std::vector<Interval> computing = merge(std::move(times.computing)),
                              communicating = merge(std::move(times.communicating)),
                              copying = merge(std::move(times.copying));
  PageStrip strip{std::move(label), percents(computing, span_ns),
                  percents(subtract(communicating, computing), span_ns),
                  percents(subtract(subtract(copying, computing), communicating), span_ns)};
  for (std::size_t i = 0; i < kStripBuckets; ++i) {  // three roundings may add up to more than all
    const int before = strip.computing[i] + strip.communicating[i];
    strip.communicating[i] =
        static_cast<std::uint8_t>(std::min<int>(strip.communicating[i], 100 - strip.computing[i]));
    strip.copying[i] =
        static_cast<std::uint8_t>(std::min<int>(strip.copying[i], std::max(0, 100 - before)));
  }
  return strip;
}

std::vector<PageStrip> busy_strips(const PageSource& run, std::int64_t span_ns) {
  const Trace& trace = run.facts.trace();
  std::map<std::int64_t, StripTimes> by_gpu;
  for (const GpuJob& job : run.host.jobs()) {
    const Interval time{page_time(trace.ts_ns()[job.gpu.row], run.host.origin_ns()),
                        page_time(end_of(trace, job.gpu), run.host.origin_ns())};
    StripTimes& times = by_gpu[job.device];
    switch (run.facts.work().of(job.gpu)) {
      case GpuWork::kComputation:
        times.computing.push_back(time);
        break;
      case GpuWork::kCommunication:
        times.communicating.push_back(time);
        break;
      case GpuWork::kCopy:
        times.copying.push_back(time);
        break;
    }
  }
  std::vector<PageStrip> strips;
  for (auto& [gpu, times] : by_gpu) {
    if (strips.size() == kMostStrips) break;
    std::string label = run.name;
    if (by_gpu.size() > 1 || label.empty())
      label += fmt::format("{}GPU {}", label.empty() ? "" : " ", gpu);
    strips.push_back(busy_strip(std::move(label), std::move(times), span_ns));
  }
  return strips;
}

}  // namespace tracelens
