// overlap.hpp: which GPU events ran at the same time on other streams.
//   const Overlaps overlaps{facts, table, /*include_unlinked=*/false};
//   const OverlapFields fields = overlaps.of(table.own(launcher));
// Two events overlap when they share at least 1 µs and are not known to be on one stream. Unlinked
// GPU events can be partners but have no op of their own. An event is paired with at most
// kMostAtOnce of those that ran when it started: no GPU runs more, and without a limit a small file
// could ask for billions of pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

#include "analysis/kit/group_rows.hpp"
#include "analysis/ops/kernel_stats.hpp"
#include "analysis/ops/launch_table.hpp"

namespace tracelens {

// What an op's row says about the kernels that ran at the same time as its own.
struct OverlapFields {
  std::uint32_t names = 0;          // Overlaps::names(); 0: nothing overlaps
  std::vector<KernelUse> partners;  // one per name: mean duration, stream, mean share
  std::optional<double> share;      // of the op's busy time, two decimals
};

class Overlaps {
 public:
  static constexpr std::size_t kMostAtOnce = 64;
  Overlaps(const TraceFacts& facts, const LaunchTable& table, bool include_unlinked);

  // `kernels`: the op's GPU events; names come in their order, partners of one by start.
  [[nodiscard]] OverlapFields of(std::span<const GpuPosition> kernels);
  // The distinct partner names as a list of texts; null for 0.
  [[nodiscard]] Value names(std::uint32_t id) const;
  [[nodiscard]] std::size_t crowded() const { return crowded_; }  // events that met the limit
  // How many events were held against another: what the sweep costs.
  [[nodiscard]] std::size_t compared() const { return compared_; }

 private:
  struct Event {
    std::int64_t start_ns, end_ns, stream;
    StringId name;
  };
  void sweep();

  const Trace& trace_;
  std::vector<Event> events_;                     // by start, then file order
  std::vector<std::uint32_t> event_of_;           // by GpuPosition: index into events_
  std::vector<std::uint32_t> starts_, partners_;  // partners of events_[i]: by start
  KeyIndex name_lists_;                           // (list so far, next name) -> longer list
  std::vector<std::uint32_t> place_of_name_;      // by StringId: in the list that of() makes
  std::size_t crowded_ = 0, compared_ = 0;
};

}  // namespace tracelens
