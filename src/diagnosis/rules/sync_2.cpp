// SYNC-2: values read back from the GPU, one by one: item(), nonzero(), masks.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/path_saving.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace sync_2 {

constexpr Number kNumbers[] = {
    {"least_pct", 0.5, "% of the window that mending saves"},
    {"least_per_step", 1, "read-backs per step"},
    {"left_us", 2, "us that are left of a read-back on the host"},
    {"mask_gpu_factor", 0.3, "what is left of the GPU time of such an op"},
    {"mask_us", 10, "us that are left of an op with a mask: torch.where instead"},
};

// The op that a mask was given to, which looks for its set elements first; invalid: none.
EventId masked_op(const DiagnosisContext& c, EventId range) {
  constexpr std::string_view kOps[] = {"aten::index",      "aten::_index_put_impl_",
                                       "aten::masked_",    "IndexBackward",
                                       "IndexPutBackward", "MaskedSelectBackward"};
  EventId outermost;
  for (NodeId node = c.tree().node(range); node.valid(); node = c.tree().parent(node)) {
    const EventId caller = c.tree().event(node);
    if (c.trace.category(caller) != Category::kCpuOp) continue;
    const std::string_view name = c.trace.name(caller);
    if (std::ranges::any_of(kOps, [&](std::string_view op) { return name.find(op) != name.npos; }))
      outermost = caller;
  }
  return outermost;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  const auto left_ns = static_cast<std::int64_t>(n["left_us"] * 1e3);
  std::set<EventId> reads;  // copy and wait of one op count once
  std::int64_t host = 0;
  bool has_stacks = false;
  for (const SyncGroup& group : c.syncs().groups) {
    FindingPlace place{.kind = "op"};
    for (const std::uint32_t at : group.calls) {
      const SyncCall& sync = c.syncs().calls[at];
      if (!sync.round_trip || !c.in_window(c.trace.ts_ns()[sync.call.row])) continue;
      c.remove_wait(sync, left_ns, draft.edit);
      EventId range = sync.range.valid() ? sync.range : sync.call;
      if (const EventId masked = masked_op(c, range); masked.valid()) {
        range = masked;
        draft.edit.set_host(c.trace.tracks()[range.row], c.trace.ts_ns()[range.row],
                            c.trace.end_ns(range), static_cast<std::int64_t>(n["mask_us"] * 1e3));
        for (const EventId kernel : c.tree().gpu_events(c.tree().node(range)))
          if (c.is_free(kernel)) draft.edit.scale_gpu(kernel, n["mask_gpu_factor"]);
      }
      if (!reads.insert(range).second) continue;
      place.time_ns += c.dur_ns(range);
      if (++place.count > 1) continue;
      place.name = std::string{c.trace.name(range)};
      place.python = c.python_line(range);
      place.module = c.module_of(range);
      has_stacks |= !place.python.empty();
    }
    if (place.count == 0) continue;
    host += place.time_ns;
    draft.where.push_back(std::move(place));
  }
  const double per_step = static_cast<double>(reads.size()) / static_cast<double>(c.steps());
  if (reads.empty() || per_step < n["least_per_step"] ||
      path_saving_pct(c, draft.edit) < n["least_pct"])
    return std::nullopt;
  draft.verdict = draft.tell(
      "The host reads a value back from the GPU {} a step, which takes {} of host time a step "
      "and keeps launches from running ahead.",
      counted(derived("sync_summary", "ranges per step", per_step, "", {{"round_trip", "True"}}),
              "time", "times"),
      derived("sync_summary", "range time per step", in_ms(c.per_step(host)), "ms",
              {{"round_trip", "True"}}));
  draft.formula = fmt::format("waits removed, each read-back -> {} us", n["left_us"]);
  draft.tries = {
      "keep values on the GPU: torch.where instead of if, no .item() or float() in the loop",
      "log every n steps, and read the value of the step before",
      "masks of a fixed size instead of nonzero() and boolean indexing"};
  draft.verify = {.table = "sync_summary",
                  .column = "ranges per step",
                  .now = per_step,
                  .expected = "< 1",
                  .is_derived = true};
  draft.confidence = has_stacks ? Confidence::kHigh : Confidence::kMedium;
  return draft;
}

}  // namespace sync_2

extern const Rule kSync2;
constinit const Rule kSync2 = {.id = "SYNC-2",
                               .title = "Scalar read-backs",
                               .numbers = sync_2::kNumbers,
                               .find = sync_2::find};

}  // namespace tracelens
