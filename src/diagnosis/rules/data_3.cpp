// DATA-3: copies between host and GPU that no kernel runs beside.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tracelens/intervals.hpp>
#include <utility>
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
  std::map<std::int64_t, std::vector<Interval>>
      alone_by_device;  // two copies at a time are one time
  double bytes = 0;
  for (const Copy& copy : copies_of(c.host())) {
    if ((copy.kind != CopyKind::kHostToDevice && copy.kind != CopyKind::kDeviceToHost) ||
        !copy.call.valid() || !c.in_window(c.trace.ts_ns()[copy.call.row]) || !c.is_free(copy.gpu))
      continue;
    const std::vector<Interval>& beside = kernels[copy.device];
    const Interval time{c.trace.ts_ns()[copy.gpu.row], c.trace.end_ns(copy.gpu)};
    const auto next = std::ranges::lower_bound(beside, time.start, {}, &Interval::end);
    const std::vector<Interval> parts = subtract({&time, 1}, std::span{next, beside.end()});
    const std::int64_t alone = length(parts), hidden = length(time) - alone;
    if (alone <= 0) continue;
    std::vector<Interval>& all_alone = alone_by_device[copy.device];
    all_alone.insert(all_alone.end(), parts.begin(), parts.end());
    bytes += static_cast<double>(copy.bytes.value_or(0)) * static_cast<double>(alone) /
             static_cast<double>(length(time));
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
  std::int64_t exposed = 0;
  for (auto& [device, times] : alone_by_device) exposed += length(merge(std::move(times)));
  exposed = c.per_device(exposed);
  const double share = percentage(exposed, c.gpu_times().span_ns);
  if (exposed == 0 || share < n["least_pct"]) return std::nullopt;
  for (auto& [name, place] : places) draft.where.push_back(std::move(place));
  draft.verdict = draft.tell(
      "For {} ({} of its span) the GPU does nothing but copy {} between itself and the host.",
      derived("gpu_timeline", "exposed_memcpy_time of these copies", in_ms(exposed), "ms"),
      derived("gpu_timeline", "these copies of the span", share, "%"),
      derived("copy_bandwidth", "MB", bytes / 1e6, "MB"));
  draft.formula = "what of these copies nothing runs beside -> 0";
  draft.tries = {"copy on a second stream, the next batch while this one is computed",
                 "pinned memory and non_blocking=True, so that copies run beside kernels",
                 "copy less: smaller types, or keep the data on the GPU"};
  draft.verify = {.table = "gpu_timeline",
                  .column = "exposed_memcpy_time of these copies",
                  .now = in_ms(exposed),
                  .expected = fmt::format("< {}", figure(0.1 * in_ms(exposed), "ms")),
                  .is_derived = true};
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
