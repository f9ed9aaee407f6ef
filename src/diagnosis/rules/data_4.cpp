// DATA-4: values sent to the GPU one by one, each with a call, a copy and often a wait of its own.
#include <fmt/format.h>

#include <set>
#include <string>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/path_saving.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/uploads.hpp"

namespace tracelens {
namespace data_4 {

constexpr Number kNumbers[] = {
    {"least_pct", 0.5, "% of the window that mending saves; less is for information"},
    {"high_pct", 5, "% of the window from which on the numbers are trusted more"},
};

// The op, or the built-in function that was called for it: torch.tensor(value, device=...) makes a
// tensor on the host first.
EventId whole_call(const DiagnosisContext& c, EventId range) {
  EventId whole = range;
  for (NodeId node = c.tree().node(range); node.valid(); node = c.tree().parent(node)) {
    const EventId caller = c.tree().event(node);
    const bool is_frame = c.trace.category(caller) == Category::kPythonFunction;
    if (is_frame && !c.trace.name(caller).starts_with("<built-in")) break;
    whole = caller;
  }
  return whole;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  std::set<EventId> seen;
  std::int64_t host = 0;
  for (const SyncGroup& group : c.syncs().groups) {
    if (!are_many_small(c, group)) continue;
    FindingPlace place{.kind = "op"};
    std::set<std::size_t> steps;  // one copy of each step stays
    for (const std::uint32_t at : group.calls) {
      const SyncCall& sync = c.syncs().calls[at];
      if (!c.in_window(c.trace.ts_ns()[sync.call.row])) continue;
      const EventId whole = whole_call(c, sync.range.valid() ? sync.range : sync.call);
      const auto step = c.step_at(c.trace.ts_ns()[sync.call.row]);
      const bool is_first = steps.insert(step.value_or(c.steps())).second;
      if (!is_first) {
        draft.edit.drop_sync(sync.call);
        draft.edit.set_host(c.trace.tracks()[whole.row], c.trace.ts_ns()[whole.row],
                            c.trace.end_ns(whole), 0);
        if (sync.copy.valid()) draft.edit.set_gpu(sync.copy, 0);
      }
      if (!seen.insert(whole).second) continue;
      place.time_ns += c.dur_ns(whole);
      if (++place.count > 1) continue;
      place.name = std::string{c.trace.name(sync.range.valid() ? sync.range : sync.call)};
      place.python = c.python_line(sync.call);
      place.module = c.module_of(sync.call);
    }
    host += place.time_ns;
    if (place.count > 0) draft.where.push_back(std::move(place));
  }
  if (seen.empty()) return std::nullopt;
  const double saves = path_saving_pct(c, draft.edit);
  if (saves < n["least_pct"]) draft.edit = {};
  const double per_step = static_cast<double>(seen.size()) / static_cast<double>(c.steps());
  draft.verdict =
      draft.tell("{} to the GPU one by one; that holds the host for {} a step.",
                 counted(derived("copy_bandwidth", "small_count per step", per_step, "",
                                 {{"kind", "Memcpy HtoD"}}),
                         "small value a step is sent", "small values a step are sent"),
                 derived("sync_summary", "range time per step", in_ms(c.per_step(host)), "ms"));
  draft.formula = "all but one of a place and step -> 0";
  draft.tries = {"make the values on the GPU once, before the loop, or compute them there",
                 "gather them in one tensor and copy that, pinned and with non_blocking=True",
                 "plain Python numbers as arguments of ops need no copy"};
  draft.verify = {.table = "copy_bandwidth",
                  .column = "small_count per step",
                  .now = per_step,
                  .expected = fmt::format("< {}", kManyCopies),
                  .is_derived = true,
                  .key = {{"kind", "Memcpy HtoD"}}};
  draft.confidence = saves >= n["high_pct"] ? Confidence::kHigh : Confidence::kLow;
  return draft;
}

}  // namespace data_4

extern const Rule kData4;
constinit const Rule kData4 = {.id = "DATA-4",
                               .title = "Many small copies",
                               .numbers = data_4::kNumbers,
                               .find = data_4::find};

}  // namespace tracelens
