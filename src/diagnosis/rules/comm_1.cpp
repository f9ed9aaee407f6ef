// COMM-1: the GPU communicates and computes nothing meanwhile.
#include <fmt/format.h>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/comm_places.hpp"

namespace tracelens {
namespace {

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
  for (const WindowCollective& one : comm.kernels) {
    draft.edit.set_gpu(one.event, one.dur_ns - one.exposed_ns);
    draft.low->set_gpu(one.event,
                       one.dur_ns - static_cast<std::int64_t>(n["low_factor"] *
                                                              static_cast<double>(one.exposed_ns)));
    places.add(one, one.exposed_ns);
  }
  draft.where = places.take();
  const double hidden = 100 - percentage(comm.exposed_ns, comm.total_ns);
  draft.verdict = draft.tell(
      "For {} ({} of its span) the GPU communicates while it computes nothing; computation hides "
      "{} of the communication.",
      proof("gpu_timeline", "exposed_comm_time", in_ms(comm.exposed_ns), "ms"),
      proof("gpu_timeline", "exposed_comm_time of span", exposed, "%"),
      proof("gpu_timeline", "1 - exposed_comm_time / total_comm_time", hidden, "%"));
  draft.formula =
      "communication kernels -> the part that computation hides (low: half of the rest)";
  draft.tries = {
      "start communication earlier: overlap it with the backward pass (DDP buckets, FSDP prefetch)",
      "another bucket size; communicate in 16 bit", "shard otherwise, so that less is sent",
      "diagnose the traces of all ranks together: it may be waiting for a late one"};
  draft.verify = {.table = "gpu_timeline",
                  .column = "exposed_comm_time",
                  .now = in_ms(comm.exposed_ns),
                  .expected = fmt::format(
                      "< {}", figure(in_ms(comm.total_ns) * (100 - n["target_pct"]) / 100, "ms"))};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace

extern const Rule kComm1;
constinit const Rule kComm1 = {
    .id = "COMM-1", .title = "Exposed communication", .numbers = kNumbers, .find = find};

}  // namespace tracelens
