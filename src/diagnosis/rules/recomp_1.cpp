// RECOMP-1: activations are computed a second time in the backward pass.
#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <utility>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace recomp_1 {

constexpr Number kNumbers[] = {
    {"least_gpu_pct", 10, "% of what the GPU computes that is recomputation"},
    {"least_pct", 5, "% of the window that mending saves, where it is less"},
};

constexpr std::string_view kFile = "torch/utils/checkpoint.py(";

// A frame of checkpointing, or of a module that it runs.
enum class Frame : std::uint8_t { kOther, kModule, kCheckpoint, kAgain };

Frame frame_of(std::string_view name) {
  if (is_module_name(name)) return Frame::kModule;
  const auto at = name.find(kFile);
  if (at == name.npos) return Frame::kOther;
  return name.ends_with(": unpack_hook") || name.ends_with(": backward") ? Frame::kAgain
                                                                         : Frame::kCheckpoint;
}

struct Ranges {
  std::vector<std::pair<TrackId, Interval>> again, extra;  // computed again; bookkeeping
};

// The outermost frames that compute again, and on the way forward the time in checkpointing's own
// frames outside of the modules they run.
Ranges ranges_of(const DiagnosisContext& c) {
  struct Open {
    Frame frame;
    std::int64_t end_ns, since_ns;  // since: own time not yet counted
  };
  Ranges found;
  std::vector<Frame> kinds(c.trace.string_count());
  std::vector<char> known(c.trace.string_count());
  std::vector<Open> open;
  TrackId track;
  const auto count = [&](const Open& one, std::int64_t until) {
    if (one.frame == Frame::kCheckpoint && until > one.since_ns)
      found.extra.push_back({track, {one.since_ns, until}});
  };
  const auto close = [&](std::int64_t until) {
    while (!open.empty() && open.back().end_ns <= until) {
      count(open.back(), open.back().end_ns);
      const std::int64_t end = open.back().end_ns;
      open.pop_back();
      if (!open.empty()) open.back().since_ns = end;
    }
  };
  constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t row = 0; row < c.tree().size(); ++row) {
    const EventId event = c.tree().event(NodeId{row});
    if (c.trace.category(event) != Category::kPythonFunction) continue;
    const StringId name = c.trace.names()[event.row];
    if (known[name.row] == 0) {
      known[name.row] = 1;
      kinds[name.row] = frame_of(c.trace.name(event));
    }
    const Frame frame = kinds[name.row];
    const std::int64_t start = c.trace.ts_ns()[event.row];
    if (frame == Frame::kOther || !c.in_window(start)) continue;
    if (c.trace.tracks()[event.row] != track) {
      close(kEver);
      track = c.trace.tracks()[event.row];
    }
    close(start);
    if (!open.empty() && open.back().frame == Frame::kAgain) continue;
    if (!open.empty()) count(open.back(), start);
    if (frame == Frame::kAgain) found.again.push_back({track, {start, c.trace.end_ns(event)}});
    open.push_back({frame, c.trace.end_ns(event), start});
  }
  close(kEver);
  return found;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  Ranges ranges = ranges_of(c);
  if (ranges.again.empty()) return std::nullopt;
  std::ranges::sort(ranges.again, {}, [](const auto& one) {
    return std::pair{one.first, one.second.start};
  });
  Draft draft;
  std::int64_t host = 0, extra = 0, gpu = 0, kernels = 0;
  for (const auto& [track, time] : ranges.again) {
    draft.edit.set_host(track, time.start, time.end, 0);
    host += time.end - time.start;
  }
  for (const auto& [track, time] : ranges.extra) {
    draft.edit.set_host(track, time.start, time.end, 0);
    extra += time.end - time.start;
  }
  for (const EventId event : c.gpu_events()) {
    const EventId call = c.tree().launch_of(event);
    if (!call.valid() || !c.is_free(event)) continue;
    const std::pair at{c.trace.tracks()[call.row], c.trace.ts_ns()[call.row]};
    auto after = std::ranges::upper_bound(ranges.again, at, {}, [](const auto& one) {
      return std::pair{one.first, one.second.start};
    });
    if (after == ranges.again.begin()) continue;
    --after;
    if (after->first != at.first || at.second >= after->second.end) continue;
    draft.edit.set_gpu(event, 0);
    gpu += c.dur_ns(event);
    ++kernels;
  }
  // Communication is left out: how long it waits for other ranks says nothing of recomputation.
  std::int64_t computes = c.gpu_sum_ns(c.gpu_events());
  for (const WindowCollective& one : c.communication().kernels) computes -= one.dur_ns;
  const double share = percentage(gpu, computes);
  if (share < n["least_gpu_pct"] && c.share(c.saving_ns(draft.edit)) < n["least_pct"])
    return std::nullopt;
  draft.verdict = draft.tell(
      "Checkpointing computes activations again: {} of host time and {} of GPU time a step ({} of "
      "what it computes), and {} a step for its bookkeeping.",
      derived("step_phases", "recomputation host time", in_ms(c.per_step(host)), "ms"),
      derived("step_phases", "recomputation GPU time", in_ms(c.per_step(gpu)), "ms"),
      derived("gpu_timeline", "recomputation of computation_time", share, "%"),
      derived("step_phases", "checkpointing host time", in_ms(c.per_step(extra)), "ms"));
  draft.formula = "what is computed again, and checkpointing's own frames -> 0";
  draft.where = {
      {.kind = "range", .name = "torch.utils.checkpoint", .time_ns = host, .count = kernels}};
  draft.tries = {"no checkpointing where memory allows it: it trades time for memory",
                 "only every second block, or selective checkpointing of what is cheap to compute",
                 "a smaller batch without checkpointing"};
  draft.verify = {.table = "gpu_timeline",
                  .column = "recomputation of computation_time",
                  .now = share,
                  .expected = "0",
                  .is_derived = true};
  draft.confidence = Confidence::kHigh;
  return draft;
}

}  // namespace recomp_1

extern const Rule kRecomp1;
constinit const Rule kRecomp1 = {.id = "RECOMP-1",
                                 .title = "Recomputation",
                                 .numbers = recomp_1::kNumbers,
                                 .find = recomp_1::find};

}  // namespace tracelens
