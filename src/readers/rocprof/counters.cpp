#include "readers/rocprof/counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/numbers.hpp"
#include "trace/counter_name.hpp"
#include "trace/value_member.hpp"

namespace tracelens {
namespace {

constexpr auto kHandle = &std::pair<std::int64_t, double>::first;

}  // namespace

void RocprofCounters::add_name(const Value& counter) {
  const Value& handle = member(member(counter, "id"), "handle");
  const std::string& name = member(counter, "name").as_text();
  if (handle.is_int() && is_counter_name(name)) names_.try_emplace(handle.as_int(), name);
}

void RocprofCounters::add(RocprofCounts counts, std::uint64_t byte) {
  auto& values = counts.values;
  std::ranges::stable_sort(values, {}, kHandle);
  std::size_t kept = 0;
  for (const auto& [counter, value] : values)
    if (kept > 0 && values[kept - 1].first == counter)
      values[kept - 1].second += value;
    else
      values[kept++] = {counter, value};
  values.resize(kept);
  const std::int64_t id = counts.dispatch.dispatch_id;
  if (id != kAbsent) {
    const auto [entry, is_new] = by_dispatch_id_.try_emplace(id, dispatches_.size());
    if (!is_new) {
      auto& known = dispatches_[entry->second].values;
      known.insert(known.end(), values.begin(), values.end());
      return;
    }
  }
  values.shrink_to_fit();
  dispatches_.push_back({counts.dispatch, std::move(values), byte});
}

std::string RocprofCounters::members(Dispatch& dispatch) const {
  auto& values = dispatch.values;
  std::ranges::stable_sort(values, {}, kHandle);
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto& [counter, value] = values[i];
    const bool is_last = i + 1 == values.size() || values[i + 1].first != counter;
    if (!is_last || !std::isfinite(value)) continue;  // the sum of huge values need not be finite
    const auto name = names_.find(counter);
    text += name != names_.end() ? fmt::format(",\"{}\":", name->second)
                                 : fmt::format(",\"COUNTER_{}\":", counter);
    text += io::shortest_double(value);
  }
  return text;
}

}  // namespace tracelens
