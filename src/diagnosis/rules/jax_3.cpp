// JAX-3: copies between host and GPU that no computation hides.
#include <algorithm>
#include <map>
#include <string>
#include <tracelens/intervals.hpp>
#include <vector>

#include "diagnosis/kit/device.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/timeline_words.hpp"

namespace tracelens {
namespace jax_3 {

constexpr Number kNumbers[] = {
    {"least_pct", 5, "% of the window in which the GPU only copies from or to the host"},
};

bool is_host_copy(std::string_view name) {
  for (const std::string_view word : {"H2D", "D2H", "HtoD", "DtoH"})
    if (name.find(word) != name.npos) return true;
  return false;
}

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  if (c.facts.kind() != TraceKind::kJax) return std::nullopt;
  std::map<std::int64_t, std::vector<Interval>> others;  // by device: all but these copies
  std::vector<EventId> copies;
  const auto when = [&](EventId event) {
    return Interval{c.trace.ts_ns()[event.row], c.trace.end_ns(event)};
  };
  for (const EventId event : c.gpu_events()) {
    if (is_host_copy(c.trace.name(event)))
      copies.push_back(event);
    else
      others[device_of(c.facts, event)].push_back(when(event));
  }
  for (auto& [device, times] : others) times = merge(std::move(times));
  Draft draft;
  std::map<std::string, FindingPlace> places;
  std::map<std::int64_t, std::vector<Interval>>
      alone_by_device;  // two copies at a time are one time
  for (const EventId copy : copies) {
    const Interval one = when(copy);
    const std::int64_t device = device_of(c.facts, copy);
    const std::vector<Interval> parts = subtract({&one, 1}, others[device]);
    const std::int64_t alone = length(parts);
    draft.edit.set_gpu(copy, c.dur_ns(copy) - alone);
    std::vector<Interval>& all_alone = alone_by_device[device];
    all_alone.insert(all_alone.end(), parts.begin(), parts.end());
    FindingPlace& place = places[std::string{c.trace.name(copy)}];
    place.time_ns += alone;
    ++place.count;
  }
  std::int64_t exposed = 0;
  for (auto& [device, times] : alone_by_device) exposed += length(merge(std::move(times)));
  exposed = c.per_device(exposed);
  if (c.share(exposed) < n["least_pct"]) return std::nullopt;
  for (auto& [name, place] : places) {
    place.kind = "kernel";
    place.name = name;
    draft.where.push_back(std::move(place));
  }
  draft.verdict =
      draft.tell("{} it from computing for {} ({}).",
                 counted(derived("gpu_timeline", "copies", static_cast<double>(copies.size()), ""),
                         "copy between host and GPU keeps", "copies between host and GPU keep"),
                 timeline_proof(c, "exposed_memcpy_time", "time ms", in_ms(exposed), "ms"),
                 derived("gpu_timeline", "exposed_memcpy_time of window", c.share(exposed), "%"));
  draft.formula = "exposed copies -> 0";
  draft.tries = {"keep arrays on the GPU (jax.device_put once, not in the loop)",
                 "fetch the next batch while this one is computed", "asynchronous offload"};
  draft.verify = timeline_verification(
      timeline_proof(c, "exposed_memcpy_time", "time ms", in_ms(exposed), "ms"), "about 0");
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace jax_3

extern const Rule kJax3;
constinit const Rule kJax3 = {.id = "JAX-3",
                              .title = "Copies between host and GPU",
                              .numbers = jax_3::kNumbers,
                              .find = jax_3::find};

}  // namespace tracelens
