// clock_offsets.hpp: how far the clocks of the machines are apart, from the ends of collectives.
//   const ClockOffsets clocks = estimate_clock_offsets(run);
//   run.shift_clocks(clocks.by_rank);
// All ranks leave a synchronizing collective together, a little after the last of them has arrived;
// the last is known without any clock, because its kernel is the shortest. So no other rank can end
// before it, and over many collectives the smallest difference between the ends of ranks on two
// machines is the difference of their clocks. Nothing here asks how late it is: clocks may be years
// apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tracelens/table.hpp>
#include <vector>

#include "analysis/ranks/run.hpp"

namespace tracelens {

struct ClockOffset {
  std::int64_t clock = 0;  // the machine, or the rank where machines are not known
  std::int64_t first_rank = 0, rank_count = 0;
  // The clock the offset is measured from: the lowest that collectives connect with this one, maybe
  // itself. None when there is no other; so are the rest then.
  std::optional<std::int64_t> from_clock = {};
  std::optional<std::int64_t> offset_ns = {};  // ahead of that clock
  // Between the two there may be others that both were compared with. The sum of the distances
  // between the bounds from both sides, none when one of them is known from one side only; and the
  // fewest samples of a step.
  std::optional<std::int64_t> uncertainty_ns = {};
  std::optional<std::size_t> samples = {};
};

// How the times of all ranks fit together, by some clocks.
struct ClockFit {
  std::size_t collectives = 0;  // of two ranks or more, that all leave together
  // Of these, such that a rank has left before another came, by more than clocks of one machine are
  // ever apart.
  std::size_t impossible = 0;
  double impossible_ns = 0;            // by how much, in all
  bool is_usual = false;               // for some rank, not only now and then
  std::int64_t usual_end_skew_ns = 0;  // between the ends of a collective: of half of them, at most
};

// Whether the second clocks leave less than half of what is impossible by the first ones.
[[nodiscard]] inline bool explains(const ClockFit& first, const ClockFit& second) {
  return second.impossible_ns < first.impossible_ns / 2;
}

struct ClockOffsets {
  bool is_by_node = false;            // whose clocks these are: the machines', or the ranks'
  std::vector<ClockOffset> clocks;    // by the first rank that has them
  std::vector<std::int64_t> by_rank;  // ns by rank index; 0 where nothing is known
  ClockFit recorded, corrected;       // without and with the offsets

  // Whether recorded times cannot be compared, and corrected ones can.
  [[nodiscard]] bool are_needed() const {
    return recorded.is_usual && explains(recorded, corrected);
  }
};

// Ranks of one machine share its clock, unless their times say that they cannot; without machines
// every rank has its own.
[[nodiscard]] ClockOffsets estimate_clock_offsets(const CollectiveRun& run);

// No table when there is only one clock.
[[nodiscard]] std::optional<Table> clock_offset_table(const ClockOffsets& offsets);

}  // namespace tracelens
