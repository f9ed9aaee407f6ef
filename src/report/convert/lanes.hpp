// lanes.hpp: where a viewer draws each slice, so that the slices of one lane nest.
//   const Lanes lanes{trace};
//   lanes.lane_of(event)                  // index into lanes.all()
// A lane of the Chrome format is a pid and a tid, and its slices must lie inside each other. Traces
// do not keep to that: GPU queues of a Perfetto trace share the tid of the thread that wrote them,
// and kernels of one stream may overlap. Queues get a lane of their own, and a slice that overlaps
// another moves to a further lane beside it.
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>
#include <vector>

namespace tracelens {

struct Lane {
  Value pid, tid;
  std::string name;  // of lanes that the trace does not have; empty for its own
};

class Lanes {
 public:
  explicit Lanes(const Trace& trace);

  [[nodiscard]] const std::vector<Lane>& all() const { return lanes_; }
  // The lane of a complete event or an instant.
  [[nodiscard]] const Lane& lane_of(EventId event) const { return lanes_[lane_ids_[event.row]]; }

 private:
  std::vector<std::uint32_t> places_of_events(const Trace& trace);
  void spread(const Trace& trace, std::vector<std::uint32_t>& places);

  struct Place {  // a track of the trace, or a queue on it
    TrackId track;
    std::string queue;
  };
  std::vector<Place> places_;
  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> lane_ids_;  // by event row
};

}  // namespace tracelens
