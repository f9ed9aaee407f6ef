#include "analysis/gpu/thread_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <tuple>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using Told = std::tuple<std::uint32_t, std::int64_t, std::int64_t, std::uint32_t, int>;

// What a walk tells; the state is the depth.
void walk_into(std::vector<Told>& told, const Trace& trace, const ThreadWalk& walk) {
  walk_thread(
      trace, walk, 0, [](int depth, EventId) { return depth + 1; },
      [&](const Stretch& stretch, Interval time, const OpenEvent<int>* innermost) {
        told.emplace_back(stretch.gap, time.start, time.end,
                          innermost == nullptr ? 0 : innermost->event.row,
                          innermost == nullptr ? 0 : innermost->state);
      });
}

// Events that begin in order and end anyhow, also after what they are called by; stretches without overlap.
TEST(ThreadWalk, PartsTellTheSameAsTheWhole) {
  std::mt19937 random{5};
  const auto up_to = [&](int most) { return static_cast<int>(random() % 1000) % (most + 1); };
  std::size_t cuts = 0;
  for (int round = 0; round < 300; ++round) {
    TestTrace t;
    std::vector<std::uint32_t> rows;
    double now = 0;
    for (int i = up_to(60); i > 0; --i) {
      now += up_to(3);
      rows.push_back(t.op("op", now, up_to(round % 2 == 0 ? 8 : 40)).row);
    }
    const Trace trace = t.finish();
    std::vector<Stretch> stretches;
    std::int64_t from = 0;
    for (int i = up_to(30); i > 0; --i) {
      from += 4 * up_to(999);
      const std::int64_t length = 6 * up_to(999);
      stretches.push_back({{from, from + length}, static_cast<std::uint32_t>(i / 2)});
      from += length;
    }
    std::vector<Told> whole;
    walk_into(whole, trace, {rows, stretches});
    for (const std::size_t part_rows : {1U, 3U, 20U}) {
      std::vector<Told> by_parts;
      const std::vector<ThreadWalk> parts =
          cut_walk(trace, {rows, stretches}, part_rows, 1 + round % 3);
      for (const ThreadWalk& part : parts) walk_into(by_parts, trace, part);
      EXPECT_EQ(by_parts, whole);
      cuts += parts.size() - 1;
    }
  }
  EXPECT_GT(cuts, 1000u);
}

TEST(ThreadWalk, WhatIsCalledDeepIsNotCutIntoManyParts) {
  TestTrace t;
  std::vector<std::uint32_t> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back(t.op("op", i, 5000 - 2 * i).row);
  const Trace trace = t.finish();
  // Each part has twice the rows of the one before: as many are open when it begins.
  EXPECT_LE(cut_walk(trace, {rows, {}}, 1).size(), 11u);
}

}  // namespace
}  // namespace tracelens
