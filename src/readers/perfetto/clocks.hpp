// clocks.hpp: the times of packets, brought to one clock.
//   Clocks clocks;
//   clocks.add_snapshot(packet.clock_snapshot(), sequence.clocks);
//   const auto ns = clocks.trace_ns(packet.timestamp(), clock_id, sequence.clocks);
// Trace time is the boot-time clock in nanoseconds. A packet may use any other clock that a
// snapshot has compared with it: clocks of the machine, or clocks private to a packet sequence,
// which count in their own unit and sometimes only tell the difference to the packet before. These
// may be compared with another clock of the machine alone, such as the monotonic one; where nothing
// compares that with the boot time, it is the trace time itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

namespace tracelens::perfetto {

namespace proto {
class ClockSnapshot;
}

inline constexpr std::uint32_t kBoottime = 6;

struct SequenceClock {
  std::int64_t value = 0;  // in the clock's unit; an incremental clock goes on from here
  std::int64_t unit_ns = 1;
  std::int64_t offset_ns = 0;  // time of `reference` less value * unit_ns
  bool is_incremental = false;
  std::uint32_t reference = kBoottime;  // the clock of the machine it was compared with
};
using SequenceClocks = std::unordered_map<std::uint32_t, SequenceClock>;

class Clocks {
 public:
  // False when the snapshot has no clock of the machine with a usable time, and says nothing
  // therefore but where incremental clocks begin.
  bool add_snapshot(const proto::ClockSnapshot& snapshot, SequenceClocks& sequence);

  struct Time {
    std::int64_t ns = 0;
    bool is_converted = true;  // false: the clock is in no snapshot, `ns` is the plain number
  };
  // No value when it is no time of a trace. Moves an incremental clock on.
  std::optional<Time> trace_ns(std::uint64_t timestamp, std::uint32_t clock,
                               SequenceClocks& sequence) const;

 private:
  // The time of a clock of the machine.
  [[nodiscard]] std::optional<Time> machine_ns(std::int64_t value, std::uint32_t clock) const;

  // The clock of the machine that snapshots without a boot time go by; 0: there are none.
  std::uint32_t other_clock_ = 0;
  // Per clock of the machine: its time at a snapshot -> what to add to get trace time.
  std::unordered_map<std::uint32_t, std::map<std::int64_t, std::int64_t>> offsets_;
};

}  // namespace tracelens::perfetto
