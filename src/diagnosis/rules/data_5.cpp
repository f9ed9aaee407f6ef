// DATA-5: tensors copied to the host inside the loop, which waits for them.
#include <fmt/format.h>

#include <set>
#include <string>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/path_saving.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace data_5 {

constexpr Number kNumbers[] = {
    {"least_bytes", 1024, "bytes of a copy; smaller ones are read-backs"},
    {"least_per_step", 1, "copies per step"},
    {"least_pct", 1, "% of the window that mending saves"},
    {"left_us", 2, "us that are left of a copy on the host"},
    {"same_low", 0.8,
     "of the bytes to the host: from here on those sent back are the same tensors"},
    {"same_high", 1.25, "the same, up to here"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  draft.low.emplace();
  const auto left_ns = static_cast<std::int64_t>(n["left_us"] * 1e3);
  std::set<EventId> copies;
  std::vector<const SyncCall*> back;
  double bytes = 0, bytes_back = 0;
  std::int64_t host = 0;
  bool has_stacks = false, is_in_loop = false;
  for (const SyncGroup& group : c.syncs().groups) {
    FindingPlace place{.kind = "op"};
    for (const std::uint32_t at : group.calls) {
      const SyncCall& sync = c.syncs().calls[at];
      if (!c.in_window(c.trace.ts_ns()[sync.call.row]) || !sync.copy.valid()) continue;
      const auto size = static_cast<double>(sync.bytes.value_or(0));
      if (sync.direction == CopyKind::kHostToDevice && sync.memory == MemoryKind::kPageable) {
        back.push_back(&sync);
        if (copies.insert(sync.copy).second) bytes_back += size;
        continue;
      }
      if (sync.direction != CopyKind::kDeviceToHost || sync.round_trip || size <= n["least_bytes"])
        continue;
      c.remove_wait(sync, left_ns, draft.edit);
      draft.low->drop_sync(sync.call);
      if (!copies.insert(sync.copy).second) continue;
      bytes += size;
      is_in_loop |= c.launches_between(c.trace.end_ns(sync.call), c.time().end) > 0;
      const EventId range = sync.range.valid() ? sync.range : sync.call;
      place.time_ns += c.dur_ns(range);
      if (++place.count > 1) continue;
      place.name = std::string{c.trace.name(range)};
      place.python = c.python_line(range);
      place.module = c.module_of(range);
      has_stacks |= !place.python.empty();
    }
    host += place.time_ns;
    if (place.count > 0) draft.where.push_back(std::move(place));
  }
  std::int64_t count = 0;
  for (const FindingPlace& place : draft.where) count += place.count;
  const double per_step = static_cast<double>(count) / static_cast<double>(c.steps());
  // The last thing a program does is to fetch its results.
  if (count == 0 || per_step < n["least_per_step"] || !is_in_loop) return std::nullopt;
  const bool come_back =
      bytes_back >= n["same_low"] * bytes && bytes_back <= n["same_high"] * bytes;
  if (come_back)
    for (const SyncCall* const sync : back) {
      c.remove_wait(*sync, left_ns, draft.edit);
      draft.low->drop_sync(sync->call);
    }
  if (path_saving_pct(c, draft.edit) < n["least_pct"]) return std::nullopt;
  const double mb = bytes / static_cast<double>(c.steps()) / 1e6;
  draft.verdict = draft.tell(
      "{0} to the host{2}, {1} in all; that holds the host for {3} a step.",
      counted(derived("sync_summary", "copies to the host per step", per_step, ""),
              "tensor a step is copied", "tensors a step are copied"),
      proof("step_phases", "d2h_mb", mb, "MB", {{"step", "mean"}}), come_back ? " and back" : "",
      derived("sync_summary", "range time per step", in_ms(c.per_step(host)), "ms"));
  draft.formula = fmt::format("waits and copies removed, each copy -> {} us", n["left_us"]);
  draft.tries = {"keep the tensors on the GPU, or reduce them there to what is needed",
                 "copy into a pinned buffer with non_blocking=True, and read it one step later",
                 "copy every n steps"};
  draft.verify = {.table = "step_phases",
                  .column = "d2h_mb",
                  .now = mb,
                  .expected = "< 0.01",
                  .key = {{"step", "mean"}}};
  draft.confidence = has_stacks ? Confidence::kHigh : Confidence::kMedium;
  return draft;
}

}  // namespace data_5

extern const Rule kData5;
constinit const Rule kData5 = {.id = "DATA-5",
                               .title = "Tensors copied to the host",
                               .numbers = data_5::kNumbers,
                               .find = data_5::find};

}  // namespace tracelens
