// MEM-3: memory taken from the driver, or given back to it, step after step.
#include <map>
#include <string>

#include "diagnosis/kit/collected.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace mem_3 {

constexpr Number kNumbers[] = {
    {"least_per_step", 1, "such calls per step, after the first step"},
    {"least_pct", 0.5, "% of the window that mending saves"},
};

bool takes_memory(CallClass kind) { return kind == CallClass::kAlloc || kind == CallClass::kFree; }

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  // What comes first makes room for all that follows. Without steps that is the first half.
  const std::int64_t first_end = c.window.steps.empty()
                                     ? c.time().start + (c.time().end - c.time().start) / 2
                                     : c.window.steps.front().ts_ns + c.window.steps.front().dur_ns;
  std::map<std::string, FindingPlace> places;
  std::int64_t later = 0, calls = 0, host = 0;
  bool empties = false, retries = false;
  EventId before;
  for (const EventId call : c.host().calls()) {
    const std::int64_t start = c.trace.ts_ns()[call.row];
    const CallClass kind = c.host().class_of(call);
    if (!takes_memory(kind) || !c.in_window(start) ||
        in_ranges(c.ranges().data_loading(), c.trace.tracks()[call.row], start))
      continue;
    const EventId whole = caller_named(c, call, "empty_cache");
    empties |= whole != call;
    if (kind == CallClass::kFree) draft.edit.drop_sync(call);
    // An allocation that found no room frees what is cached, and tries again.
    retries |= kind == CallClass::kAlloc && before.valid() && whole == call &&
               c.host().class_of(before) == CallClass::kFree &&
               caller_named(c, before, "empty_cache") == before;
    before = call;
    draft.edit.set_host(c.trace.tracks()[whole.row], c.trace.ts_ns()[whole.row],
                        c.trace.end_ns(whole), 0);
    ++calls;
    later += start >= first_end;
    host += c.dur_ns(call);
    FindingPlace& place = places[std::string{c.trace.name(call)}];
    place.time_ns += c.dur_ns(call);
    if (++place.count > 1) continue;
    place.kind = "call";
    place.name = std::string{c.trace.name(call)};
    place.python = c.python_line(call);
  }
  // What empties the cache waits for the GPU by itself, too.
  for (const SyncCall& sync : c.syncs().calls)
    if (c.in_window(c.trace.ts_ns()[sync.call.row]) &&
        caller_named(c, sync.call, "empty_cache") != sync.call)
      draft.edit.drop_sync(sync.call);
  const double later_steps = static_cast<double>(c.steps() > 1 ? c.steps() - 1 : 1);
  if (calls == 0 || static_cast<double>(later) < n["least_per_step"] * later_steps ||
      c.share(c.saving_ns(draft.edit)) < n["least_pct"])
    return std::nullopt;
  for (auto& [name, place] : places) draft.where.push_back(std::move(place));
  draft.verdict =
      draft.tell("{}, for {} a step{}.",
                 counted(proof("step_phases", "host_allocs",
                               static_cast<double>(calls) / static_cast<double>(c.steps()), "",
                               {{"step", "mean"}}),
                         "call a step takes memory from the driver or gives it back",
                         "calls a step take memory from the driver or give it back"),
                 derived("step_phases", "host_allocs time", in_ms(c.per_step(host)), "ms"),
                 empties ? "; the cache of the allocator is emptied each time"
                         : (retries ? "; the allocator had to empty its cache to find room" : ""));
  draft.formula = "these calls -> 0, their waits removed";
  if (empties) draft.tries.push_back("no torch.cuda.empty_cache() in the loop");
  draft.tries.push_back("shapes that repeat, buffers made once before the loop");
  draft.tries.push_back(
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or fewer splits; a smaller batch where "
      "memory is full");
  draft.verify = {.table = "step_phases",
                  .column = "host_allocs",
                  .now = static_cast<double>(calls) / static_cast<double>(c.steps()),
                  .expected = "0",
                  .key = {{"step", "mean"}}};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace mem_3

extern const Rule kMem3;
constinit const Rule kMem3 = {.id = "MEM-3",
                              .title = "Memory from the driver again and again",
                              .numbers = mem_3::kNumbers,
                              .find = mem_3::find};

}  // namespace tracelens
