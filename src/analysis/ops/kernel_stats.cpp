#include "analysis/ops/kernel_stats.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "table/utf8.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

Value stream_of(const KernelUse& kernel) {
  return kernel.stream == kAbsent ? Value{} : Value{kernel.stream};
}

Value::Keys make_keys(bool has_overlap, bool has_stack) {
  std::vector<std::string> keys{"name", "stream"};
  if (has_overlap) keys.emplace_back("overlap_pct");
  if (has_stack) keys.emplace_back("call_stack");
  keys.insert(keys.end(), {"count", "total_duration_us", "mean_duration_us", "median_duration_us",
                           "std_dev_duration_us", "min_duration_us", "max_duration_us"});
  return std::make_shared<const std::vector<std::string>>(std::move(keys));
}

const Value::Keys& cell_keys(bool has_overlap, bool has_stack) {
  static const Value::Keys kKeys[] = {make_keys(false, false), make_keys(true, false),
                                      make_keys(false, true), make_keys(true, true)};
  return kKeys[(has_overlap ? 1 : 0) + (has_stack ? 2 : 0)];
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

bool KernelStats::wants(std::size_t kernels, std::uint32_t where) {
  if (kernels == 0 || is_left_out_) return false;
  if (pattern_.empty()) {
    is_left_out_ = kernels > room_;
    return !is_left_out_;
  }
  if (kernels != pattern_.size()) return false;
  const auto found = kernels > kFew ? seen_.find(where) : seen_.end();
  if (found == seen_.end()) return true;
  ++times_[found->second];
  return false;
}

void KernelStats::clear() {
  pattern_.clear();
  times_.clear();
  seen_.clear();
  is_left_out_ = false;
}

std::vector<std::size_t> KernelStats::order() const {
  std::vector<std::int64_t> totals(pattern_.size());
  for (std::size_t i = 0; i < totals.size(); ++i)
    for (std::size_t k = 0; k < times_.size(); ++k)
      totals[i] = plus_ns(totals[i], times_ns(durations_[i][k], times_[k]));
  std::vector<std::size_t> order(pattern_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (totals[a] != totals[b]) return totals[a] < totals[b];
    return trace_.text(pattern_[a].name) < trace_.text(pattern_[b].name);
  });
  return order;
}

const Value& KernelStats::shown_name(StringId name, bool is_short) {
  auto [entry, added] = (is_short ? short_names_ : names_).try_emplace(name.row);
  if (added) {
    const std::string_view text = trace_.text(name);
    entry->second = is_short ? short_kernel_name(text) : std::string{text};
  }
  return entry->second;
}

Value KernelStats::cell(std::span<const Value> call_stacks) {
  order_ = order();
  means_.clear();
  if (is_left_out_) return {};
  room_ -= order_.size();
  const bool repeats = std::ranges::any_of(times_, [](std::int64_t times) { return times > 1; });
  std::vector<Value> entries;
  entries.reserve(order_.size());
  for (const std::size_t i : order_) {
    const KernelUse& kernel = pattern_[i];
    const GroupStats stats =
        repeats ? stats_of_ns(durations_[i], times_) : stats_of_ns(durations_[i]);
    means_.push_back(*stats.mean);
    const bool has_overlap = !std::isnan(kernel.overlap_pct), has_stack = i < call_stacks.size();
    std::vector<Value> values;
    values.reserve(9 + (has_overlap ? 1U : 0U) + (has_stack ? 1U : 0U));
    values.insert(values.end(), {shown_name(kernel.name, false), stream_of(kernel)});
    if (has_overlap) values.emplace_back(kernel.overlap_pct);
    if (has_stack) values.push_back(call_stacks[i]);
    values.insert(values.end(), {stats.count, stats.sum, *stats.mean, *stats.median,
                                 *stats.population_std, *stats.min, *stats.max});
    entries.push_back(Value::dict_of(cell_keys(has_overlap, has_stack), std::move(values)));
  }
  return Value::list(std::move(entries));
}

Value KernelStats::short_cell() {
  if (order_.empty() || pattern_.empty()) return {};
  static const Value::Keys kKeys = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"name", "stream", "mean_duration_us"});
  std::vector<Value> entries;
  entries.reserve(order_.size());
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const KernelUse& kernel = pattern_[order_[i]];
    entries.push_back(Value::dict_of(kKeys, {shown_name(kernel.name, true), stream_of(kernel),
                                             std::nearbyint(means_[i] * 100) / 100}));
  }
  return Value::list(std::move(entries));
}

}  // namespace tracelens
