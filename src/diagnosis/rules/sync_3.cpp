// SYNC-3: the host waits for the whole device inside the loop, as timers and debugging code do.
#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/path_saving.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace sync_3 {

constexpr Number kNumbers[] = {
    {"least_pct", 1, "% of the window that mending saves"},
    {"least_per_step", 1, "waits per step"},
    {"boundary_us", 100,
     "us from the start or end of a step within which a wait is the step's own"},
    {"left_us", 2, "us that are left of a wait on the host"},
};

bool is_at_boundary(const DiagnosisContext& c, EventId call, std::int64_t within_ns) {
  const std::int64_t start = c.trace.ts_ns()[call.row], end = c.trace.end_ns(call);
  const auto step = c.step_at(start);
  if (!step) return false;
  const Step& when = c.window.steps[*step];
  return start - when.ts_ns <= within_ns || when.ts_ns + when.dur_ns - end <= within_ns;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  const auto left_ns = static_cast<std::int64_t>(n["left_us"] * 1e3);
  const auto within_ns = static_cast<std::int64_t>(n["boundary_us"] * 1e3);
  std::map<std::string, FindingPlace> places;
  std::int64_t calls = 0, waited = 0;
  for (const SyncCall& sync : c.syncs().calls) {
    if (c.calls().waits_for(sync.call) != WaitsFor::kDevice ||
        !c.in_window(c.trace.ts_ns()[sync.call.row]) || is_at_boundary(c, sync.call, within_ns) ||
        c.launches_between(c.trace.end_ns(sync.call), c.time().end) == 0)
      continue;
    const EventId whole = caller_named(c, sync.call, "synchronize");
    draft.edit.drop_sync(sync.call);
    draft.edit.set_host(c.trace.tracks()[whole.row], c.trace.ts_ns()[whole.row],
                        c.trace.end_ns(whole), left_ns);
    ++calls;
    waited += c.dur_ns(whole);
    FindingPlace& place = places[c.python_line(sync.call)];
    place.name = std::string{c.trace.name(sync.call)};
    place.time_ns += c.dur_ns(whole);
    ++place.count;
  }
  // Without steps there is no loop to speak of, unless it happens again and again.
  if (c.window.steps.empty() && calls < 2) return std::nullopt;
  const double per_step = static_cast<double>(calls) / static_cast<double>(c.steps());
  if (calls == 0 || per_step < n["least_per_step"] ||
      path_saving_pct(c, draft.edit) < n["least_pct"])
    return std::nullopt;
  for (auto& [line, place] : places) {
    place.kind = "call";
    place.python = line;
    draft.where.push_back(std::move(place));
  }
  draft.verdict = draft.tell(
      "The host waits for the whole GPU {} a step, for {} a step, and launches nothing ahead.",
      counted(derived("sync_summary", "calls per step", per_step, ""), "time", "times"),
      derived("sync_summary", "wait_ms per step", in_ms(c.per_step(waited)), "ms"));
  draft.formula = fmt::format("these waits removed, each call -> {} us", n["left_us"]);
  draft.tries = {"remove torch.cuda.synchronize() and the timers around it",
                 "measure with events (torch.cuda.Event), read after the loop",
                 "wait for an event of the one stream whose result is needed"};
  draft.verify = {.table = "sync_summary",
                  .column = "calls per step",
                  .now = per_step,
                  .expected = "0",
                  .is_derived = true};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace sync_3

extern const Rule kSync3;
constinit const Rule kSync3 = {.id = "SYNC-3",
                               .title = "Device-wide waits in the loop",
                               .numbers = sync_3::kNumbers,
                               .find = sync_3::find};

}  // namespace tracelens
