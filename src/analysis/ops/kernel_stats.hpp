// kernel_stats.hpp: the kernels of a group of equal ops, by position: the first kernel of each op
// with the first kernel of all others, and so on.
//   KernelStats stats{trace};
//   for (row : group) stats.add(kernels_of(row));
//   row.add(stats.cell());  row.add(stats.short_cell());  stats.clear();
// The first op that launched anything is the pattern; ops with another number of kernels are left
// out, so that `count` may be below the number of ops.
// All cells of a table together list so many kernels and no more: where ops are nested without end,
// each of them has the kernels of all below.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <unordered_map>
#include <vector>

#include "analysis/kit/group_stats.hpp"

namespace tracelens {

// One GPU event as an op's row lists it.
struct KernelUse {
  StringId name;
  std::int64_t stream = kAbsent;
  std::int64_t dur_ns = 0;
  double overlap_pct = std::numeric_limits<double>::quiet_NaN();  // only of overlapping kernels
};

class KernelStats {
 public:
  static constexpr std::uint32_t kAnywhere = std::numeric_limits<std::uint32_t>::max();
  explicit KernelStats(const Trace& trace,
                       std::size_t room = std::numeric_limits<std::size_t>::max())
      : trace_{trace}, room_{room} {}

  // Equal numbers `where` stand for the same GPU events: these are kept once and counted.
  void add(std::span<const KernelUse> kernels, std::uint32_t where = kAnywhere) {
    add(
        kernels.size(), [&](std::size_t i) { return kernels[i]; }, where);
  }
  // The same of kernels that are nowhere in a row: use_of(i) is kernel i.
  template <class UseOf>
  void add(std::size_t kernels, const UseOf& use_of, std::uint32_t where = kAnywhere);
  void clear();
  // For the kernels of the next cell, where others than those before it have a say: KernelRoom.
  void set_room(std::size_t room) { room_ = room; }
  [[nodiscard]] bool is_left_out() const { return is_left_out_; }  // no room: the cells are empty

  // The kernels in ascending order of (total time, name); positions are those of the pattern.
  [[nodiscard]] std::vector<std::size_t> order() const;
  // A list with a dict per kernel: name, stream, count, and total, mean, median, std, min, max of
  // the durations. `call_stacks`, one per position of the pattern or none, are shown after stream.
  [[nodiscard]] Value cell(std::span<const Value> call_stacks = {});
  // The same with shortened names and mean durations of two decimals; null when there are none.
  // Call it after cell().
  [[nodiscard]] Value short_cell();

 private:
  // Ops with so few kernels cost nothing that counts: the same ones are not looked for.
  static constexpr std::size_t kFew = 8;

  // False when there is nothing to add: they are not as many as the pattern's, they were added
  // before and now count once more, or no room is left.
  [[nodiscard]] bool wants(std::size_t kernels, std::uint32_t where);
  const Value& shown_name(StringId name, bool is_short);

  const Trace& trace_;
  std::size_t room_;  // for kernels in the cells to come
  bool is_left_out_ = false;
  std::vector<KernelUse> pattern_;
  std::vector<std::int64_t> times_;                      // how often each of the added counts
  std::unordered_map<std::uint32_t, std::size_t> seen_;  // where -> which of the added
  std::unordered_map<std::uint32_t, Value> names_, short_names_;  // shared by all cells
  std::vector<std::vector<std::int64_t>> durations_;  // by position; may hold old ones at the end
  std::vector<std::size_t> order_;                    // of the last cell()
  std::vector<double> means_;
};

template <class UseOf>
void KernelStats::add(std::size_t kernels, const UseOf& use_of, std::uint32_t where) {
  if (!wants(kernels, where)) return;
  if (pattern_.empty()) {
    for (std::size_t i = 0; i < kernels; ++i) pattern_.push_back(use_of(i));
    if (durations_.size() < kernels) durations_.resize(kernels);
    for (std::size_t i = 0; i < kernels; ++i) durations_[i].clear();
  }
  if (kernels > kFew && where != kAnywhere) seen_.emplace(where, times_.size());
  times_.push_back(1);
  for (std::size_t i = 0; i < kernels; ++i) durations_[i].push_back(use_of(i).dur_ns);
}

// At most 64 code points, then "...".
[[nodiscard]] std::string short_kernel_name(std::string_view name);

}  // namespace tracelens
