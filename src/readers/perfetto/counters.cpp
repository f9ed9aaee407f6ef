#include "readers/perfetto/counters.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "perfetto.pb.h"
#include "trace/json_value.hpp"

namespace tracelens::perfetto {
namespace {

std::optional<double> number_of(const proto::DebugAnnotation& annotation) {
  using Annotation = proto::DebugAnnotation;
  switch (annotation.value_case()) {
    case Annotation::kUintValue:
      return static_cast<double>(annotation.uint_value());
    case Annotation::kIntValue:
      return static_cast<double>(annotation.int_value());
    case Annotation::kDoubleValue:
      return annotation.double_value();
    default:
      return std::nullopt;
  }
}

}  // namespace

void Counters::Stats::add(double value) {
  min = samples == 0 ? value : std::min(min, value);
  max = samples == 0 ? value : std::max(max, value);
  last = value;
  ++samples;
}

void Counters::add(std::uint32_t track, const TrackTable::Counter& counter,
                   const proto::TrackEvent& event) {
  double value = event.has_double_counter_value() ? event.double_counter_value()
                                                  : static_cast<double>(event.counter_value());
  value *= static_cast<double>(counter.unit_multiplier);
  Stats& stats = of_tracks_[track];
  stats.add(counter.is_incremental ? value + stats.last : value);
}

void Counters::add_legacy(std::string_view name, const proto::TrackEvent& event,
                          const Sequence& sequence, const Texts& texts) {
  for (const proto::DebugAnnotation& annotation : event.debug_annotations()) {
    const std::optional<double> value = number_of(annotation);
    if (!value) continue;
    std::string key = annotation.name();
    if (!annotation.has_name()) {
      const std::uint32_t known = sequence.annotation_names.find(annotation.name_iid());
      if (known != kNone) key = unescape_json(texts.text(known));
    }
    of_names_[unescape_json(name) + " " + key].add(*value);
  }
}

Value Counters::list(const TrackTable& tracks) const {
  std::vector<Value> list;
  const auto add = [&list](std::string name, const Stats& stats) {
    list.push_back(Value::dict({"name", "samples", "min", "max", "last"},
                               {std::move(name), stats.samples, stats.min, stats.max, stats.last}));
  };
  for (const auto& [track, stats] : of_tracks_) add(std::string{tracks.name(track)}, stats);
  for (const auto& [name, stats] : of_names_) add(name, stats);
  return Value::list(std::move(list));
}

}  // namespace tracelens::perfetto
