#include "analysis/gpu/idle.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <utility>
#include <vector>

#include "analysis/gpu/busy_time.hpp"
#include "analysis/gpu/idle_host.hpp"
#include "analysis/kit/cells.hpp"
#include "io/threads.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace {

constexpr std::int64_t kUs = 1000, kMs = 1000 * kUs;

struct SizeClass {
  std::string_view name;
  std::int64_t below_ns;
};
constexpr std::array<SizeClass, 5> kSizeClasses = {{
    {"< 5 us", 5 * kUs},  // usual between two kernels
    {"5 - 50 us", 50 * kUs},
    {"50 - 500 us", 500 * kUs},
    {"0.5 - 5 ms", 5 * kMs},
    {">= 5 ms", std::numeric_limits<std::int64_t>::max()},
}};

Table table_by_size(std::span<const IdleGap> gaps, std::int64_t idle_ns) {
  const ColumnSpec columns[] = {
      {"gap size", Kind::kText, "", "length of the gap between two stretches of GPU work"},
      {"gaps", Kind::kInteger, "", "gaps of this size"},
      {"idle ms", Kind::kReal, "ms", "their total length"},
      {"percent of idle", Kind::kReal, "%", "share of the idle time"},
      {"longest ms", Kind::kReal, "ms", "the longest of them"}};
  struct Sum {
    std::int64_t gaps = 0, ns = 0, longest_ns = 0;
  };
  std::array<Sum, kSizeClasses.size()> sums{};
  for (const IdleGap& gap : gaps) {
    const std::int64_t ns = length(gap.time);
    std::size_t at = 0;
    while (at + 1 < kSizeClasses.size() && ns >= kSizeClasses[at].below_ns) ++at;
    ++sums[at].gaps;
    sums[at].ns = plus_ns(sums[at].ns, ns);
    sums[at].longest_ns = std::max(sums[at].longest_ns, ns);
  }
  Table table{"gpu_idle", "Idle time of the GPU by the length of the gap", columns};
  for (std::size_t i = 0; i < sums.size(); ++i)
    table.add_row(kSizeClasses[i].name, sums[i].gaps, ms(sums[i].ns),
                  percent_of(sums[i].ns, idle_ns), ms(sums[i].longest_ns));
  return table;
}

std::vector<IdleShare> shares_of(std::span<const IdleCharge> charges) {
  std::vector<IdleShare> shares;
  for (std::size_t i = 0; i < kIdleCauseNames.size(); ++i) {
    IdleShare share{static_cast<IdleCause>(i)};
    for (const IdleCharge& charge : charges)
      if (charge.state.cause == share.cause) share.ns = plus_ns(share.ns, charge.ns);
    if (share.ns > 0) shares.push_back(share);
  }
  std::ranges::stable_sort(shares, std::ranges::greater{}, &IdleShare::ns);
  return shares;
}

Table table_by_host(const Trace& trace, std::vector<IdleCharge> charges, std::int64_t idle_ns,
                    std::size_t top_rows) {
  const ColumnSpec columns[] = {
      {"cause", Kind::kText, "",
       "what it comes from, in one of a few words: op dispatch, launch, Python, sync, data, no host "
       "activity, late start"},
      {"host state", Kind::kText, "",
       "launch call: inside the call that launched the next work, slow from 100 us on; launch "
       "latency: from its return to the start of the work; queued: the same where it returned "
       "before the gap began; late start: the same from 100 us on; sync, runtime call, op, compile, python, "
       "annotation: before the launch, the innermost event open on the launching thread, or else on the main thread; no host "
       "activity: there was none; unlinked: the launch is not in the trace"},
      {"name", Kind::kText, "",
       "the call, op or Python frame; of a late start the GPU work that started late"},
      {"idle ms", Kind::kReal, "ms", "idle time of the GPU while it was so"},
      {"percent of idle", Kind::kReal, "%", "share of the idle time"},
      {"gaps", Kind::kInteger, "", "gaps in which it was so"},
      {"longest ms", Kind::kReal, "ms", "its largest share of one gap"}};
  Table table{"gpu_idle_host", "What the launching thread was doing while the GPU was idle",
              columns};
  std::ranges::stable_sort(charges, std::ranges::greater{}, &IdleCharge::ns);
  const std::size_t shown = std::min(charges.size(), top_rows);
  std::int64_t rest = 0, longest = 0;
  for (std::size_t i = shown; i < charges.size(); ++i) {
    rest = plus_ns(rest, charges[i].ns);
    longest = std::max(longest, charges[i].longest_ns);
  }
  // Among them they may be the costliest row.
  bool has_rest = shown < charges.size();
  const auto add_rest = [&] {
    table.add_row("various", "others", std::to_string(charges.size() - shown) + " more", ms(rest),
                  percent_of(rest, idle_ns), kMissing, ms(longest));
    has_rest = false;
  };
  for (std::size_t i = 0; i < shown; ++i) {
    const IdleCharge& charge = charges[i];
    if (has_rest && rest > charge.ns) add_rest();
    table.add_row(text_of(charge.state.cause), text_of(charge.state.host),
                  charge.name.valid() ? without_address(trace.text(charge.name)) : std::string{},
                  ms(charge.ns), percent_of(charge.ns, idle_ns), charge.gaps,
                  ms(charge.longest_ns));
  }
  if (has_rest) add_rest();
  return table;
}

}  // namespace

IdleTables gpu_idle(const TraceFacts& facts, const IdleOptions& options) {
  const Trace& trace = facts.trace();
  const std::vector<IdleGap> gaps = find_gaps(
      trace, facts.gpu_events(options.include_unlinked).events, io::spare_threads(facts.threads()));
  std::int64_t idle_ns = 0;
  for (const IdleGap& gap : gaps) idle_ns = plus_ns(idle_ns, length(gap.time));
  Table by_size = table_by_size(gaps, idle_ns);
  std::vector<IdleCharge> charges = charge_gaps(facts, gaps);
  std::vector<IdleShare> causes = shares_of(charges);
  std::int64_t unlinked_ns = 0;
  for (const IdleCharge& charge : charges)
    if (charge.state.host == Host::kUnlinked) unlinked_ns = charge.ns;
  return {std::move(by_size), table_by_host(trace, std::move(charges), idle_ns, options.top_rows),
          std::move(causes), idle_ns, unlinked_ns};
}

}  // namespace tracelens
