// COMM-5: many small collectives, each of which costs a latency.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/rule.hpp"
#include "diagnosis/rules/comm_places.hpp"

namespace tracelens {
namespace comm_5 {

constexpr Number kNumbers[] = {
    {"small_mb", 1, "MB below which a message is small"},
    {"least_per_step", 50, "small collectives per step"},
    {"least_pct", 2, "% of the window that they are exposed"},
    {"bucket_mb", 25, "MB that are sent at once instead"},
};

std::optional<Draft> find(const DiagnosisContext& c, const Numbers& n) {
  using enum CollectiveField;
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const WindowCollective*>>
      alike;
  std::int64_t exposed = 0;
  std::size_t count = 0;
  for (const WindowCollective& one : c.communication().kernels) {
    if (!one.bytes || *one.bytes >= n["small_mb"] * 1e6 || is_point_to_point(one.kind)) continue;
    const Value& type = (*one.message)[kDtype];
    alike[{one.group(), one.name(), type.is_text() ? type.as_text() : std::string{}}].push_back(
        &one);
    exposed += one.exposed_ns;
    ++count;
  }
  exposed = c.per_device(exposed);
  const double per_step = static_cast<double>(count) / static_cast<double>(c.gpu_times().devices) /
                          static_cast<double>(c.steps());
  if (per_step < n["least_per_step"] || c.share(exposed) < n["least_pct"]) return std::nullopt;
  Draft draft;
  CommPlaces places;
  double left_all = 0;
  for (auto& [key, all] : alike) {
    double bytes = 0, time = 0;
    std::vector<std::int64_t> durations;
    for (const WindowCollective* one : all) {
      bytes += *one->bytes;
      time += static_cast<double>(one->dur_ns);
      durations.push_back(one->dur_ns);
      places.add(*one, one->dur_ns);
    }
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::ranges::nth_element(durations, middle);
    const auto steps = static_cast<double>(c.steps());
    const double left = steps * std::ceil(std::max(1.0, bytes / steps / (n["bucket_mb"] * 1e6)));
    left_all += left;
    const double factor = time > 0 ? std::min(1.0, left * static_cast<double>(*middle) / time) : 1;
    for (const WindowCollective* one : all) draft.edit.scale_gpu(one->event, factor);
  }
  draft.where = places.take();
  draft.verdict = draft.tell(
      "A step makes {} collectives of less than {}; for {} ({}) nothing is computed meanwhile.",
      derived("coll_analysis", "operation_count per step", per_step, ""),
      derived("coll_analysis", "size of a small message", n["small_mb"], "MB"),
      derived("coll_analysis", "exposed time", in_ms(exposed), "ms"),
      derived("coll_analysis", "exposed time of window", c.share(exposed), "%"));
  draft.formula = fmt::format("small collectives of a group -> one per {} MB, of median latency",
                              n["bucket_mb"]);
  draft.tries = {"larger buckets (bucket_cap_mb), or coalesced collectives",
                 "flatten small tensors into one before they are sent"};
  draft.verify = {.table = "coll_analysis",
                  .column = "operation_count",
                  .now = static_cast<double>(count),
                  .expected = fmt::format("about {}", figure(left_all, "")),
                  .is_derived = true};
  draft.confidence = Confidence::kLow;
  return draft;
}

}  // namespace comm_5

extern const Rule kComm5;
constinit const Rule kComm5 = {.id = "COMM-5",
                               .title = "Many small collectives",
                               .numbers = comm_5::kNumbers,
                               .find = comm_5::find};

}  // namespace tracelens
