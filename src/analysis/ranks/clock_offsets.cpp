#include "analysis/ranks/clock_offsets.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "analysis/kit/cells.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kEarliest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
// Clocks of one machine, and times that a profiler converts, are never farther apart.
constexpr std::int64_t kJitterNs = 100'000;
constexpr std::size_t kUsualShare = 10;  // one in ten collectives of a rank is no accident

std::int64_t median_of(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

// By how much ends of ranks on clock `to` come after the end of the last arrival on clock `from`.
struct Bound {
  std::int64_t least_ns = 0;
  std::size_t samples = 0;
};

// The smallest difference. One far below all others is of kernels that are not one collective, and
// would spoil every offset.
Bound bound_of(std::vector<std::int64_t> differences) {
  if (differences.empty()) return {};
  const std::int64_t median = median_of(differences);
  std::vector<std::int64_t> distances;
  for (const std::int64_t ns : differences)
    distances.push_back(ns < median ? minus_ns(median, ns) : minus_ns(ns, median));
  constexpr std::int64_t kFar = 8;
  const auto usual = std::clamp<std::int64_t>(median_of(distances), 0, kLongest / kFar);
  const std::int64_t farthest = std::max(kJitterNs, kFar * usual);
  std::int64_t least = median;
  for (const std::int64_t ns : differences)
    if (ns < least && minus_ns(median, ns) <= farthest) least = ns;
  return {least, differences.size()};
}

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
    const auto [entry, is_new] = differences_.try_emplace(key(from, to));
    if (is_new && !differences_.contains(key(to, from))) {
      met_[from].push_back(to);
      met_[to].push_back(from);
    }
    entry->second.push_back(ns);
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
    const auto found = differences_.find(key(from, to));
    return found == differences_.end() ? Bound{} : bound_of(found->second);
  }

  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> differences_;
  std::vector<std::vector<std::uint32_t>> met_;
  std::vector<std::size_t> samples_;
};

// Which collectives tell about clocks, and what is too much to be chance.
struct Evidence {
  bool has_unnamed = false;  // those without a name too, which may be of several groups
  std::int64_t jitter_ns = kJitterNs;

  // Whether all ranks leave the collective together.
  [[nodiscard]] bool has(const CollectiveRun& run,
                         std::span<const CollectiveMember> members) const {
    if (members.size() < 2) return false;
    const CollectiveKind kind = run.kind(run.message(members.front()));
    return is_synchronizing(kind) || (has_unnamed && kind == CollectiveKind::kUnknown);
  }
};

// How times fit together when `ahead_ns`, by rank index, is taken off them. Asked about machines,
// only the ranks of one and the same are compared.
class Fitting {
 public:
  Fitting(const CollectiveRun& run, const Evidence& evidence,
          std::span<const std::int64_t> ahead_ns, bool inside_nodes)
      : run_{run},
        evidence_{evidence},
        ahead_ns_{ahead_ns},
        inside_nodes_{inside_nodes},
        seen_(run.ranks().size()) {}

  ClockFit fit() {
    for (const Collective& collective : run_.matching().collectives) {
      auto rest = run_.matching().members(collective);
      if (!evidence_.has(run_, rest)) continue;
      while (!rest.empty()) {  // ranks ascend, so those of a machine stand together
        const auto end = std::ranges::find_if(rest, [&](const CollectiveMember& member) {
          return inside_nodes_ && node_of(member) != node_of(rest.front());
        });
        const auto count = static_cast<std::size_t>(end - rest.begin());
        if (count > 1) look_at(rest.first(count));
        rest = rest.subspan(count);
      }
    }
    for (const Seen& rank : seen_)
      out_.is_usual |= rank.impossible > 0 && rank.impossible * kUsualShare >= rank.collectives;
    if (!end_skews_.empty()) out_.usual_end_skew_ns = median_of(end_skews_);
    return out_;
  }

 private:
  [[nodiscard]] std::int64_t node_of(const CollectiveMember& member) const {
    return run_.node_of(run_.rank(member));
  }

  void look_at(std::span<const CollectiveMember> members) {
    std::int64_t last_start = kEarliest, first_end = kLongest, last_end = kEarliest;
    for (const CollectiveMember& member : members) {
      const CollectiveKernel& kernel = run_.kernel(member);
      const std::int64_t start = minus_ns(kernel.ts_ns, ahead_ns_[member.rank]);
      const std::int64_t end = end_of(start, kernel.dur_ns);
      last_start = std::max(last_start, start);
      first_end = std::min(first_end, end);
      last_end = std::max(last_end, end);
    }
    const double early_ns = static_cast<double>(last_start) - static_cast<double>(first_end);
    const bool is_impossible = early_ns > static_cast<double>(evidence_.jitter_ns);
    ++out_.collectives;
    out_.impossible += is_impossible ? 1 : 0;
    if (is_impossible) out_.impossible_ns += early_ns;
    for (const CollectiveMember& member : members) {
      ++seen_[member.rank].collectives;
      seen_[member.rank].impossible += is_impossible ? 1 : 0;
    }
    end_skews_.push_back(minus_ns(last_end, first_end));
  }

  struct Seen {
    std::size_t collectives = 0, impossible = 0;
  };
  const CollectiveRun& run_;
  const Evidence& evidence_;
  std::span<const std::int64_t> ahead_ns_;
  bool inside_nodes_;
  std::vector<Seen> seen_;  // by rank index
  std::vector<std::int64_t> end_skews_;
  ClockFit out_;
};

class Estimator {
 public:
  // `clocks` by rank index; equal numbers are one clock.
  Estimator(const CollectiveRun& run, const Evidence& evidence,
            std::span<const std::int64_t> clocks)
      : run_{run}, evidence_{evidence} {
    find_clocks(clocks);
  }

  ClockOffsets estimate() {
    if (out_.clocks.size() > 1) compare_clocks();
    for (const std::uint32_t clock : clock_of_)
      out_.by_rank.push_back(out_.clocks[clock].offset_ns.value_or(0));
    return std::move(out_);
  }

 private:
  void find_clocks(std::span<const std::int64_t> clocks) {
    std::unordered_map<std::int64_t, std::uint32_t> known;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      const auto [entry, is_new] =
          known.try_emplace(clocks[i], static_cast<std::uint32_t>(out_.clocks.size()));
      if (is_new) out_.clocks.push_back({.clock = clocks[i], .first_rank = run_.ranks()[i].rank});
      ++out_.clocks[entry->second].rank_count;
      clock_of_.push_back(entry->second);
    }
  }

  void look_at(const Collective& collective, Comparisons& comparisons) const {
    const auto members = run_.matching().members(collective);
    if (!evidence_.has(run_, members)) return;
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
  const Evidence& evidence_;
  std::vector<std::uint32_t> clock_of_;  // by rank index
  std::vector<Step> steps_;              // by clock
  ClockOffsets out_;
};

// By rank index: ranks of one machine whose offsets agree share a clock, that of the first of them.
std::vector<std::int64_t> clocks_that_agree(const CollectiveRun& run,
                                            std::span<const std::int64_t> ahead_ns) {
  std::vector<std::uint32_t> order(run.ranks().size());
  std::iota(order.begin(), order.end(), 0U);
  const auto node_of = [&](std::uint32_t i) { return run.node_of(run.ranks()[i].rank); };
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    return std::pair{node_of(i), ahead_ns[i]};
  });
  std::vector<std::int64_t> clocks(order.size());
  for (std::size_t first = 0, next = 0; first < order.size(); first = next) {
    std::int64_t clock = run.ranks()[order[first]].rank;
    for (next = first + 1; next < order.size() && node_of(order[next]) == node_of(order[first]) &&
                           minus_ns(ahead_ns[order[next]], ahead_ns[order[next - 1]]) <= kJitterNs;
         ++next)
      clock = std::min(clock, run.ranks()[order[next]].rank);
    for (std::size_t i = first; i < next; ++i) clocks[order[i]] = clock;
  }
  return clocks;
}

ClockOffsets estimate(const CollectiveRun& run, const Evidence& evidence) {
  const auto fit = [&](std::span<const std::int64_t> ahead_ns, bool inside_nodes) {
    return Fitting{run, evidence, ahead_ns, inside_nodes}.fit();
  };
  const std::vector<std::int64_t> none(run.ranks().size());
  std::vector<std::int64_t> ranks, nodes;
  for (const RankTrace& rank : run.ranks()) {
    ranks.push_back(rank.rank);
    nodes.push_back(run.node_of(rank.rank));
  }
  const bool is_by_node = run.gpus_per_node().has_value();
  ClockOffsets out = Estimator{run, evidence, is_by_node ? nodes : ranks}.estimate();
  out.is_by_node = is_by_node;
  const ClockFit recorded = fit(none, false);
  if (is_by_node && recorded.impossible > 0)
    if (const ClockFit shared = fit(none, true); shared.is_usual) {
      const ClockOffsets own = Estimator{run, evidence, ranks}.estimate();
      if (explains(shared, fit(own.by_rank, true)))
        out = Estimator{run, evidence, clocks_that_agree(run, own.by_rank)}.estimate();
    }
  out.recorded = recorded;
  out.corrected = out.by_rank == none ? recorded : fit(out.by_rank, false);
  return out;
}

}  // namespace

ClockOffsets estimate_clock_offsets(const CollectiveRun& run) {
  ClockOffsets named = estimate(run, {});
  if (named.recorded.collectives > 0 || !run.matching().is_simplified) return named;
  // Kernels that nothing names are asked only when clocks are farther apart than traces are long.
  ClockOffsets unnamed = estimate(run, {.has_unnamed = true, .jitter_ns = run.longest_trace_ns()});
  return unnamed.are_needed() ? unnamed : named;
}

std::optional<Table> clock_offset_table(const ClockOffsets& offsets) {
  if (offsets.clocks.size() < 2) return std::nullopt;
  const bool by_node = offsets.is_by_node;
  const ColumnSpec columns[] = {
      {by_node ? "node_id" : "rank", Kind::kInteger, "id",
       by_node ? "machine; its ranks share a clock"
               : "rank; machines are not known, or their ranks do not share a clock"},
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
