#include "readers/perfetto/clocks.hpp"

#include <algorithm>
#include <iterator>

#include "perfetto.pb.h"
#include "readers/kit/time_limits.hpp"

namespace tracelens::perfetto {
namespace {

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

}  // namespace

bool Clocks::add_snapshot(const proto::ClockSnapshot& snapshot, SequenceClocks& sequence) {
  std::optional<std::int64_t> boot_ns;
  for (const auto& clock : snapshot.clocks())
    if (clock.clock_id() == kBoottime) boot_ns = to_time(clock.timestamp());
  if (!boot_ns) return false;
  for (const auto& clock : snapshot.clocks()) {
    const auto value = to_time(clock.timestamp());
    if (!value || clock.clock_id() == kBoottime) continue;
    if (!is_sequence_clock(clock.clock_id())) {
      offsets_[clock.clock_id()][*value] = *boot_ns - *value;
      continue;
    }
    SequenceClock known{.value = *value,
                        .unit_ns = std::clamp<std::int64_t>(
                            static_cast<std::int64_t>(clock.unit_multiplier_ns()), 1, kLongestUnit),
                        .offset_ns = 0,
                        .is_incremental = clock.is_incremental()};
    if (const auto ns = to_ns(*value, known)) {
      known.offset_ns = *boot_ns - *ns;
      sequence[clock.clock_id()] = known;
    }
  }
  return true;
}

std::optional<Clocks::Time> Clocks::trace_ns(std::uint64_t timestamp, std::uint32_t clock,
                                             SequenceClocks& sequence) const {
  const auto value = to_time(timestamp);
  if (!value) return std::nullopt;
  if (clock == kBoottime) return Time{*value};
  if (is_sequence_clock(clock)) {
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
    return ns ? std::optional{Time{*ns}} : std::nullopt;
  }
  const auto found = offsets_.find(clock);
  if (found == offsets_.end()) return Time{*value, false};
  // The last snapshot at or before that time, or else the first one.
  auto after = found->second.upper_bound(*value);
  if (after != found->second.begin()) after = std::prev(after);
  const std::int64_t ns = *value + after->second;
  return is_time(ns) ? std::optional{Time{ns}} : std::nullopt;
}

}  // namespace tracelens::perfetto
