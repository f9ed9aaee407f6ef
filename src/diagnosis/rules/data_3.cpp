// DATA-3: copies between host and GPU that no kernel runs beside.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tracelens/intervals.hpp>
#include <vector>

#include "diagnosis/kit/device.hpp"
#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"

namespace tracelens {
namespace data_3 {

constexpr Number kNumbers[] = {
    {"least_pct", 3, "% of the GPU's span in copies that nothing runs beside"},
    {"low_factor", 0.5, "of the exposed time stays, for the low estimate"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  std::map<std::int64_t, std::vector<Interval>> kernels;
  for (const EventId event : c.gpu_events())
    if (c.trace.category(event) == Category::kKernel)
      kernels[device_of(c.facts, event)].push_back(
          {c.trace.ts_ns()[event.row], c.trace.end_ns(event)});
  for (auto& [device, times] : kernels) times = merge(std::move(times));

  Draft draft;
  draft.low.emplace();
  std::map<std::string, FindingPlace> places;
  std::int64_t exposed = 0, bytes = 0;
  for (const Copy& copy : copies_of(c.host())) {
    if ((copy.kind != CopyKind::kHostToDevice && copy.kind != CopyKind::kDeviceToHost) ||
        !copy.call.valid() || !c.in_window(c.trace.ts_ns()[copy.call.row]) || !c.is_free(copy.gpu))
      continue;
    const std::vector<Interval>& beside = kernels[copy.device];
    const Interval time{c.trace.ts_ns()[copy.gpu.row], c.trace.end_ns(copy.gpu)};
    auto next = std::ranges::lower_bound(beside, time.start, {}, &Interval::end);
    std::int64_t hidden = 0;
    for (; next != beside.end() && next->start < time.end; ++next)
      hidden += std::min(next->end, time.end) - std::max(next->start, time.start);
    const std::int64_t alone = time.end - time.start - hidden;
    if (alone <= 0) continue;
    exposed += alone;
    bytes += copy.bytes.value_or(0);
    draft.edit.set_gpu(copy.gpu, hidden);
    draft.low->set_gpu(
        copy.gpu, hidden + static_cast<std::int64_t>(n["low_factor"] * static_cast<double>(alone)));
    FindingPlace& place = places[std::string{c.trace.name(copy.gpu)}];
    place.time_ns += alone;
    if (++place.count == 1) {
      place.kind = "kernel";
      place.name = std::string{c.trace.name(copy.gpu)};
      place.python = c.python_line(copy.call);
    }
  }
  const double share = percentage(exposed, c.gpu_times().span_ns);
  if (exposed == 0 || share < n["least_pct"]) return std::nullopt;
  for (auto& [name, place] : places) draft.where.push_back(std::move(place));
  draft.verdict = draft.tell(
      "For {} ({} of its span) the GPU does nothing but copy {} between itself and the host.",
      proof("gpu_timeline", "time ms", in_ms(exposed), "ms", {{"type", "exposed_memcpy_time"}}),
      derived("gpu_timeline", "exposed_memcpy_time of the span", share, "%"),
      derived("copy_bandwidth", "MB", static_cast<double>(bytes) / 1e6, "MB"));
  draft.formula = "what of these copies nothing runs beside -> 0";
  draft.tries = {"copy on a second stream, the next batch while this one is computed",
                 "pinned memory and non_blocking=True, so that copies run beside kernels",
                 "copy less: smaller types, or keep the data on the GPU"};
  draft.verify = {.table = "gpu_timeline",
                  .column = "time ms",
                  .now = in_ms(exposed),
                  .expected = fmt::format("< {}", figure(0.1 * in_ms(exposed), "ms")),
                  .key = {{"type", "exposed_memcpy_time"}}};
  draft.confidence = Confidence::kMedium;
  return draft;
}

}  // namespace data_3

extern const Rule kData3;
constinit const Rule kData3 = {.id = "DATA-3",
                               .title = "Copies that nothing hides",
                               .numbers = data_3::kNumbers,
                               .find = data_3::find};

}  // namespace tracelens
