// SYNC-1: the host waits for the GPU, which then runs dry. Read-backs are SYNC-2, waits for the whole
// device SYNC-3, copies DATA-2 and DATA-5.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace sync_1 {

constexpr Number kNumbers[] = {
    {"least_pct", 1, "% of the window that mending a place saves"},
    {"least_drained_pct", 3, "% of the window that the GPU idles after the waits of a place"},
    {"closing_pct", 5, "% of the window that a wait at the end of each step must save"},
    {"left_us", 2, "us that are left of a wait on the host"},
    {"low_factor", 0.3, "of the estimate, for the low one: what follows may need the result"},
    {"most_places", 20, "places that are tried, those waited in longest first"},
};

bool is_copy(CopyKind kind) { return kind != CopyKind::kNone && kind != CopyKind::kFill; }

bool is_ours(const DiagnosisContext& c, const SyncCall& sync) {
  if (sync.round_trip || c.calls().waits_for(sync.call) == WaitsFor::kDevice) return false;
  const bool crosses =
      sync.direction == CopyKind::kDeviceToHost || sync.direction == CopyKind::kHostToDevice;
  return !crosses && c.in_window(c.trace.ts_ns()[sync.call.row]);
}

// Whether nothing is launched after it until the step, or the window, ends.
bool is_last(const DiagnosisContext& c, EventId call, std::int64_t end_ns) {
  return c.launches_between(c.trace.end_ns(call), end_ns) == 0;
}

bool is_closing(const DiagnosisContext& c, EventId call) {
  const auto step = c.step_at(c.trace.ts_ns()[call.row]);
  if (!step) return false;
  const Step& when = c.window.steps[*step];
  return is_last(c, call, when.ts_ns + when.dur_ns);
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  const auto left_ns = static_cast<std::int64_t>(n["left_us"] * 1e3);
  std::int64_t waited = 0, idle = 0, calls = 0, tried = 0;
  bool copies = false;
  for (const SyncGroup& group : c.syncs().groups) {
    PathEdit edit;
    FindingPlace place{.kind = "call", .name = std::string{c.trace.text(group.call)}};
    std::int64_t idle_after = 0, waited_here = 0;
    bool closes = true;
    for (const std::uint32_t at : group.calls) {
      const SyncCall& sync = c.syncs().calls[at];
      if (!is_ours(c, sync) || is_last(c, sync.call, c.time().end)) continue;
      c.remove_wait(sync, left_ns, edit);
      closes = closes && is_closing(c, sync.call);
      place.time_ns += c.dur_ns(sync.call);
      if (++place.count == 1) {
        place.python = c.python_line(sync.call);
        place.module = c.module_of(sync.call);
      }
      idle_after += sync.idle_after_ns;
      waited_here += sync.waited_ns;
    }
    if (place.count == 0 || tried++ >= static_cast<std::int64_t>(n["most_places"])) continue;
    const double saves = c.share(c.saving_ns(edit));
    const bool drains = c.share(idle_after) >= n["least_drained_pct"] &&
                        place.count >= static_cast<std::int64_t>(c.steps());
    if (closes ? saves < n["closing_pct"] : saves < n["least_pct"] && !drains) continue;
    for (const std::uint32_t at : group.calls)
      if (const SyncCall& sync = c.syncs().calls[at];
          is_ours(c, sync) && !is_last(c, sync.call, c.time().end))
        c.remove_wait(sync, left_ns, draft.edit);
    copies = copies || is_copy(group.direction);
    calls += place.count;
    waited += waited_here;
    idle += idle_after;
    draft.where.push_back(std::move(place));
  }
  if (calls == 0) return std::nullopt;
  draft.low_factor = n["low_factor"];
  const CountedProof waits =
      counted(derived("sync_summary", "count of these", static_cast<double>(calls), ""),
              "call waits", "calls wait");
  const Evidence time = derived("sync_summary", "waited_ms", in_ms(waited), "ms");
  if (idle > 0) {
    draft.verdict = draft.tell(
        "{} {} for the GPU, which afterwards idles {} until the host has launched new work.", waits,
        time, derived("sync_summary", "idle_after_ms", in_ms(idle), "ms"));
  } else {
    draft.title = "Synchronisation holds the host up";
    draft.verdict =
        draft.tell("{} {} for the GPU; the host launches nothing meanwhile.", waits, time);
  }
  draft.formula = fmt::format("these waits removed, each call -> {} us", n["left_us"]);
  draft.tries = {"remove the synchronize, or wait for an event every n steps",
                 "keep values on the GPU; wait for an event where one is needed"};
  if (copies)
    draft.tries.emplace_back(c.is_pytorch() ? "non_blocking=True copies from pinned memory"
                                            : "asynchronous copies from pinned memory");
  draft.verify = {.table = "sync_summary",
                  .column = "waited_us of these",
                  .now = in_ms(waited) * 1e3,
                  .expected = "0",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace sync_1

extern const Rule kSync1;
constinit const Rule kSync1 = {.id = "SYNC-1",
                               .title = "Synchronisation drains the queue",
                               .numbers = sync_1::kNumbers,
                               .find = sync_1::find};

}  // namespace tracelens
