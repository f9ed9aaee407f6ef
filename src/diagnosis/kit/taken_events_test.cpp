#include "diagnosis/kit/taken_events.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace tracelens {
namespace {

TEST(TakenEvents, WhatIsTakenStaysTaken) {
  TakenEvents taken;
  taken.take({3});
  taken.take({199});
  for (std::uint32_t row = 0; row < 200; ++row)
    EXPECT_EQ(taken.has({row}), row == 3 || row == 199) << row;
}

TEST(TakenEvents, AnAnswerOwesOnlyToWhatWasAskedAbout) {
  TakenEvents taken;
  EventSet asked;
  {
    const Listening to_this_thread{asked};
    EXPECT_FALSE(taken.has({64}));
  }
  EXPECT_FALSE(taken.has({65}));  // nobody listens any more
  EXPECT_FALSE(taken.has_any(asked));
  taken.take({63});
  taken.take({65});
  taken.take({128});
  EXPECT_FALSE(taken.has_any(asked));
  taken.take({64});
  EXPECT_TRUE(taken.has_any(asked));
  EXPECT_FALSE(taken.has_any(EventSet{}));
}

TEST(TakenEvents, EachThreadIsListenedToByItself) {
  TakenEvents taken;
  EventSet own, other;
  const Listening to_this_thread{own};
  std::thread{[&] {
    const Listening to_that_thread{other};
    (void)taken.has({7});
  }}.join();
  (void)taken.has({8});
  taken.take({7});
  EXPECT_FALSE(taken.has_any(own));
  EXPECT_TRUE(taken.has_any(other));
}

}  // namespace
}  // namespace tracelens
