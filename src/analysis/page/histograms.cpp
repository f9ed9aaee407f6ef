#include "analysis/page/histograms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/page/times.hpp"

namespace tracelens {
namespace {

constexpr int kBinsPerDecade = 20, kDecades = 16;  // beyond kLastPageTime

const std::vector<std::int64_t>& bounds() {
  static const std::vector<std::int64_t> kBounds = [] {
    std::vector<std::int64_t> found{0};
    for (int i = 0; i <= kBinsPerDecade * kDecades; ++i) {
      // Whole powers of ten are exact, whatever the library's pow gives.
      double bound = std::pow(10.0, static_cast<double>(i % kBinsPerDecade) / kBinsPerDecade);
      for (int decade = 0; decade < i / kBinsPerDecade; ++decade) bound *= 10;
      const auto whole = static_cast<std::int64_t>(std::ceil(bound - 1e-9));
      if (whole > found.back()) found.push_back(whole);
    }
    return found;
  }();
  return kBounds;
}

}  // namespace

std::vector<PageBin> logarithmic_bins(std::span<const std::int64_t> times_ns) {
  const std::vector<std::int64_t>& limits = bounds();
  std::vector<PageBin> bins(limits.size() - 1);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    bins[i].from_ns = limits[i];
    bins[i].to_ns = limits[i + 1];
  }
  for (const std::int64_t time : times_ns) {
    const auto after = std::ranges::upper_bound(limits, time);
    const auto place = std::min(static_cast<std::size_t>(after - limits.begin()), bins.size());
    PageBin& bin = bins[std::max<std::size_t>(place, 1) - 1];
    ++bin.count;
    bin.total_ns = plus_ns(bin.total_ns, time);
  }
  const auto is_used = [](const PageBin& bin) { return bin.count > 0; };
  bins.erase(bins.begin(), std::ranges::find_if(bins, is_used));
  while (!bins.empty() && !is_used(bins.back())) bins.pop_back();
  return bins;
}

std::vector<PageHistogram> page_histograms(const PageSource& run) {
  const Trace& trace = run.facts.trace();
  std::vector<std::int64_t> durations, latencies;
  for (const GpuJob& job : run.host.jobs()) {
    if (trace.category(job.gpu) == Category::kKernel)
      durations.push_back(std::min(duration_of(trace, job.gpu), kLastPageTime));
    if (job.call.valid())
      latencies.push_back(launch_latency(trace.ts_ns()[job.call.row], trace.ts_ns()[job.gpu.row]));
  }
  std::vector<PageHistogram> histograms;
  if (!durations.empty()) histograms.push_back({"kernel duration", logarithmic_bins(durations)});
  if (!latencies.empty()) histograms.push_back({"launch latency", logarithmic_bins(latencies)});
  return histograms;
}

}  // namespace tracelens
