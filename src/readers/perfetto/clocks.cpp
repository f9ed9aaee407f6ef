#include "readers/perfetto/clocks.hpp"

#include <algorithm>
#include <iterator>

#include "perfetto.pb.h"
#include "readers/kit/time_limits.hpp"

namespace tracelens::perfetto {
namespace {

constexpr std::uint32_t kNoClock = 0, kMonotonic = 3;
constexpr std::uint32_t kFirstSequenceClock = 64, kLastSequenceClock = 127;
constexpr std::int64_t kLongestUnit = 1'000'000'000;

bool is_sequence_clock(std::uint32_t clock) {
  return clock >= kFirstSequenceClock && clock <= kLastSequenceClock;
}

bool is_time(std::int64_t ns) { return ns >= -kLatestNs && ns <= kLatestNs; }

std::optional<std::int64_t> to_time(std::uint64_t number) {
  const auto value = static_cast<std::int64_t>(number);
  return is_time(value) ? std::optional{value} : std::nullopt;
}

// value * unit_ns + offset_ns, when that is a time.
std::optional<std::int64_t> to_ns(std::int64_t value, const SequenceClock& clock) {
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(value, clock.unit_ns, &ns) ||
      __builtin_add_overflow(ns, clock.offset_ns, &ns) || !is_time(ns))
    return std::nullopt;
  return ns;
}

struct Reference {
  std::uint32_t clock = kNoClock;
  std::int64_t ns = 0;
};
// What the clocks of a sequence are compared with: the boot time; where the snapshot has none, the
// clock it names as its main one, else the monotonic one, else the first.
Reference reference_of(const proto::ClockSnapshot& snapshot) {
  const auto rank = [&](std::uint32_t clock) {
    if (clock == kBoottime) return 4;
    if (clock == snapshot.primary_trace_clock()) return 3;
    return clock == kMonotonic ? 2 : 1;
  };
  Reference best;
  int best_rank = 0;
  for (const auto& clock : snapshot.clocks()) {
    const auto value = to_time(clock.timestamp());
    const std::uint32_t id = clock.clock_id();
    if (!value || id == kNoClock || id >= kFirstSequenceClock || rank(id) <= best_rank) continue;
    best = {id, *value};
    best_rank = rank(id);
  }
  return best;
}

}  // namespace

bool Clocks::add_snapshot(const proto::ClockSnapshot& snapshot, SequenceClocks& sequence) {
  const Reference reference = reference_of(snapshot);
  if (reference.clock != kBoottime && other_clock_ == kNoClock) other_clock_ = reference.clock;
  for (const auto& clock : snapshot.clocks()) {
    const auto value = to_time(clock.timestamp());
    if (!value || clock.clock_id() == kBoottime) continue;
    if (!is_sequence_clock(clock.clock_id())) {
      if (reference.clock == kBoottime) offsets_[clock.clock_id()][*value] = reference.ns - *value;
      continue;
    }
    if (reference.clock == kNoClock && sequence.contains(clock.clock_id())) continue;
    SequenceClock known{.value = *value,
                        .unit_ns = std::clamp<std::int64_t>(
                            static_cast<std::int64_t>(clock.unit_multiplier_ns()), 1, kLongestUnit),
                        .offset_ns = 0,
                        .is_incremental = clock.is_incremental(),
                        .reference = reference.clock};
    if (const auto ns = to_ns(*value, known)) {
      if (reference.clock != kNoClock) known.offset_ns = reference.ns - *ns;
      sequence[clock.clock_id()] = known;
    }
  }
  return reference.clock != kNoClock;
}

std::optional<Clocks::Time> Clocks::trace_ns(std::uint64_t timestamp, std::uint32_t clock,
                                             SequenceClocks& sequence) const {
  const auto value = to_time(timestamp);
  if (!value) return std::nullopt;
  if (!is_sequence_clock(clock)) return machine_ns(*value, clock);
  const auto found = sequence.find(clock);
  if (found == sequence.end()) return Time{*value, false};
  SequenceClock& own = found->second;
  std::int64_t absolute = *value;
  if (own.is_incremental) {
    absolute += own.value;  // both are times: no overflow
    if (!is_time(absolute)) return std::nullopt;
    own.value = absolute;
  }
  const auto ns = to_ns(absolute, own);
  return ns ? machine_ns(*ns, own.reference) : std::nullopt;
}

std::optional<Clocks::Time> Clocks::machine_ns(std::int64_t value, std::uint32_t clock) const {
  if (clock == kBoottime) return Time{value};
  const auto found = offsets_.find(clock);
  if (found == offsets_.end()) return Time{value, clock != kNoClock && clock == other_clock_};
  // The last snapshot at or before that time, or else the first one.
  auto after = found->second.upper_bound(value);
  if (after != found->second.begin()) after = std::prev(after);
  const std::int64_t ns = value + after->second;
  return is_time(ns) ? std::optional{Time{ns}} : std::nullopt;
}

}  // namespace tracelens::perfetto
