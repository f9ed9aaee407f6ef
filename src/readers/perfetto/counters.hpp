// counters.hpp: counters of a Perfetto trace, each as a few figures.
//   Counters counters;
//   counters.add(track, tracks.counter(track), event);
//   builder.add_metadata("counters", counters.list(tracks));
// No table is made of single values, so that only their number, range and last value are kept.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>

#include "readers/perfetto/sequence.hpp"
#include "readers/perfetto/tracks.hpp"

namespace tracelens::perfetto {

namespace proto {
class TrackEvent;
}  // namespace proto

class Counters {
 public:
  // A value of a counter track.
  void add(std::uint32_t track, const TrackTable::Counter& counter, const proto::TrackEvent& event);
  // An older counter event ("C"): each of its arguments that is a number is a counter, called by
  // the event and the argument. `name` is that of the event.
  void add_legacy(std::string_view name, const proto::TrackEvent& event, const Sequence& sequence,
                  const Texts& texts);

  [[nodiscard]] bool empty() const { return of_tracks_.empty() && of_names_.empty(); }
  // [{name, samples, min, max, last}, ...]: those of tracks in their order, then the older ones by
  // name.
  [[nodiscard]] Value list(const TrackTable& tracks) const;

 private:
  struct Stats {
    std::int64_t samples = 0;
    double min = 0, max = 0, last = 0;
    void add(double value);
  };
  std::map<std::uint32_t, Stats> of_tracks_;
  std::map<std::string, Stats> of_names_;
};

}  // namespace tracelens::perfetto
