#include "report/split/windows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Steps that decode: {how many, requests of each}.
std::vector<StepDetails> decoding(std::initializer_list<std::pair<int, int>> runs) {
  std::vector<StepDetails> steps;
  for (const auto& [count, requests] : runs)
    for (int i = 0; i < count; ++i)
      steps.push_back({.batch_size = requests,
                       .context_requests = 0,
                       .context_sum = 0,
                       .generation_requests = requests,
                       .generation_sum = requests});
  return steps;
}

StepDetails prefill_of(std::int64_t requests) {
  return {.batch_size = 64 * requests,
          .context_requests = requests,
          .context_sum = 64 * requests,
          .generation_requests = 0,
          .generation_sum = 0,
          .phase = ServingPhase::kPrefill};
}

using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
Pairs regions(const std::vector<StepDetails>& steps, std::size_t window, Edition edition) {
  Pairs pairs;
  for (const auto& [first, end] : steady_regions(steps, window, edition))
    pairs.emplace_back(first, end);
  return pairs;
}

TEST(SteadyRegions, OfTheReference) {
  constexpr Edition kTheirs = Edition::kReference;
  EXPECT_EQ(regions(decoding({{4, 2}, {30, 20}}), 32, kTheirs), (Pairs{{4, 33}}));
  EXPECT_EQ(regions(decoding({{6, 2}, {20, 20}, {6, 2}}), 16, kTheirs), (Pairs{{6, 31}}));
  EXPECT_EQ(regions(decoding({{6, 20}}), 32, kTheirs), (Pairs{{0, 5}}));
}

TEST(SteadyRegions, OursBeginAndEndWithBusySteps) {
  constexpr Edition kOurs = Edition::kExtended;
  EXPECT_EQ(regions(decoding({{4, 2}, {30, 20}}), 32, kOurs), (Pairs{{4, 34}}));
  EXPECT_EQ(regions(decoding({{6, 2}, {20, 20}, {6, 2}}), 16, kOurs), (Pairs{{6, 26}}));
  EXPECT_EQ(regions(decoding({{8, 20}, {5, 2}, {8, 20}, {6, 2}, {7, 20}}), 16, kOurs),
            (Pairs{{0, 21}, {27, 34}}));
  // Six scattered steps are no region: the middle of the run stands in.
  EXPECT_EQ(regions(decoding({{1, 20}, {9, 2}, {1, 20}, {9, 2}, {4, 20}}), 16, kOurs),
            (Pairs{{4, 20}}));
}

TEST(SteadyRegions, ShortRunsHaveTheirMiddle) {
  for (const Edition edition : {Edition::kReference, Edition::kExtended}) {
    EXPECT_EQ(regions(decoding({{1, 3}}), 32, edition), (Pairs{{0, 1}}));
    EXPECT_EQ(regions(decoding({{2, 3}}), 32, edition), (Pairs{{1, 2}}));
    EXPECT_EQ(regions({}, 32, edition), Pairs{});
  }
}

TEST(SteadyWindows, AreTypicalOnesAndTheLongestRunsOfEachPhase) {
  std::vector<StepDetails> steps = decoding({{40, 8}});
  for (const std::size_t i : {3u, 20u, 21u, 30u}) steps[i] = prefill_of(8);
  const Region all{0, 40};
  const auto windows = steady_windows(steps, {&all, 1}, {.steps = 10});
  ASSERT_EQ(windows.size(), 3u);
  EXPECT_EQ(windows[0].kind, WindowKind::kSteadyMixed);
  EXPECT_EQ(windows[0].steps.size(), 10u);
  // One step in ten, as in the whole run.
  std::size_t with_context = 0;
  for (const std::uint32_t step : windows[0].steps)
    with_context += steps[step].context_requests > 0;
  EXPECT_EQ(with_context, 1u);
  EXPECT_EQ(windows[1].kind, WindowKind::kSteadyDecode);
  EXPECT_EQ(windows[1].steps.front(), 4u);
  EXPECT_EQ(windows[1].steps.size(), 10u);
  EXPECT_EQ(windows[2].kind, WindowKind::kSteadyPrefill);
  EXPECT_THAT(windows[2].steps, ElementsAre(20, 21));
}

TEST(SteadyWindows, AShortRegionIsTakenWhole) {
  const auto steps = decoding({{5, 8}});
  const Region all{0, 5};
  const auto windows = steady_windows(steps, {&all, 1}, {.steps = 10});
  ASSERT_EQ(windows.size(), 2u);  // nothing is prefilled
  EXPECT_EQ(windows[0].steps.size(), 5u);
}

TEST(SteadyWindows, TheLoadTellsHowLongATypicalWindowIs) {
  auto steps = decoding({{100, 8}});
  for (std::size_t i = 0; i < 100; i += 25) steps[i] = prefill_of(8);
  const Region all{0, 100};
  const SteadyOptions load{.steps = 10, .concurrency = 8, .output_tokens = 400, .length_ratio = 1};
  // Two new requests in 50 steps: every 25th.
  EXPECT_EQ(steady_windows(steps, {&all, 1}, load)[0].steps.size(), 50u);
  const SteadyOptions absurd{
      .steps = 10, .concurrency = 1, .output_tokens = 1e300, .length_ratio = 7};
  EXPECT_EQ(steady_windows(steps, {&all, 1}, absurd)[0].steps.size(), 100u);
}

TEST(PhaseWindows, AreRunsOfThePhase) {
  auto steps = decoding({{6, 8}});
  steps[2] = prefill_of(1);
  steps[4] = {.generation_requests = 0, .generation_sum = 0, .phase = ServingPhase::kNone};
  const Region all{0, 6};
  const auto ours = phase_windows(steps, {&all, 1}, Edition::kExtended);
  ASSERT_EQ(ours.size(), 4u);
  EXPECT_EQ(ours[1].kind, WindowKind::kPhasePrefill);
  EXPECT_THAT(ours[2].steps, ElementsAre(3));
  EXPECT_THAT(ours[3].steps, ElementsAre(5));
  EXPECT_EQ(ours[3].number, 2u);
  const auto theirs = phase_windows(steps, {&all, 1}, Edition::kReference);
  ASSERT_EQ(theirs.size(), 3u);
  EXPECT_EQ(theirs[1].kind, WindowKind::kPhaseMixed);
  EXPECT_THAT(theirs[2].steps, ElementsAre(3, 5));  // across the idle step
  EXPECT_THAT(phase_windows({}, {}, Edition::kExtended), IsEmpty());
}

TEST(SteadyWindows, OfTrainingOrDiffusionDecodeNothing) {
  for (const char* name : {"ProfilerStep#3", "execute_diffusion_2_8x8"}) {
    const std::vector<StepDetails> steps(9, step_details(name, Edition::kExtended));
    const Region all{0, 9};
    EXPECT_EQ(steady_windows(steps, {&all, 1}, {.steps = 4}).size(), 1u) << name;
  }
  const std::vector<StepDetails> steps(3,
                                       step_details("execute_diffusion_2_8x8", Edition::kExtended));
  const Region all{0, 3};
  const auto windows = phase_windows(steps, {&all, 1}, Edition::kExtended);
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].kind, WindowKind::kPhaseDenoise);
}

TEST(WindowSummary, CountsPhasesAndCutsAverages) {
  auto steps = decoding({{2, 8}});
  steps.push_back(prefill_of(1));
  const WindowSummary summary = summarize(steps);
  EXPECT_EQ(summary.decode, 2u);
  EXPECT_EQ(summary.prefill, 1u);
  EXPECT_EQ(summary.average_batch, 26);  // (8 + 8 + 64) / 3
  EXPECT_EQ(summary.average_requests, 5);
  EXPECT_EQ(summarize({}).average_batch, 0);
}

TEST(StepDetails, OfANameThatSaysNothingIsOneDecodedToken) {
  const StepDetails step = step_details("ProfilerStep#3", Edition::kReference);
  EXPECT_EQ(step.batch_size, 1);
  EXPECT_EQ(step.requests(), 1);
  EXPECT_EQ(step.phase, ServingPhase::kDecode);
  EXPECT_EQ(step_details("execute_diffusion_2_8x8", Edition::kReference).requests(), 0);
  const StepDetails diffusion = step_details("execute_diffusion_2_8x8", Edition::kExtended);
  EXPECT_EQ(diffusion.requests(), 2);
  EXPECT_EQ(diffusion.phase, ServingPhase::kDenoise);
  // Ours calls it by what it is.
  const StepDetails training = step_details("ProfilerStep#3", Edition::kExtended);
  EXPECT_EQ(training.requests(), 0);
  EXPECT_EQ(training.phase, ServingPhase::kNone);
  EXPECT_EQ(summarize(std::vector{diffusion, training}).other, 2u);
}

}  // namespace
}  // namespace tracelens
