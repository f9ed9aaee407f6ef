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
  room.reach(1. / 64);
  const std::int64_t* const place = place_of(builder);
  for (int part = 2; part < 64; ++part) {
    append(builder, static_cast<std::size_t>(part) * 1000);
    room.reach(part / 64.);
    ASSERT_EQ(place_of(builder), place) << part;
  }
}

TEST(RoomEstimate, MoreRoomWhenThereTurnsOutToBeMore) {
  TraceBuilder builder;
  RoomEstimate room{builder};
  append(builder, 100);
  room.reach(1. / 64);
  append(builder, 20000);  // three times what was to be expected of the whole
  room.reach(1. / 4);
  const std::int64_t* const place = place_of(builder);
  append(builder, 80000);
  EXPECT_EQ(place_of(builder), place);
}

TEST(RoomEstimate, NothingIsSaidOfAnEmptyBeginningOrOfTheEnd) {
  TraceBuilder builder;
  RoomEstimate room{builder};
  room.reach(0);
  room.reach(0.5);  // no events yet
  room.reach(1);
  append(builder, 10);
  EXPECT_EQ(std::move(builder).finish().size(), 10u);
}

}  // namespace
}  // namespace tracelens
