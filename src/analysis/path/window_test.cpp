#include "analysis/path/window.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using ::testing::ElementsAre;

// Steps of these lengths, each with a launch.
Trace steps_of(const std::vector<double>& lengths) {
  TestTrace t;
  double start = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    t.event(Category::kUserAnnotation, "ProfilerStep#" + std::to_string(i + 4), start, lengths[i]);
    t.launch("cudaLaunchKernel", start + 1, 5, {.ts = start + 10, .dur = 20});
    start += lengths[i];
  }
  return t.finish();
}

std::vector<std::string> names_in(const Trace& trace, std::string_view choice) {
  const TraceFacts facts{trace};
  std::vector<std::string> names;
  for (const Step& step : choose_window(facts, choice).steps) names.push_back(step.name);
  return names;
}

TEST(Window, LeadingStepsThatTakeLongerAreWarmUp) {
  EXPECT_THAT(names_in(steps_of({500, 100, 110, 100}), "steady"),
              ElementsAre("ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7"));
  EXPECT_THAT(names_in(steps_of({100, 500, 110, 100}), "steady"), testing::SizeIs(4));
}

TEST(Window, AtLeastHalfOfTheStepsStay) {
  EXPECT_THAT(names_in(steps_of({500, 200, 100}), "steady"),
              ElementsAre("ProfilerStep#5", "ProfilerStep#6"));
  EXPECT_THAT(names_in(steps_of({900, 500, 200, 100}), "steady"),
              ElementsAre("ProfilerStep#6", "ProfilerStep#7"));
}

TEST(Window, OfTwoStepsNoneIsDropped) {
  EXPECT_THAT(names_in(steps_of({500, 100}), "steady"), testing::SizeIs(2));
}

TEST(Window, StepsAreChosenByTheirNumbers) {
  const Trace trace = steps_of({100, 100, 100});
  EXPECT_THAT(names_in(trace, "5-6"), ElementsAre("ProfilerStep#5", "ProfilerStep#6"));
  EXPECT_THAT(names_in(trace, "4"), ElementsAre("ProfilerStep#4"));
  EXPECT_THROW(names_in(trace, "9"), Error);
  EXPECT_THROW(check_step_choice("a-b"), Error);
}

}  // namespace
}  // namespace tracelens
