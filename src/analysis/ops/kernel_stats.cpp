#include "analysis/ops/kernel_stats.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "table/utf8.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

Value stream_of(const KernelUse& kernel) {
  return kernel.stream == kAbsent ? Value{} : Value{kernel.stream};
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  constexpr std::size_t kKept = 64;
  std::size_t at = 0;
  for (std::size_t points = 0; at < name.size() && points < kKept; ++points)
    static_cast<void>(next_code_point(name, at));
  if (at >= name.size()) return std::string{name};
  return std::string{name.substr(0, at)} + "...";
}

void KernelStats::add(std::span<const KernelUse> kernels) {
  if (kernels.empty()) return;
  if (pattern_.empty()) {
    pattern_.assign(kernels.begin(), kernels.end());
    if (durations_.size() < kernels.size()) durations_.resize(kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) durations_[i].clear();
    totals_.assign(kernels.size(), 0);
  }
  if (kernels.size() != pattern_.size()) return;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    durations_[i].push_back(kernels[i].dur_ns);
    totals_[i] = plus_ns(totals_[i], kernels[i].dur_ns);
  }
}

std::vector<std::size_t> KernelStats::order() const {
  std::vector<std::size_t> order(pattern_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (totals_[a] != totals_[b]) return totals_[a] < totals_[b];
    return trace_.text(pattern_[a].name) < trace_.text(pattern_[b].name);
  });
  return order;
}

Value KernelStats::cell(std::span<const Value> call_stacks) {
  order_ = order();
  means_.clear();
  std::vector<Value> entries;
  entries.reserve(order_.size());
  for (const std::size_t i : order_) {
    const KernelUse& kernel = pattern_[i];
    const GroupStats stats = stats_of_ns(durations_[i]);
    means_.push_back(*stats.mean);
    std::vector<std::string> keys{"name", "stream"};
    std::vector<Value> values{std::string{trace_.text(kernel.name)}, stream_of(kernel)};
    if (!std::isnan(kernel.overlap_pct)) {
      keys.emplace_back("overlap_pct");
      values.emplace_back(kernel.overlap_pct);
    }
    if (i < call_stacks.size()) {
      keys.emplace_back("call_stack");
      values.push_back(call_stacks[i]);
    }
    keys.insert(keys.end(), {"count", "total_duration_us", "mean_duration_us", "median_duration_us",
                             "std_dev_duration_us", "min_duration_us", "max_duration_us"});
    values.insert(values.end(), {stats.count, stats.sum, *stats.mean, *stats.median,
                                 *stats.population_std, *stats.min, *stats.max});
    entries.push_back(Value::dict(std::move(keys), std::move(values)));
  }
  return Value::list(std::move(entries));
}

Value KernelStats::short_cell() const {
  if (order_.empty() || pattern_.empty()) return {};
  std::vector<Value> entries;
  entries.reserve(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const KernelUse& kernel = pattern_[order_[i]];
    entries.push_back(Value::dict({"name", "stream", "mean_duration_us"},
                                  {short_kernel_name(trace_.text(kernel.name)), stream_of(kernel),
                                   std::nearbyint(means_[i] * 100) / 100}));
  }
  return Value::list(std::move(entries));
}

}  // namespace tracelens
