#include "analysis/database/database_events.hpp"

#include <gtest/gtest.h>

#include <tracelens/trace_builder.hpp>

namespace tracelens {
namespace {

// Events of one thread, and a kernel for each call.
class ThreadOfCalls {
 public:
  void add_range(const char* name, std::int64_t start_ns, std::int64_t end_ns) {
    append(Category::kUserAnnotation, name, Track{7, 9}, start_ns, end_ns, kAbsent);
  }
  void add_call(std::int64_t start_ns, std::int64_t end_ns) {
    append(Category::kCudaRuntime, "launch", Track{7, 9}, start_ns, end_ns, ++calls_);
    append(Category::kKernel, "gemm", Track{0, 1}, end_ns, end_ns + 1, calls_);
  }
  // The range around each call, in the order of the calls; "" for none.
  std::vector<std::string> ranges_of_calls() && {
    const Trace trace = std::move(builder_).finish();
    const DatabaseEvents events{trace};
    std::vector<std::string> names;
    for (const DatabaseEvents::GpuEvent& kernel : events.gpu())
      names.emplace_back(kernel.range == kNoRange
                             ? std::string_view{}
                             : trace.name(events.ranges()[kernel.range].event));
    return names;
  }

 private:
  void append(Category category, const char* name, const Track& track, std::int64_t start_ns,
              std::int64_t end_ns, std::int64_t correlation) {
    (void)builder_.append({.phase = Phase::kComplete,
                           .category = category,
                           .name = builder_.intern(name),
                           .track = builder_.intern(track),
                           .ts_ns = start_ns,
                           .dur_ns = end_ns - start_ns,
                           .correlation = correlation});
  }
  TraceBuilder builder_;
  std::int64_t calls_ = 0;
};

TEST(DatabaseEvents, ACallThatOverlapsTheEndOfItsRangeDoesNotEndIt) {
  ThreadOfCalls thread;
  thread.add_range("outer", 0, 100);
  thread.add_range("inner", 10, 50);
  thread.add_call(40, 60);   // over the end of the inner range
  thread.add_call(45, 50);   // which goes on
  thread.add_call(90, 110);  // over the end of both
  thread.add_call(95, 100);
  thread.add_call(101, 102);
  EXPECT_EQ(std::move(thread).ranges_of_calls(),
            (std::vector<std::string>{"outer", "inner", "", "outer", ""}));
}

TEST(DatabaseEvents, RangesThatOverlapDoNotPileUp) {
  ThreadOfCalls thread;
  for (int i = 0; i < 500; ++i) thread.add_range(i % 2 == 0 ? "even" : "odd", i * 10, i * 10 + 15);
  thread.add_call(4'991, 4'992);
  thread.add_range("after", 6'000, 6'010);
  thread.add_call(6'001, 6'002);
  EXPECT_EQ(std::move(thread).ranges_of_calls(), (std::vector<std::string>{"odd", "after"}));
}

TEST(DatabaseEvents, DeepNestingIsKept) {
  ThreadOfCalls thread;
  for (int i = 0; i < 1000; ++i) thread.add_range(i == 999 ? "last" : "range", i, 10'000 - i);
  thread.add_call(5'000, 5'001);
  EXPECT_EQ(std::move(thread).ranges_of_calls(), std::vector<std::string>{"last"});
}

// A file could ask for any number of steps: deep ranges with a call in each.
TEST(DatabaseEvents, NestingThatCostsTooMuchIsCut) {
  ThreadOfCalls thread;
  constexpr int kRanges = 40'000;
  for (int i = 0; i < kRanges; ++i) thread.add_range("range", i, 3 * kRanges - i);
  for (int i = 0; i < 50; ++i) thread.add_call(kRanges + i, kRanges + i + 1);
  EXPECT_EQ(std::move(thread).ranges_of_calls(), std::vector<std::string>(50, "range"));
}

}  // namespace
}  // namespace tracelens
