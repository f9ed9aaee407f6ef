// stream_waits.hpp: which GPU work waited for work of another stream, as the profiler recorded it
// ("Stream Wait Event" of cuda_sync).
//   const StreamWaits waits{trace};
//   if (const EventId source = waits.source(kernel); source.valid()) ...
#pragma once

#include <cstdint>
#include <map>
#include <tracelens/trace.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tracelens {

class StreamWaits {
 public:
  explicit StreamWaits(const Trace& trace);

  [[nodiscard]] bool empty() const { return sources_.empty(); }
  // The work that GPU work had to wait for; invalid: none is recorded.
  [[nodiscard]] EventId source(EventId gpu) const;
  // What a wait for an event stands for: the last work launched onto its stream before the event was
  // recorded. Invalid: not known.
  [[nodiscard]] EventId source_of_wait(EventId sync) const;

 private:
  using Lane = std::pair<std::int64_t, std::int64_t>;  // device, stream
  struct Launched {
    std::int64_t time;
    std::uint32_t gpu;
  };
  [[nodiscard]] Lane lane(EventId event) const;
  void add_wait(EventId sync);

  const Trace& trace_;
  std::unordered_map<std::int64_t, std::uint32_t> calls_;  // by correlation: the first
  // By time of the launch: of each stream, and of each thread onto each stream.
  std::map<Lane, std::vector<Launched>> launched_;
  std::map<std::pair<Lane, TrackId>, std::vector<Launched>> launched_by_;
  std::unordered_map<std::uint32_t, std::uint32_t> sources_;  // by row of what waits
};

}  // namespace tracelens
