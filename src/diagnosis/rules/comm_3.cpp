// COMM-3: collectives move their bytes slowly: below the link, or below the same collective elsewhere
// in the run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/ranks/sync.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/comm_places.hpp"

namespace tracelens {
namespace comm_3 {

constexpr Number kNumbers[] = {
    {"least_mb", 1, "MB of a message; smaller ones are bound by latency"},
    {"of_link_pct", 50, "% of --link-gbps that is enough"},
    {"of_best_pct", 60, "% of the best rate of the same collective that is enough"},
    {"similar_size", 0.5, "of its size that the better one must have at least"},
    {"most_skew_pct", 20, "% of its time that ranks may be apart, where all are known"},
    {"least_pct", 1, "% of the window lost in all"},
};

struct Message {
  const WindowCollective* one;
  double gbps;
};

// What the kernel takes without waiting for other ranks; nothing when that is most of it.
std::map<std::uint32_t, std::int64_t> moving_times(const DiagnosisContext& c, double most_skew) {
  std::map<std::uint32_t, std::int64_t> times;
  const CollectiveRun& run = c.job()->run;
  for (const SyncCollective& row : sync_collectives(run))
    for (const CollectiveMember& member :
         run.matching().members(run.matching().collectives[row.collective]))
      if (member.rank == c.job()->rank &&
          percentage(row.start_skew_ns, run.kernel(member).dur_ns) < most_skew)
        times.emplace(member.kernel, row.latency_ns);
  return times;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (c.communication().kernels.empty()) return std::nullopt;
  const bool knows_ranks = c.job() != nullptr;
  const auto times =
      knows_ranks ? moving_times(c, n["most_skew_pct"]) : std::map<std::uint32_t, std::int64_t>{};
  std::map<CollectiveKind, std::vector<Message>> by_kind;
  for (const WindowCollective& one : c.communication().kernels) {
    if (!one.bus_bytes || *one.bus_bytes <= 0 || *one.bytes < n["least_mb"] * 1e6) continue;
    std::int64_t ns = one.dur_ns;
    if (knows_ranks) {
      const auto known = times.find(one.kernel);
      if (known == times.end()) continue;
      ns = known->second;
    }
    if (ns > 0) by_kind[one.kind].push_back({&one, *one.bus_bytes / static_cast<double>(ns)});
  }
  Draft draft;
  CommPlaces places;
  std::int64_t lost = 0, in_all = 0;
  double bytes = 0, target_of_largest = 0;
  for (auto& [kind, messages] : by_kind) {
    // By size, and the best rate from each size on: what a message is held against.
    std::ranges::stable_sort(messages, {}, [](const Message& m) { return *m.one->bytes; });
    std::vector<double> best(messages.size() + 1);
    for (std::size_t i = messages.size(); i-- > 0;)
      best[i] = std::max(best[i + 1], messages[i].gbps);
    for (const Message& message : messages) {
      const auto similar =
          std::ranges::lower_bound(messages, n["similar_size"] * *message.one->bytes, {},
                                   [](const Message& m) { return *m.one->bytes; });
      double target =
          n["of_best_pct"] / 100 * best[static_cast<std::size_t>(similar - messages.begin())];
      if (c.options.link_gbps)
        target = std::max(target, n["of_link_pct"] / 100 * *c.options.link_gbps);
      if (message.gbps >= target) continue;
      const double factor = message.gbps / target;
      const auto dur = static_cast<double>(message.one->dur_ns);
      draft.edit.scale_gpu(message.one->event, factor);
      lost += static_cast<std::int64_t>((1 - factor) * dur);
      in_all += message.one->dur_ns;
      bytes += *message.one->bus_bytes;
      target_of_largest = std::max(target_of_largest, target);
      places.add(*message.one, message.one->dur_ns);
    }
  }
  if (lost == 0 || c.share(c.per_device(lost)) < n["least_pct"]) return std::nullopt;
  draft.where = places.take();
  draft.verdict = draft.tell(
      "Collectives reach {1} over {0}; the same ones elsewhere in the run, or the link, let expect "
      "{2}.{3}",
      derived("coll_analysis", "dur_sum", in_ms(in_all), "ms"),
      derived("coll_analysis", "bus bw (GB/s)", bytes / static_cast<double>(in_all), "GB/s"),
      derived("coll_analysis", "bus bw (GB/s) to expect", target_of_largest, "GB/s"),
      knows_ranks
          ? ""
          : " From one rank alone it cannot be told whether it waits for a late one instead.");
  draft.formula = "durations x reached / expected bandwidth";
  if (!knows_ranks)
    draft.tries.emplace_back(
        "diagnose the traces of all ranks together, to tell waiting from moving");
  for (const char* const words :
       {"algorithm and protocol of the library (NCCL_ALGO, NCCL_PROTO), its channels",
        "topology: which links and network cards the group spans",
        "fewer kernels that compete for the GPU meanwhile"})
    draft.tries.emplace_back(words);
  draft.verify = {.table = "coll_analysis",
                  .column = "bus bw (GB/s)",
                  .now = bytes / static_cast<double>(in_all),
                  .expected = fmt::format("> {}", figure(target_of_largest, "GB/s")),
                  .is_derived = true};
  draft.confidence = knows_ranks ? Confidence::kMedium : Confidence::kLow;
  return draft;
}

}  // namespace comm_3

extern const Rule kComm3;
constinit const Rule kComm3 = {.id = "COMM-3",
                               .title = "Low collective bandwidth",
                               .numbers = comm_3::kNumbers,
                               .find = comm_3::find};

}  // namespace tracelens
