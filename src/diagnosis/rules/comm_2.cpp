// COMM-2: collectives take long because the ranks come to them at different times.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/ranks/sync.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/comm_places.hpp"

namespace tracelens {
namespace comm_2 {

constexpr Number kNumbers[] = {
    {"least_wait_pct", 3, "% of the window that ranks wait on average"},
    {"least_skew_pct", 50, "% of the time in collectives that their starts are apart"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (c.job() == nullptr || !c.job()->clocks_are_sure) return std::nullopt;
  const CollectiveRun& run = c.job()->run;
  std::map<std::uint32_t, const WindowCollective*> ours;  // by kernel of this rank
  for (const WindowCollective& one : c.communication().kernels)
    if (one.rank == 0) ours.emplace(one.kernel, &one);
  Draft draft;
  CommPlaces places;
  std::int64_t waited = 0, skew = 0, in_collectives = 0, count = 0;
  for (const SyncCollective& row : sync_collectives(run)) {
    const auto members = run.matching().members(run.matching().collectives[row.collective]);
    const auto own = std::ranges::find(members, c.job()->rank, &CollectiveMember::rank);
    if (own == members.end() || members.size() < 2) continue;
    const auto at = ours.find(own->kernel);
    if (at == ours.end()) continue;
    const WindowCollective& one = *at->second;
    draft.edit.set_gpu(one.event, row.latency_ns);
    places.add(one, one.dur_ns - row.latency_ns);
    waited += row.wait_sum_ns / std::ssize(members);
    skew += row.start_skew_ns;
    in_collectives += one.dur_ns;
    ++count;
  }
  if (count == 0) return std::nullopt;
  const double apart = percentage(skew, in_collectives);
  if (c.share(waited) < n["least_wait_pct"] && apart < n["least_skew_pct"]) return std::nullopt;
  draft.where = places.take();
  draft.verdict = draft.tell(
      "In {} a rank waits {} on average until the last one comes ({} of the window); "
      "their starts are apart by {} of the time in them.",
      counted(derived("nccl_implicit_sync", "collectives", static_cast<double>(count), ""),
              "collective", "collectives"),
      proof("nccl_implicit_sync", "avg_wait_time", in_ms(waited), "ms"),
      derived("nccl_implicit_sync", "avg_wait_time of window", c.share(waited), "%"),
      derived("nccl_implicit_sync", "skew in start time of duration", apart, "%"));
  draft.formula = "collectives -> the time that the rank which came last needs";
  draft.tries = {"balance the work of the ranks: equal batches, sequence lengths, layers",
                 "find what the late rank was doing: comm_verdict of tracelens collectives",
                 "diagnose the trace of the rank that comes last"};
  draft.verify = {.table = "nccl_implicit_sync",
                  .column = "avg_wait_time",
                  .now = in_ms(waited),
                  .expected = fmt::format(
                      "< {}", figure(n["least_wait_pct"] / 100 * in_ms(c.length_ns()), "ms"))};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace comm_2

extern const Rule kComm2;
constinit const Rule kComm2 = {.id = "COMM-2",
                               .title = "Ranks arrive at different times",
                               .explained_by = {"COMM-4"},
                               .numbers = comm_2::kNumbers,
                               .find = comm_2::find};

}  // namespace tracelens
