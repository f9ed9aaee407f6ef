// timed_groups.hpp: RowGroups with the time of each group, the costliest first; of equals, the one
// whose first row comes first.
//   TimedGroups groups;
//   for (const Op& op : ops) groups.add({op.name.row, op.category});
//   groups.close([&](std::uint32_t row) { return ops[row].busy_ns; }, position_of);
//   for (std::uint32_t group : groups.order()) use(groups.rows(group));
// Groups may be variants of one another: those of one key then stand together, ordered by what they
// cost together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "analysis/kit/group_rows.hpp"
#include "tree/time_math.hpp"

namespace tracelens {

class TimedGroups {
 public:
  void add(const GroupKey& key) { groups_.add(key); }
  // The last part of the key is taken by the variant.
  void add(GroupKey key, std::uint32_t variant) {
    const std::uint32_t whole = wholes_.id_of(key);
    key.parts.back() = variant;
    if (groups_.add(key) == whole_of_.size()) whole_of_.push_back(whole);
  }
  // Both ask about a row by its number; positions are distinct.
  template <class NsOf, class PositionOf>
  void close(NsOf ns_of, PositionOf position_of) {
    groups_.close();
    struct Cost {
      std::int64_t ns = 0, position = std::numeric_limits<std::int64_t>::max();
    };
    std::vector<Cost> costs(groups_.size()), together(wholes_.size());
    for (std::uint32_t group = 0; group < costs.size(); ++group) {
      Cost& cost = costs[group];
      for (const std::uint32_t row : rows(group)) cost.ns = plus_ns(cost.ns, ns_of(row));
      cost.position = static_cast<std::int64_t>(position_of(first(group)));
      if (whole_of_.empty()) continue;
      Cost& whole = together[whole_of_[group]];
      whole = {plus_ns(whole.ns, cost.ns), std::min(whole.position, cost.position)};
    }
    const auto comes_before = [](const Cost& a, const Cost& b) {
      return a.ns != b.ns ? a.ns > b.ns : a.position < b.position;
    };
    order_.resize(costs.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, [&](std::uint32_t a, std::uint32_t b) {
      return whole_of_.empty() || whole_of_[a] == whole_of_[b]
                 ? comes_before(costs[a], costs[b])
                 : comes_before(together[whole_of_[a]], together[whole_of_[b]]);
    });
    for (const Cost& cost : costs) {
      all_ns_ = plus_ns(all_ns_, cost.ns);
      ns_.push_back(cost.ns);
    }
  }

  // --- after close() ---
  [[nodiscard]] std::span<const std::uint32_t> order() const { return order_; }
  [[nodiscard]] std::span<const std::uint32_t> rows(std::uint32_t group) const {
    return groups_.rows(group);
  }
  [[nodiscard]] std::uint32_t first(std::uint32_t group) const { return rows(group).front(); }
  [[nodiscard]] std::int64_t ns(std::uint32_t group) const { return ns_[group]; }
  [[nodiscard]] std::int64_t all_ns() const { return all_ns_; }

 private:
  RowGroups groups_;
  KeyIndex wholes_;                      // keys without the variant
  std::vector<std::uint32_t> whole_of_;  // by group; empty: no variants
  std::vector<std::uint32_t> order_;
  std::vector<std::int64_t> ns_;  // by group
  std::int64_t all_ns_ = 0;
};

}  // namespace tracelens
