// Loops found by their repeating children.
#include "tree/iterations.hpp"

#include <gtest/gtest.h>

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

TEST(FindIterations, KernelsOfOneOpAreNoLoop) {
  TestTrace t;
  t.python("main", 0, 1000);
  t.op("aten::_foreach_add", 1, 100);
  for (int i = 0; i < 4; ++i)
    t.launch("cudaLaunchKernel", 10 + 5 * i, 1, {.ts = 70.0 + 5 * i, .dur = 5});
  const Trace trace = t.finish();
  EXPECT_TRUE(find_iterations(trace, build_tree(trace, {.python_frames = true})).empty());
}

}  // namespace
}  // namespace tracelens
