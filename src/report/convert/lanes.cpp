#include "report/convert/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <tracelens/table_text.hpp>

namespace tracelens {
namespace {

constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

// Beyond the thread ids of Linux, so that a made-up lane is never taken for a thread, and below those
// that the tables of Perfetto traces leave out (PftraceActivityOptions::max_tid).
constexpr std::int64_t kFirstMadeUpTid = 500'000'000;

// So many slices of one place overlap at a time in no real trace; what is more shares the last
// lane.
constexpr std::size_t kMostLanes = 64;

bool is_drawn(const Trace& trace, EventId event) {
  const Phase phase = trace.phase(event);
  return phase == Phase::kComplete || phase == Phase::kInstant;
}

std::string text_of(const Value& value) {
  return value.is_text() ? value.as_text() : python_repr(value);
}

// Slices of one lane that are open at the time looked at, as their ends; the innermost last.
class OpenSlices {
 public:
  // Whether a slice fits in; slices must come by begin, longer ones first.
  bool take(std::int64_t begin_ns, std::int64_t end_ns) {
    while (!ends_.empty() && ends_.back() <= begin_ns) ends_.pop_back();
    if (!ends_.empty() && ends_.back() < end_ns) return false;
    ends_.push_back(end_ns);
    return true;
  }

 private:
  std::vector<std::int64_t> ends_;
};

}  // namespace

Lanes::Lanes(const Trace& trace) {
  std::vector<std::uint32_t> places = places_of_events(trace);
  spread(trace, places);
}

std::vector<std::uint32_t> Lanes::places_of_events(const Trace& trace) {
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> known;
  const auto place_of = [&](TrackId track, const std::string& queue) {
    const auto [found, added] =
        known.try_emplace({track.row, queue}, static_cast<std::uint32_t>(places_.size()));
    if (added) places_.push_back({track, queue});
    return found->second;
  };
  // Details are few texts that many events share: each is looked at once per track.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> by_details;
  std::vector<std::uint32_t> by_track(trace.track_table().size(), kUnknown);
  std::vector<std::uint32_t> places(trace.size(), kUnknown);
  const auto rows = trace.detail_texts().rows();
  std::size_t next = 0;
  for (const EventId event : trace.all_events()) {
    const bool has_details = next < rows.size() && rows[next] == event.row;
    const std::size_t entry = has_details ? next++ : next;
    if (!is_drawn(trace, event)) continue;
    const TrackId track = trace.tracks()[event.row];
    std::uint32_t& place =
        has_details
            ? by_details
                  .try_emplace({track.row, trace.detail_texts().values()[entry].row}, kUnknown)
                  .first->second
            : by_track[track.row];
    if (place == kUnknown) {
      const Value details = has_details ? trace.details(event) : Value{};
      const Value* const queue = details.find("perfetto_track");
      place = place_of(track, queue != nullptr && queue->is_text() ? queue->as_text() : "");
    }
    places[event.row] = place;
  }
  return places;
}

void Lanes::spread(const Trace& trace, std::vector<std::uint32_t>& places) {
  std::vector<EventId> events;
  for (const EventId event : trace.all_events())
    if (places[event.row] != kUnknown) events.push_back(event);
  const auto length = [&](EventId event) {
    return trace.phase(event) == Phase::kComplete ? trace.dur_ns()[event.row] : 0;
  };
  std::ranges::sort(events, {}, [&](EventId event) {
    return std::tuple{places[event.row], trace.ts_ns()[event.row], -length(event), event.row};
  });

  lane_ids_ = std::move(places);  // a place is read before its lane is written over it
  std::uint32_t place = kUnknown;
  std::size_t first_lane = 0;
  std::vector<OpenSlices> open;  // of the lanes of one place
  std::int64_t next_tid = kFirstMadeUpTid;
  for (const EventId event : events) {
    if (lane_ids_[event.row] != place) {
      place = lane_ids_[event.row];
      first_lane = lanes_.size();
      open.clear();
    }
    const std::int64_t begin_ns = trace.ts_ns()[event.row], end_ns = begin_ns + length(event);
    std::size_t lane = 0;
    while (lane < open.size() && !open[lane].take(begin_ns, end_ns)) ++lane;
    if (lane == kMostLanes) {
      --lane;
    } else if (lane == open.size()) {
      open.emplace_back().take(begin_ns, end_ns);
      const Track& track = trace.track(places_[place].track);
      const std::string& queue = places_[place].queue;
      if (lane == 0 && queue.empty()) {
        lanes_.push_back({track.pid, track.tid, {}});
      } else {
        const auto label = trace.label(track, "thread_name");
        const std::string base = !queue.empty() ? queue : text_of(label ? *label : track.tid);
        lanes_.push_back(
            {track.pid, next_tid++, lane == 0 ? base : fmt::format("{} ({})", base, lane + 1)});
      }
    }
    lane_ids_[event.row] = static_cast<std::uint32_t>(first_lane + lane);
  }
}

}  // namespace tracelens
