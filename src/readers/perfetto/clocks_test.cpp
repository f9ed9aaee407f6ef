#include "readers/perfetto/clocks.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

#include "perfetto.pb.h"

namespace tracelens::perfetto {
namespace {

constexpr std::uint32_t kRealtime = 1, kMonotonic = 3, kIncremental = 64, kMicroseconds = 65;

struct ClockValue {
  std::uint32_t id;
  std::uint64_t value;
  std::uint64_t unit_ns = 0;
  bool is_incremental = false;
};

proto::ClockSnapshot snapshot(std::initializer_list<ClockValue> clocks) {
  proto::ClockSnapshot snapshot;
  for (const ClockValue& value : clocks) {
    auto& clock = *snapshot.add_clocks();
    clock.set_clock_id(value.id);
    clock.set_timestamp(value.value);
    if (value.unit_ns != 0) clock.set_unit_multiplier_ns(value.unit_ns);
    clock.set_is_incremental(value.is_incremental);
  }
  return snapshot;
}

std::int64_t ns(const Clocks& clocks, std::uint64_t time, std::uint32_t clock,
                SequenceClocks& sequence) {
  const auto converted = clocks.trace_ns(time, clock, sequence);
  return converted && converted->is_converted ? converted->ns : -1;
}

TEST(Clocks, AMachineClockUsesTheLastSnapshotBeforeTheTimeAndElseTheFirst) {
  Clocks clocks;
  SequenceClocks sequence;
  EXPECT_TRUE(clocks.add_snapshot(snapshot({{kBoottime, 1'000}, {kMonotonic, 600}}), sequence));
  EXPECT_TRUE(clocks.add_snapshot(snapshot({{kBoottime, 5'000}, {kMonotonic, 4'500}}), sequence));
  EXPECT_EQ(ns(clocks, 500, kMonotonic, sequence), 900);
  EXPECT_EQ(ns(clocks, 700, kMonotonic, sequence), 1'100);
  EXPECT_EQ(ns(clocks, 4'500, kMonotonic, sequence), 5'000);
  EXPECT_EQ(ns(clocks, 4'600, kMonotonic, sequence), 5'100);
  EXPECT_EQ(ns(clocks, 77, kBoottime, sequence), 77);
}

TEST(Clocks, AnIncrementalClockAddsUpFromItsSnapshotInItsUnit) {
  Clocks clocks;
  SequenceClocks sequence;
  (void)clocks.add_snapshot(
      snapshot({{kBoottime, 9'000}, {kIncremental, 4, 1'000, true}, {kMicroseconds, 9, 1'000}}),
      sequence);
  EXPECT_EQ(ns(clocks, 1, kIncremental, sequence), 10'000);
  EXPECT_EQ(ns(clocks, 2, kIncremental, sequence), 12'000);
  EXPECT_EQ(ns(clocks, 11, kMicroseconds, sequence), 11'000);
  SequenceClocks other;  // private to the sequence
  EXPECT_FALSE(clocks.trace_ns(1, kIncremental, other)->is_converted);
}

TEST(Clocks, WithoutASnapshotTheNumberIsTakenAsItIs) {
  const Clocks clocks;
  SequenceClocks sequence;
  const auto time = clocks.trace_ns(123, kMonotonic, sequence);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->ns, 123);
  EXPECT_FALSE(time->is_converted);
}

TEST(Clocks, AClockOfASequenceMayBeComparedWithTheMonotonicClockAlone) {
  Clocks clocks;
  SequenceClocks sequence;
  EXPECT_TRUE(clocks.add_snapshot(
      snapshot({{kIncremental, 0, 1'000, true}, {kRealtime, 70'000}, {kMonotonic, 9'000}}),
      sequence));
  // Nothing compares the monotonic clock with the boot time: it is the trace time.
  EXPECT_EQ(ns(clocks, 2, kIncremental, sequence), 11'000);
  EXPECT_EQ(ns(clocks, 3, kIncremental, sequence), 14'000);
  EXPECT_EQ(ns(clocks, 9'500, kMonotonic, sequence), 9'500);
  // Now something does, in another sequence.
  SequenceClocks other;
  EXPECT_TRUE(clocks.add_snapshot(snapshot({{kBoottime, 1'500}, {kMonotonic, 1'000}}), other));
  EXPECT_EQ(ns(clocks, 1, kIncremental, sequence), 15'500);
  EXPECT_EQ(ns(clocks, 16'000, kMonotonic, sequence), 16'500);
}

TEST(Clocks, ASnapshotWithoutABootTimeGoesByTheClockItNames) {
  Clocks clocks;
  SequenceClocks sequence;
  proto::ClockSnapshot named =
      snapshot({{kMonotonic, 9'000}, {kRealtime, 70'000}, {kMicroseconds, 0, 1'000}});
  named.set_primary_trace_clock(kRealtime);
  EXPECT_TRUE(clocks.add_snapshot(named, sequence));
  EXPECT_EQ(ns(clocks, 5, kMicroseconds, sequence), 75'000);
}

TEST(Clocks, AnIncrementalClockAddsUpWhateverItIsComparedWith) {
  Clocks clocks;
  SequenceClocks sequence;
  EXPECT_FALSE(clocks.add_snapshot(snapshot({{kIncremental, 4, 1'000, true}}), sequence));
  for (const std::int64_t expected : {6'000, 8'000}) {
    const auto time = clocks.trace_ns(2, kIncremental, sequence);
    EXPECT_EQ(time->ns, expected);
    EXPECT_FALSE(time->is_converted);
  }
}

TEST(Clocks, WhatCannotBeATimeIsRefused) {
  Clocks clocks;
  SequenceClocks sequence;
  EXPECT_FALSE(clocks.add_snapshot(snapshot({{kMonotonic, std::uint64_t{1} << 63}}), sequence));
  EXPECT_FALSE(clocks.trace_ns(std::uint64_t{1} << 63, kBoottime, sequence));
  (void)clocks.add_snapshot(snapshot({{kBoottime, 0}, {kIncremental, 0, 1'000'000'000, true}}),
                            sequence);
  EXPECT_FALSE(clocks.trace_ns(std::uint64_t{1} << 60, kIncremental, sequence));
}

}  // namespace
}  // namespace tracelens::perfetto
