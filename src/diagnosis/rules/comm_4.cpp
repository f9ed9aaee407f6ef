// COMM-4: one rank comes last to most collectives, and the others wait for it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analysis/ranks/sync.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "tree/time_math.hpp"

namespace tracelens {
namespace comm_4 {

constexpr Number kNumbers[] = {
    {"least_last_pct", 50, "% of its collectives to which the rank comes last"},
    {"most_wait_pct", 20, "% of the ranks' mean waiting that it waits itself"},
    {"least_ranks", 3, "ranks"},
    {"least_collectives", 20, "collectives"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (c.job() == nullptr || !c.job()->clocks_are_sure) return std::nullopt;
  const CollectiveRun& run = c.job()->run;
  if (static_cast<double>(run.ranks().size()) < n["least_ranks"]) return std::nullopt;
  const LateRank late = late_ranks(run).front();
  if (late.percent_last < n["least_last_pct"] || 100 * late.waited_of_mean > n["most_wait_pct"] ||
      static_cast<double>(late.collectives) < n["least_collectives"])
    return std::nullopt;
  std::map<std::uint32_t, const WindowCollective*> ours;  // by kernel of this rank
  for (const WindowCollective& one : c.communication().kernels)
    if (one.rank == 0) ours.emplace(one.kernel, &one);
  Draft draft;
  std::int64_t lateness = 0;
  for (const SyncCollective& row : sync_collectives(run)) {
    const auto members = run.matching().members(run.matching().collectives[row.collective]);
    if (members.size() < 2 || row.latest_rank != run.ranks()[late.rank].rank) continue;
    std::int64_t second = 0;  // start of the one before the last
    const CollectiveMember* own = nullptr;
    bool is_first = true;
    for (const CollectiveMember& member : members) {
      if (member.rank == c.job()->rank) own = &member;
      if (member.rank == late.rank) continue;
      second = is_first ? run.kernel(member).ts_ns : std::max(second, run.kernel(member).ts_ns);
      is_first = false;
    }
    const std::int64_t late_by = minus_ns(row.last_start_ns, second);
    if (own == nullptr || own->rank == late.rank || late_by <= 0) continue;
    const auto at = ours.find(own->kernel);
    if (at == ours.end()) continue;
    const std::int64_t dur = at->second->dur_ns;
    draft.edit.set_gpu(at->second->event,
                       std::clamp<std::int64_t>(minus_ns(dur, late_by), row.latency_ns, dur));
    lateness += std::min(late_by, dur);
  }
  const std::string rank = std::to_string(run.ranks()[late.rank].rank);
  draft.where = {{.kind = "rank",
                  .name = fmt::format("rank {}: {}", rank, run.ranks()[late.rank].file),
                  .time_ns = lateness,
                  .count = late.times_last}};
  draft.verdict = draft.tell(
      "Rank {} comes last to {} of its {} collectives ({}); the next one to come waits {} for it.",
      proof("straggler_summary", "rank", static_cast<double>(run.ranks()[late.rank].rank), ""),
      proof("straggler_summary", "times_arrived_last", static_cast<double>(late.times_last), "",
            {{"rank", rank}}),
      proof("straggler_summary", "num_collectives", static_cast<double>(late.collectives), "",
            {{"rank", rank}}),
      proof("straggler_summary", "pct_arrived_last", late.percent_last, "%", {{"rank", rank}}),
      derived("nccl_implicit_sync", "lateness of the last rank", in_ms(lateness), "ms"));
  draft.formula = "collectives shorter by how much later than the one before it this rank comes";
  draft.tries = {fmt::format("mend what slows rank {} down: tracelens diagnose {}", rank,
                             run.ranks()[late.rank].file),
                 "compare its host, clocks, temperature and data with those of the others"};
  draft.verify = {.table = "straggler_summary",
                  .column = "times_arrived_last",
                  .now = static_cast<double>(late.times_last),
                  .expected = fmt::format(
                      "about {}", late.collectives / static_cast<std::int64_t>(run.ranks().size())),
                  .key = {{"rank", rank}}};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace comm_4

extern const Rule kComm4;
constinit const Rule kComm4 = {
    .id = "COMM-4", .title = "One rank is late", .numbers = comm_4::kNumbers, .find = comm_4::find};

}  // namespace tracelens
