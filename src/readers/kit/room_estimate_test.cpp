#include "readers/kit/room_estimate.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tracelens {
namespace {

// Where the first event's time is: it moves when a column grows.
const std::int64_t* place_of(TraceBuilder& builder) {
  return builder.slots({.first = {0}, .arguments = {}, .before = {}}).ts_ns.data();
}

void append(TraceBuilder& builder, std::size_t upto) {
  while (builder.size() < upto) builder.append({.phase = Phase::kComplete});
}

TEST(RoomEstimate, AFileThatGoesOnAsItBeganGetsItsRoomOnce) {
  TraceBuilder builder;
  RoomEstimate room{builder};
  append(builder, 1000);
  room.estimate(1. / 64);
  const std::int64_t* const place = place_of(builder);
  for (int part = 2; part < 64; ++part) {
    append(builder, static_cast<std::size_t>(part) * 1000);
    room.estimate(part / 64.);
    ASSERT_EQ(place_of(builder), place) << part;
  }
}

TEST(RoomEstimate, MoreRoomWhenThereTurnsOutToBeMore) {
  TraceBuilder builder;
  RoomEstimate room{builder};
  append(builder, 100);
  room.estimate(1. / 64);
  append(builder, 20000);  // three times what was to be expected of the whole
  room.estimate(1. / 4);
  const std::int64_t* const place = place_of(builder);
  append(builder, 80000);
  EXPECT_EQ(place_of(builder), place);
}

TEST(RoomEstimate, AnEmptyBeginningAndTheEndSayNothing) {
  TraceBuilder builder;
  RoomEstimate room{builder};
  const auto moves_by = [&](std::size_t upto) {
    const std::int64_t* const place = place_of(builder);
    append(builder, upto);
    return place_of(builder) != place;
  };
  room.estimate(0.3);  // no events yet: it may be asked again
  append(builder, 1000);
  room.estimate(1);
  EXPECT_TRUE(moves_by(5000));
  room.estimate(0.31);
  EXPECT_FALSE(moves_by(16000));
}

}  // namespace
}  // namespace tracelens
