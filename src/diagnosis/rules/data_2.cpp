// DATA-2: copies to the GPU from memory that is not pinned: the driver stages them, and the call waits.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/path_saving.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/uploads.hpp"

namespace tracelens {
namespace data_2 {

constexpr Number kNumbers[] = {
    {"least_per_step", 1, "copies per step"},
    {"least_mb", 1, "MB per step"},
    {"least_pct", 0.5, "% of the window that mending saves, where it is less"},
    {"pinned_gbps", 50, "GB/s of a pinned copy, where neither the trace nor --host-gbps tells"},
    {"left_us", 8, "us that are left of such a call on the host"},
};

// The best rate that large pinned copies of this run reach.
double pinned_bytes_per_ns(const DiagnosisContext& c, double usual) {
  double best = 0;
  for (const CopyGroup& group : copy_groups(c.host(), copies_of(c.host())))
    if (group.kind == CopyKind::kHostToDevice && group.memory == MemoryKind::kPinned &&
        group.count > 0 && group.bytes / group.count >= 1'000'000 && !group.rates.empty())
      best = std::max(best, group.rates[group.rates.size() / 2]);
  if (best > 0) return best;
  return c.options.host_gbps.value_or(usual);
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Draft draft;
  draft.low.emplace();
  const auto left_ns = static_cast<std::int64_t>(n["left_us"] * 1e3);
  std::set<EventId> copies;
  std::vector<const SyncCall*> found;
  std::int64_t bytes = 0, waited = 0, copy_ns = 0;
  bool is_certain = true;
  for (const SyncGroup& group : c.syncs().groups) {
    if (group.direction != CopyKind::kHostToDevice || are_many_small(c, group)) continue;
    FindingPlace place{.kind = "op"};
    for (const std::uint32_t at : group.calls) {
      const SyncCall& sync = c.syncs().calls[at];
      if (!sync.copy.valid() || !c.in_window(c.trace.ts_ns()[sync.call.row]) ||
          (sync.memory != MemoryKind::kPageable && sync.memory != MemoryKind::kHost))
        continue;
      found.push_back(&sync);
      if (!copies.insert(sync.copy).second) continue;  // copy and wait of one op
      is_certain &= sync.memory == MemoryKind::kPageable;
      bytes += sync.bytes.value_or(0);
      copy_ns += c.dur_ns(sync.copy);
      const EventId range = sync.range.valid() ? sync.range : sync.call;
      place.time_ns += c.dur_ns(range);
      if (++place.count > 1) continue;
      place.name = std::string{c.trace.name(range)};
      place.python = c.python_line(range);
      place.module = c.module_of(range);
    }
    waited += place.time_ns;
    if (place.count > 0) draft.where.push_back(std::move(place));
  }
  const double per_step = static_cast<double>(copies.size()) / static_cast<double>(c.steps());
  if (copies.empty() || per_step < n["least_per_step"]) return std::nullopt;

  // Pinned and issued ahead, copies run beside the kernels; what is longer than those still shows.
  const double rate = pinned_bytes_per_ns(c, n["pinned_gbps"]);
  const double hidden_ns = static_cast<double>(std::max<std::int64_t>(0, c.busy_ns() - copy_ns));
  const double pinned_ns = static_cast<double>(bytes) / rate;
  const double shown = pinned_ns > 0 ? std::max(0.0, 1 - hidden_ns / pinned_ns) : 0;
  for (const SyncCall* const sync : found) {
    const EventId range = sync->range.valid() ? sync->range : sync->call;
    const double own_ns = static_cast<double>(sync->bytes.value_or(0)) / rate;
    for (PathEdit* const edit : {&draft.edit, &*draft.low}) {
      edit->drop_sync(sync->call);
      edit->set_host(c.trace.tracks()[range.row], c.trace.ts_ns()[range.row], c.trace.end_ns(range),
                     left_ns);
      edit->set_gpu(sync->copy,
                    static_cast<std::int64_t>(edit == &draft.edit ? own_ns * shown : own_ns));
    }
  }
  const double mb = static_cast<double>(bytes) / static_cast<double>(c.steps()) / 1e6;
  if (mb < n["least_mb"] && path_saving_pct(c, draft.edit) < n["least_pct"]) return std::nullopt;
  draft.verdict = draft.tell(
      "{} from memory that is not pinned, {} in all; that holds the host for {} a step.",
      counted(derived("copy_bandwidth", "count per step", per_step, "", {{"memory", "Pageable"}}),
              "copy a step comes", "copies a step come"),
      proof("step_phases", "h2d_pageable_mb", mb, "MB", {{"step", "mean"}}),
      derived("sync_summary", "range time per step", in_ms(c.per_step(waited)), "ms"));
  draft.formula = fmt::format("copies pinned ({:.0f} GB/s) and ahead of use, calls -> {} us", rate,
                              n["left_us"]);
  draft.tries = {"pin_memory=True in the loader, or tensor.pin_memory(); then non_blocking=True",
                 "copy the next batch on a stream of its own while this one is computed",
                 "smaller inputs: uint8 images, 32 bit indices, made larger on the GPU"};
  draft.verify = {.table = "step_phases",
                  .column = "h2d_pageable_mb",
                  .now = mb,
                  .expected = "0",
                  .key = {{"step", "mean"}}};
  draft.confidence = is_certain ? Confidence::kHigh : Confidence::kLow;
  return draft;
}

}  // namespace data_2

extern const Rule kData2;
constinit const Rule kData2 = {.id = "DATA-2",
                               .title = "Copies from pageable memory",
                               .numbers = data_2::kNumbers,
                               .find = data_2::find};

}  // namespace tracelens
