#include "analysis/clock_offsets.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <unordered_map>

#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Ends of ranks on clock `to` after the end of the last arrival on clock `from`.
struct Bound {
  std::int64_t least_ns = kNever;
  std::size_t samples = 0;
};

// The difference of two clocks: an upper bound from collectives in which the first had the last
// arrival, a lower bound from those in which the second had. Each is off by about the usual delay
// over the number of its samples, so weighting by the samples cancels the two.
struct Difference {
  std::int64_t ns = 0;
  std::optional<std::int64_t> width_ns = {};
  std::size_t samples = 0;
};

class Estimator {
 public:
  explicit Estimator(const CollectiveRun& run) : run_{run} {
    find_clocks();
    bounds_.resize(out_.clocks.size() * out_.clocks.size());
  }

  ClockOffsets estimate() {
    if (out_.clocks.size() > 1) {
      for (const Collective& collective : run_.matching().collectives) look_at(collective);
      spread_from_hub();
    }
    for (const std::uint32_t clock : clock_of_)
      out_.by_rank.push_back(out_.clocks[clock].offset_ns.value_or(0));
    return std::move(out_);
  }

 private:
  void find_clocks() {
    std::unordered_map<std::int64_t, std::uint32_t> known;
    for (const RankTrace& rank : run_.ranks()) {
      const std::int64_t clock = run_.gpus_per_node() ? run_.node_of(rank.rank) : rank.rank;
      const auto [entry, is_new] =
          known.try_emplace(clock, static_cast<std::uint32_t>(out_.clocks.size()));
      if (is_new) out_.clocks.push_back({.clock = clock, .first_rank = rank.rank});
      ++out_.clocks[entry->second].rank_count;
      clock_of_.push_back(entry->second);
    }
  }

  Bound& bound(std::uint32_t from, std::uint32_t to) {
    return bounds_[from * out_.clocks.size() + to];
  }

  void look_at(const Collective& collective) {
    const auto members = run_.matching().members(collective);
    if (members.size() < 2 || !is_synchronizing(run_.kind(run_.message(members.front())))) return;
    const auto last = std::ranges::min_element(
        members, {}, [&](const CollectiveMember& member) { return run_.kernel(member).dur_ns; });
    const auto end = [&](const CollectiveMember& member) {
      return end_of(run_.kernel(member).ts_ns, run_.kernel(member).dur_ns);
    };
    for (const CollectiveMember& member : members) {
      const std::uint32_t from = clock_of_[last->rank], to = clock_of_[member.rank];
      if (from == to) continue;
      Bound& known = bound(from, to);
      known.least_ns = std::min(known.least_ns, minus_ns(end(member), end(*last)));
      ++known.samples;
    }
  }

  // How far `to` is ahead of `from`; nothing when no collective tells.
  std::optional<Difference> difference(std::uint32_t from, std::uint32_t to) {
    const Bound &above = bound(from, to), &below = bound(to, from);
    if (above.samples == 0 && below.samples == 0) return std::nullopt;
    if (below.samples == 0) return Difference{above.least_ns, {}, above.samples};
    const std::int64_t low = -below.least_ns;
    if (above.samples == 0) return Difference{low, {}, below.samples};
    const std::size_t samples = above.samples + below.samples;
    const double share = static_cast<double>(above.samples) / static_cast<double>(samples);
    const auto part = static_cast<std::int64_t>(static_cast<double>(above.least_ns - low) * share);
    return Difference{low + part, std::abs(above.least_ns - low), samples};
  }

  // From the clock that most others can be compared with, over as few steps as possible.
  void spread_from_hub() {
    const auto count = static_cast<std::uint32_t>(out_.clocks.size());
    std::uint32_t hub = 0;
    std::size_t most = 0;
    for (std::uint32_t from = 0; from < count; ++from) {
      std::size_t samples = 0;
      for (std::uint32_t to = 0; to < count; ++to) samples += bound(from, to).samples;
      if (samples > most) {
        most = samples;
        hub = from;
      }
    }
    out_.clocks[hub].offset_ns = 0;
    std::deque<std::uint32_t> reached{hub};
    while (!reached.empty()) {
      const std::uint32_t from = reached.front();
      reached.pop_front();
      for (std::uint32_t to = 0; to < count; ++to) {
        if (out_.clocks[to].offset_ns) continue;
        const auto ahead = difference(from, to);
        if (!ahead) continue;
        out_.clocks[to].offset_ns = *out_.clocks[from].offset_ns + ahead->ns;
        out_.clocks[to].uncertainty_ns = ahead->width_ns;
        out_.clocks[to].samples = ahead->samples;
        reached.push_back(to);
      }
    }
    // Told from the first clock, not from the hub.
    const std::optional<std::int64_t> first = out_.clocks.front().offset_ns;
    for (ClockOffset& clock : out_.clocks)
      if (clock.offset_ns) *clock.offset_ns -= first.value_or(0);
  }

  const CollectiveRun& run_;
  std::vector<std::uint32_t> clock_of_;  // by rank index
  std::vector<Bound> bounds_;            // clock x clock
  ClockOffsets out_;
};

}  // namespace

ClockOffsets estimate_clock_offsets(const CollectiveRun& run) { return Estimator{run}.estimate(); }

std::optional<Table> clock_offset_table(const CollectiveRun& run, const ClockOffsets& offsets) {
  if (offsets.clocks.size() < 2) return std::nullopt;
  const bool by_node = run.gpus_per_node().has_value();
  const ColumnSpec columns[] = {
      {by_node ? "node_id" : "rank", Kind::kInteger, "id",
       by_node ? "machine; its ranks share a clock" : "rank; machines are not known"},
      {"first rank", Kind::kInteger, "id", "lowest rank with this clock"},
      {"ranks", Kind::kInteger, "", "ranks with this clock"},
      {"offset (us)", Kind::kReal, "µs",
       "how far the clock is ahead of the first one; empty: no collective connects them"},
      {"uncertainty (us)", Kind::kReal, "µs",
       "between the bounds from both sides; empty: only one side is known"},
      {"samples", Kind::kInteger, "", "pairs of ends that were compared"},
  };
  Table table{"clock_offsets",
              "How far the machines' clocks are apart, from the ends of collectives", columns};
  for (const ClockOffset& clock : offsets.clocks)
    table.add_row(clock.clock, clock.first_rank, clock.rank_count,
                  clock.offset_ns ? std::optional{us(*clock.offset_ns)} : std::nullopt,
                  clock.uncertainty_ns ? std::optional{us(*clock.uncertainty_ns)} : std::nullopt,
                  clock.samples);
  return table;
}

}  // namespace tracelens
