#include "io/check.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <tracelens/machine.hpp>

#include "io/threads.hpp"

namespace tracelens::io {
namespace {

TEST(Check, AFailureNamesFileLineAndCondition) {
  EXPECT_NO_THROW(TL_CHECK(1 + 1 == 2));
  const int line = __LINE__ + 2;
  try {
    TL_CHECK(1 + 1 == 3);
    FAIL() << "passed a false condition";
  } catch (const InternalError& error) {
    EXPECT_EQ(error.what(), "check_test.cpp:" + std::to_string(line) + ": expected 1 + 1 == 3");
  }
}

TEST(ThreadCount, APositiveRequestIsTakenAsItIs) { EXPECT_EQ(thread_count(13), 13); }

TEST(ThreadCount, ZeroMeansTheCpusThisProcessMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(thread_count(0), usable_cpus());
  EXPECT_LE(usable_cpus(), CPU_COUNT(&before));  // less in a container with a quota
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(thread_count(0), 1);
  EXPECT_EQ(thread_count(-1), 1);
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace tracelens::io
