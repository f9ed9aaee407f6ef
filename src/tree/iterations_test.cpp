// Loops found by their repeating children.
#include "tree/iterations.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tracelens/tree.hpp>
#include <vector>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

std::vector<StringId> names(std::string_view letters) {
  std::vector<StringId> out;
  for (const char letter : letters) out.push_back({static_cast<std::uint32_t>(letter)});
  return out;
}

struct RepeatsCase {
  std::string_view letters;
  bool found;
  Repeats expected;
};

TEST(FindRepeats, NeedsThreeBlocksThatFillMoreThanHalfOfTheRest) {
  constexpr RepeatsCase kCases[] = {
      {"xabababz", true, {1, 2, 3}}, {"aaab", true, {0, 1, 3}},      {"aab", false, {}},
      {"aaabcdefgh", false, {}},     {"abcdaaa", true, {4, 1, 3}},   {"", false, {}},
      {"abcabcab", false, {}},       {"abcabcabc", true, {0, 3, 3}},
  };
  for (const RepeatsCase& c : kCases) {
    const auto found = find_repeats(names(c.letters));
    ASSERT_EQ(found.has_value(), c.found) << c.letters;
    if (!found) continue;
    EXPECT_EQ(found->start, c.expected.start) << c.letters;
    EXPECT_EQ(found->period, c.expected.period) << c.letters;
    EXPECT_EQ(found->count, c.expected.count) << c.letters;
  }
}

TEST(FindRepeats, ALongListWithoutALoopTakesLinearTime) {
  std::vector<StringId> many;
  for (std::uint32_t i = 0; i < 100'000; ++i) many.push_back({i});
  EXPECT_FALSE(find_repeats(many));
}

// main() { setup; 3 x { data; step }; }, the steps launch work.
TEST(FindIterations, BlocksRunFromTheirFirstCallToTheEndOfTheirLast) {
  TestTrace t;
  t.python("main", 0, 1000);
  t.python("setup", 1, 50);
  for (int i = 0; i < 3; ++i) {
    const double at = 100 + 100 * i;
    t.python("data", at, 10);
    t.python("step", at + 20, 30);
    t.launch("cudaLaunchKernel", at + 22, 1, {.ts = at + 30, .dur = 5});
  }
  const Trace trace = t.finish();
  const Tree tree = build_tree(trace, {.python_frames = true});
  const auto iterations = find_iterations(trace, tree);
  ASSERT_EQ(iterations.size(), 3u);
  EXPECT_EQ(trace.name(iterations[1].first), "data");
  EXPECT_EQ(iterations[1].ts_ns, 200'000);
  EXPECT_EQ(iterations[1].dur_ns, 50'000);
}

TEST(FindIterations, RepeatedCallsWithoutGpuWorkAreNoLoop) {
  TestTrace t;
  t.python("main", 0, 1000);
  for (int i = 0; i < 3; ++i) t.python("get_properties", 10 + i, 1);
  t.python("work", 50, 100);
  t.launch("cudaLaunchKernel", 60, 1, {.ts = 70, .dur = 5});
  const Trace trace = t.finish();
  EXPECT_TRUE(find_iterations(trace, build_tree(trace, {.python_frames = true})).empty());
}

// main() { encoder { 4 x layer }; 3 x step }: the layers hold less than half of the work.
TEST(FindIterations, LayersOfAPartOfTheRunAreNoSteps) {
  TestTrace t;
  t.python("main", 0, 10'000);
  t.python("encoder", 1, 500);
  const auto call = [&](std::string_view name, double at, double gpu_us) {
    t.python(name, at, 50);
    t.launch("cudaLaunchKernel", at + 2, 1, {.ts = at + 5, .dur = gpu_us});
  };
  for (int i = 0; i < 4; ++i) call("layer", 10 + 100 * i, 20);
  t.python("denoise", 600, 2000);
  for (int i = 0; i < 3; ++i) call("step", 650 + 500 * i, 300);
  {
    const Trace trace = t.finish();
    EXPECT_TRUE(find_iterations(trace, build_tree(trace, {.python_frames = true})).empty());
  }
  // Where the steps launch most, they are found behind the layers.
  TestTrace more;
  more.python("main", 0, 10'000);
  more.python("encoder", 1, 500);
  for (int i = 0; i < 4; ++i) {
    more.python("layer", 10 + 100 * i, 50);
    more.launch("cudaLaunchKernel", 12 + 100 * i, 1, {.ts = 15.0 + 100 * i, .dur = 20});
  }
  more.python("denoise", 600, 2000);
  for (int i = 0; i < 5; ++i) {
    more.python("step", 650 + 200 * i, 50);
    more.launch("cudaLaunchKernel", 652 + 200 * i, 1, {.ts = 655.0 + 200 * i, .dur = 100});
  }
  const Trace trace = more.finish();
  const auto found = find_iterations(trace, build_tree(trace, {.python_frames = true}));
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(trace.name(found.front().first), "step");
}

TEST(FindIterations, KernelsOfOneOpAreNoLoop) {
  TestTrace t;
  t.python("main", 0, 1000);
  t.op("aten::_foreach_add", 1, 100);
  for (int i = 0; i < 4; ++i)
    t.launch("cudaLaunchKernel", 10 + 5 * i, 1, {.ts = 70.0 + 5 * i, .dur = 5});
  const Trace trace = t.finish();
  EXPECT_TRUE(find_iterations(trace, build_tree(trace, {.python_frames = true})).empty());
}

// Calls below main by letter; small ones launch nothing.
std::vector<std::string> reference_iterations(std::string_view calls) {
  TestTrace t;
  t.python("main", 0, 10'000);
  double at = 10;
  for (const char call : calls) {
    t.python(std::string{call}, at, 50);
    t.op("aten::op", at + 1, 10);
    t.launch("cudaLaunchKernel", at + 2, 1, {.ts = at + 30, .dur = 5});
    at += 100;
  }
  const Trace trace = t.finish();
  std::vector<std::string> found;
  for (const auto& [first, ts_ns, dur_ns] :
       find_reference_iterations(trace, build_tree(trace, {.python_frames = true})))
    found.push_back(std::string{trace.name(first)} + std::to_string(ts_ns / 100'000) + "+" +
                    std::to_string((dur_ns + 50'000) / 100'000));
  return found;
}

TEST(ReferenceIterations, TakeEveryRepetitionOfTheBlocksFirstAndLastCall) {
  using Found = std::vector<std::string>;
  EXPECT_EQ(reference_iterations("sabababt"), (Found{"a1+2", "a3+2", "a5+2"}));
  EXPECT_EQ(reference_iterations("aaab"), (Found{"a0+1", "a1+1", "a2+1"}));
  EXPECT_EQ(reference_iterations("aaaba"), (Found{"a0+1", "a1+1", "a2+1", "a4+1"}));
  EXPECT_EQ(reference_iterations("abab"), Found{});
}

TEST(ReferenceIterations, KernelsOfACallAreNoLoopButItsOpsAre) {
  TestTrace t;
  t.op("aten::step", 0, 1000);
  for (int i = 0; i < 3; ++i) {
    t.op("aten::mm", 10 + 100 * i, 50);
    for (int k = 0; k < 4; ++k)
      t.launch("cudaLaunchKernel", 11 + 100 * i + k, 0.5, {.ts = 70.0 + 100 * i + 5 * k, .dur = 5});
  }
  const Trace trace = t.finish();
  EXPECT_EQ(find_reference_iterations(trace, build_tree(trace, {.python_frames = true})).size(),
            3u);
}

}  // namespace
}  // namespace tracelens
