// COMM-1: the GPU communicates and computes nothing meanwhile.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/comm_places.hpp"
#include "diagnosis/rules/timeline_words.hpp"

namespace tracelens {
namespace comm_1 {

constexpr Number kNumbers[] = {
    {"least_pct", 5, "% of the GPU's span in which it communicates and does not compute"},
    {"least_us", 100, "us of communication in all"},
    {"low_factor", 0.5, "of the exposed time that goes, for the low estimate"},
    {"target_pct", 70, "% of communication that good overlap hides"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const Communication& comm = c.communication();
  const double exposed = percentage(comm.exposed_ns, c.gpu_times().span_ns);
  if (exposed < n["least_pct"] || static_cast<double>(comm.total_ns) < 1e3 * n["least_us"])
    return std::nullopt;
  Draft draft;
  draft.low.emplace();
  CommPlaces places;
  const auto waits =
      c.job() == nullptr ? std::map<std::uint32_t, std::int64_t>{} : waits_of(*c.job());
  std::int64_t waiting = 0;
  for (const WindowCollective& one : comm.kernels) {
    draft.edit.set_gpu(one.event, one.dur_ns - one.exposed_ns);
    // To overlap it better does not make another rank come earlier.
    const auto wait = waits.find(one.kernel);
    const std::int64_t waited = wait == waits.end() ? 0 : std::min(wait->second, one.exposed_ns);
    waiting += waited;
    draft.low->set_gpu(one.event, one.dur_ns - static_cast<std::int64_t>(
                                                   n["low_factor"] *
                                                   static_cast<double>(one.exposed_ns - waited)));
    places.add(one, one.exposed_ns);
  }
  draft.where = places.take();
  const double hidden = 100 - percentage(comm.exposed_ns, comm.total_ns);
  draft.verdict = draft.tell(
      "For {} ({} of its span) the GPU communicates while it computes nothing; computation hides "
      "{} of the communication.",
      timeline_proof(c, "exposed_comm_time", "time ms", in_ms(comm.exposed_ns), "ms"),
      timeline_proof(c, "exposed_comm_time", "percent", exposed, "%"),
      derived("gpu_timeline", "1 - exposed_comm_time / total_comm_time", hidden, "%"));
  if (waiting > 0)
    draft.verdict +=
        draft.tell(" For {} of it the rank waits for others to come.",
                   derived("nccl_implicit_sync", "rank_wait_time", in_ms(waiting), "ms"));
  draft.formula =
      "communication kernels -> the part that computation hides (low: half of the rest)";
  draft.tries = {
      c.is_pytorch()
          ? "start communication earlier: overlap it with the backward pass (DDP buckets, FSDP "
            "prefetch)"
          : "start communication earlier, beside computation",
      "another bucket size; communicate in 16 bit", "shard otherwise, so that less is sent"};
  if (c.job() == nullptr && comm.ranks.size() < 2)
    draft.tries.emplace_back(
        "diagnose the traces of all ranks together: it may be waiting for a late one");
  else if (waiting > 0)
    draft.tries.insert(draft.tries.begin(), "first what makes ranks late: COMM-4, COMM-2");
  draft.verify = timeline_verification(
      timeline_proof(c, "exposed_comm_time", "time ms", in_ms(comm.exposed_ns), "ms"),
      fmt::format("< {}", figure(in_ms(comm.total_ns) * (100 - n["target_pct"]) / 100, "ms")));
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace comm_1

extern const Rule kComm1;
constinit const Rule kComm1 = {.id = "COMM-1",
                               .title = "Exposed communication",
                               .explained_by = {"COMM-4", "COMM-2"},
                               .numbers = comm_1::kNumbers,
                               .find = comm_1::find};

}  // namespace tracelens
