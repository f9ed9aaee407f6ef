// HOST-5: launches wait because the queue is full: the host is far ahead, the GPU is what is slow.
#include "analysis/host/queue.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace host_5 {

constexpr Number kNumbers[] = {
    {"least_pct", 1, "% of the window that launch calls wait for room in the queue"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  const QueueLengths& queues = c.queues();
  std::int64_t blocked = 0, calls = 0;
  for (std::size_t lane = 0; lane < queues.lanes.size(); ++lane) {
    const BlockedCalls one = blocked_calls(c.host(), queues, lane);
    blocked += one.blocked_ns;
    calls += one.calls;
  }
  if (calls == 0 || c.share(blocked) < n["least_pct"]) return std::nullopt;
  Draft draft;
  draft.verdict = draft.tell(
      "{} {} for room in the queue: the host is far ahead of the GPU, whose work "
      "alone decides the time.",
      counted(proof("queue_blocked", "calls_blocked", static_cast<double>(calls), ""),
              "launch call waits", "launch calls wait"),
      proof("queue_blocked", "blocked_ms", in_ms(blocked), "ms"));
  draft.formula = "for information";
  draft.tries = {"nothing on the host; shorten the GPU's work"};
  draft.verify = {
      .table = "queue_blocked", .column = "blocked_ms", .now = in_ms(blocked), .expected = "any"};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace host_5

extern const Rule kHost5;
constinit const Rule kHost5 = {.id = "HOST-5",
                               .title = "Launch queue full",
                               .numbers = host_5::kNumbers,
                               .find = host_5::find};

}  // namespace tracelens
