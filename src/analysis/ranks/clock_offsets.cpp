#include "analysis/ranks/clock_offsets.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "analysis/kit/cells.hpp"
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

// What collectives tell about pairs of clocks. Only pairs that met are kept: of thousands of clocks
// each meets few others as the last or with the last.
class Comparisons {
 public:
  explicit Comparisons(std::size_t clocks) : met_(clocks), samples_(clocks) {}

  void add(std::uint32_t from, std::uint32_t to, std::int64_t ns) {
    const auto [entry, is_new] = bounds_.try_emplace(key(from, to));
    if (is_new && !bounds_.contains(key(to, from))) {
      met_[from].push_back(to);
      met_[to].push_back(from);
    }
    entry->second.least_ns = std::min(entry->second.least_ns, ns);
    ++entry->second.samples;
    ++samples_[from];
  }

  // Clocks it was compared with; in no order.
  [[nodiscard]] const std::vector<std::uint32_t>& met(std::uint32_t clock) const {
    return met_[clock];
  }
  // Ends compared with those of a last arrival on this clock.
  [[nodiscard]] std::size_t samples(std::uint32_t clock) const { return samples_[clock]; }

  // How far `to` is ahead of `from`, which have met.
  [[nodiscard]] Difference difference(std::uint32_t from, std::uint32_t to) const {
    const Bound above = bound(from, to), below = bound(to, from);
    if (below.samples == 0) return {above.least_ns, {}, above.samples};
    const std::int64_t low = minus_ns(0, below.least_ns);
    if (above.samples == 0) return {low, {}, below.samples};
    const std::size_t samples = above.samples + below.samples;
    const double share = static_cast<double>(above.samples) / static_cast<double>(samples);
    const std::int64_t width = minus_ns(above.least_ns, low);
    const auto part = static_cast<std::int64_t>(static_cast<double>(width) * share);
    return {plus_ns(low, part), width < 0 ? minus_ns(0, width) : width, samples};
  }

 private:
  static std::uint64_t key(std::uint32_t from, std::uint32_t to) {
    return (std::uint64_t{from} << 32) | to;
  }
  [[nodiscard]] Bound bound(std::uint32_t from, std::uint32_t to) const {
    const auto found = bounds_.find(key(from, to));
    return found == bounds_.end() ? Bound{} : found->second;
  }

  std::unordered_map<std::uint64_t, Bound> bounds_;
  std::vector<std::vector<std::uint32_t>> met_;
  std::vector<std::size_t> samples_;
};

class Estimator {
 public:
  explicit Estimator(const CollectiveRun& run) : run_{run} { find_clocks(); }

  ClockOffsets estimate() {
    if (out_.clocks.size() > 1) compare_clocks();
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

  void look_at(const Collective& collective, Comparisons& comparisons) const {
    const auto members = run_.matching().members(collective);
    if (members.size() < 2 || !is_synchronizing(run_.kind(run_.message(members.front())))) return;
    const auto last = std::ranges::min_element(
        members, {}, [&](const CollectiveMember& member) { return run_.kernel(member).dur_ns; });
    const auto end = [&](const CollectiveMember& member) {
      return end_of(run_.kernel(member).ts_ns, run_.kernel(member).dur_ns);
    };
    for (const CollectiveMember& member : members) {
      const std::uint32_t from = clock_of_[last->rank], to = clock_of_[member.rank];
      if (from != to) comparisons.add(from, to, minus_ns(end(member), end(*last)));
    }
  }

  // Each set of clocks that collectives connect is a tree that grows from the clock most others can
  // be compared with, over as few steps as possible.
  void compare_clocks() {
    Comparisons comparisons{out_.clocks.size()};
    for (const Collective& collective : run_.matching().collectives)
      look_at(collective, comparisons);
    std::vector<std::uint32_t> hubs(out_.clocks.size());
    std::iota(hubs.begin(), hubs.end(), 0U);
    std::ranges::stable_sort(hubs, std::ranges::greater{},
                             [&](std::uint32_t clock) { return comparisons.samples(clock); });
    steps_.resize(out_.clocks.size());
    for (const std::uint32_t hub : hubs)
      if (!steps_[hub].is_reached && !comparisons.met(hub).empty())
        tell_from_first(grow(hub, comparisons));
  }

  // The clocks connected with the hub, each after the one it was reached from.
  std::vector<std::uint32_t> grow(std::uint32_t hub, const Comparisons& comparisons) {
    std::vector<std::uint32_t> reached{hub};
    steps_[hub] = {.is_reached = true, .parent = hub};
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const std::uint32_t from = reached[i];
      std::vector<std::uint32_t> next = comparisons.met(from);
      std::ranges::sort(next);
      for (const std::uint32_t to : next) {
        if (steps_[to].is_reached) continue;
        steps_[to] = {
            .is_reached = true, .parent = from, .ahead = comparisons.difference(from, to)};
        reached.push_back(to);
      }
    }
    return reached;
  }

  // Offsets and how sure they are from the lowest clock of the tree: up from it to the hub, then
  // down every branch.
  void tell_from_first(const std::vector<std::uint32_t>& tree) {
    const std::uint32_t first = *std::ranges::min_element(tree);
    ClockOffset& start = out_.clocks[first];
    start.from_clock = start.clock;
    start.offset_ns = 0;
    start.uncertainty_ns = 0;
    for (std::uint32_t at = first; steps_[at].parent != at; at = steps_[at].parent)
      step(at, steps_[at].parent, minus_ns(0, steps_[at].ahead.ns), steps_[at].ahead);
    for (const std::uint32_t clock : tree)
      if (!out_.clocks[clock].offset_ns)
        step(steps_[clock].parent, clock, steps_[clock].ahead.ns, steps_[clock].ahead);
  }
  void step(std::uint32_t from, std::uint32_t to, std::int64_t ahead_ns, const Difference& by) {
    const ClockOffset& known = out_.clocks[from];
    ClockOffset& next = out_.clocks[to];
    next.from_clock = known.from_clock;
    next.offset_ns = plus_ns(*known.offset_ns, ahead_ns);
    if (known.uncertainty_ns && by.width_ns)
      next.uncertainty_ns = plus_ns(*known.uncertainty_ns, *by.width_ns);
    next.samples = std::min(known.samples.value_or(by.samples), by.samples);
  }

  // How a clock was reached from the hub of its tree; the hub is its own parent.
  struct Step {
    bool is_reached = false;
    std::uint32_t parent = 0;
    Difference ahead = {};  // of the parent
  };

  const CollectiveRun& run_;
  std::vector<std::uint32_t> clock_of_;  // by rank index
  std::vector<Step> steps_;              // by clock
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
      {"from", Kind::kInteger, "id",
       "the clock the offset is told from; empty: no collective connects this one with another"},
      {"offset (us)", Kind::kReal, "µs", "how far the clock is ahead of that one"},
      {"uncertainty (us)", Kind::kReal, "µs",
       "between the bounds from both sides; empty: only one side is known"},
      {"samples", Kind::kInteger, "",
       "pairs of ends that were compared on the way from one clock to the other, in its weakest "
       "step; empty: it is the clock the others are told from"},
  };
  Table table{"clock_offsets",
              "How far the machines' clocks are apart, from the ends of collectives", columns};
  for (const ClockOffset& clock : offsets.clocks)
    table.add_row(clock.clock, clock.first_rank, clock.rank_count, clock.from_clock,
                  clock.offset_ns ? std::optional{us(*clock.offset_ns)} : std::nullopt,
                  clock.uncertainty_ns ? std::optional{us(*clock.uncertainty_ns)} : std::nullopt,
                  clock.samples);
  return table;
}

}  // namespace tracelens
