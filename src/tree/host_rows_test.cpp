#include "tree/host_rows.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

// The host events of a tree, thread by thread, as the walks over it see them.
std::vector<std::uint32_t> host_events(const Trace& trace, const Tree& tree) {
  std::vector<std::uint32_t> rows;
  for (const EventId event : tree.events())
    if (!is_gpu(trace.category(event))) rows.push_back(event.row);
  return rows;
}

TEST(HostRows, AreInFileOrderAndWithoutFramesUnlessAskedFor) {
  TestTrace t;
  t.op("late", 50, 10);
  t.op("early", 0, 10);
  t.python("frame", 0, 100);
  const Trace trace = t.finish();
  EXPECT_EQ(host_rows(trace, {}).rows, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(host_rows(trace, {.python_frames = true}).rows, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(HostRows, AreTheSameWithAnyNumberOfThreads) {
  std::mt19937 random{7};
  TestTrace t;
  for (int i = 0; i < 300'000; ++i) {
    const int tid = 1 + static_cast<int>(random() % 3);
    const int start = static_cast<int>(random() % 1'000'000);
    if (random() % 2 == 0)
      t.op("op", start, 1, tid);
    else
      t.python("frame", start, 1, tid);
  }
  const Trace trace = t.finish();
  const HostRows one = host_rows_by_time(trace, {.python_frames = true, .threads = 1});
  const HostRows many = host_rows_by_time(trace, {.python_frames = true, .threads = 5});
  ASSERT_EQ(one.rows.size(), 300'000);
  EXPECT_EQ(one.rows, many.rows);
  EXPECT_EQ(one.bounds, many.bounds);
  EXPECT_EQ(one.frames, many.frames);
}

TEST(CalledRows, LeaveOutWhatOutlastsItsCaller) {
  TestTrace t;
  t.op("caller", 0, 100);
  t.op("outlasts it", 90, 50);
  t.op("inside", 10, 10);
  const Trace trace = t.finish();
  EXPECT_EQ(called_rows(trace, {}).rows, (std::vector<std::uint32_t>{0, 2}));
}

TEST(CalledRows, AreTheHostEventsOfTheTreeWhateverTheTimes) {
  std::mt19937 random{11};
  const auto below = [&random](int n) {
    return static_cast<int>(random() % static_cast<unsigned>(n));
  };
  for (int round = 0; round < 50; ++round) {
    TestTrace t;
    for (int i = 0; i < 60; ++i) t.op("op", below(40), below(30), 1 + below(3));
    for (int i = 0; i < 30; ++i) t.python("frame", below(40), below(30), 1 + below(3));
    const Trace trace = t.finish();
    for (const bool frames : {false, true})
      for (const int threads : {1, 8})
        ASSERT_EQ(called_rows(trace, {.python_frames = frames, .threads = threads}).rows,
                  host_events(trace, build_tree(trace, {.python_frames = frames})));
  }
}

}  // namespace
}  // namespace tracelens
