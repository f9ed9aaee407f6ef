#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/diagnose.hpp>
#include <tracelens/error.hpp>

#include "diagnosis/kit/figures.hpp"
#include "diagnosis/kit/test_run.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A batch is fetched, 50 small ops run, 150 more of an optimizer.
Trace slow_run(int steps) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < steps; ++step) {
    t.event(Category::kUserAnnotation,
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, 1500);
    const double forward = add_ops(t, start + 1500, 50, 2);
    const double end = add_ops(t, forward, 150, 2, "aten::mul_");
    t.event(Category::kUserAnnotation, "Optimizer.step#SGD.step", forward, end - forward);
    add_step(t, step, start, end);
    start = end;
  }
  return t.finish();
}

std::vector<std::string> ids_of(const Diagnosis& diagnosis) {
  std::vector<std::string> ids;
  for (const Finding& finding : diagnosis.findings) ids.push_back(finding.id);
  return ids;
}

TEST(Diagnose, SpecificCausesComeBeforeTheGenericOne) {
  const Diagnosis diagnosis = diagnose(slow_run(3));
  EXPECT_THAT(ids_of(diagnosis), testing::ElementsAre("DATA-1", "OPT-1", "HOST-1"));
}

TEST(Diagnose, NoTimeIsSavedTwice) {
  const Diagnosis diagnosis = diagnose(slow_run(3));
  std::int64_t sum = 0;
  for (const Finding& finding : diagnosis.findings) {
    sum += finding.saving_ns;
    EXPECT_LE(finding.alone.low_ns, finding.alone.mid_ns);
    EXPECT_LE(finding.alone.mid_ns, finding.alone.high_ns);
  }
  EXPECT_EQ(sum, diagnosis.saving_all_ns);
  EXPECT_LE(sum, diagnosis.corrected_ns);
}

// Rules that others leave less to than there was when several threads asked them all at once.
TEST(Diagnose, ThreadsDoNotChangeWhatRulesTakeFromEachOther) {
  // Elementwise ops in a chain, two of them slow: one rule would fuse all, another mend the slow ones.
  const Value size = shape({64, 1024, 1024});
  std::vector<TestOp> ops;
  for (const bool is_slow : {false, false, false, true, true})
    ops.push_back({.name = is_slow ? "aten::add" : "aten::mul",
                   .dims = {size, size},
                   .types = {"c10::BFloat16", "c10::BFloat16"},
                   .us = is_slow ? 400.0 : 100.0});
  const GpuChoice kH200{.name = "H200"};
  const Trace run = run_of(ops, 4, "nn.Module: Gelu_0");
  const Diagnosis alone = diagnose(run, {.threads = 1, .gpu = kH200}),
                  together = diagnose(run, {.threads = 6, .gpu = kH200});
  EXPECT_THAT(ids_of(alone), testing::ElementsAre("FUSE-1"));
  EXPECT_THAT(ids_of(diagnose(run, {.gpu = kH200, .skip = {"FUSE-1"}})),
              testing::ElementsAre("ELEM-1"));
  ASSERT_EQ(ids_of(together), ids_of(alone));
  for (std::size_t i = 0; i < alone.findings.size(); ++i) {
    const Finding &one = alone.findings[i], &other = together.findings[i];
    EXPECT_EQ(other.verdict, one.verdict);
    EXPECT_EQ(other.gpu_saving_ns, one.gpu_saving_ns) << one.id;
    EXPECT_EQ(other.alone.mid_ns, one.alone.mid_ns) << one.id;
  }
}

// Both look at the modules of kernels: what one remembered while the other looked would be a race.
TEST(Diagnose, ChainsAndEpiloguesAreLookedForAtTheSameTime) {
  const Value size = shape({4096, 4096});
  std::vector<TestOp> ops{
      {.name = "aten::mm",
       .dims = {shape({4096, 1024}), shape({1024, 4096})},
       .types = {"c10::BFloat16", "c10::BFloat16"},
       .kernel = "nvjet_tst_128x128"},
      {.name = "aten::gelu", .dims = {size}, .types = {"c10::BFloat16"}, .us = 50}};
  for (const char* name : {"aten::mul", "aten::pow", "aten::add", "aten::tanh"})
    ops.push_back({.name = name,
                   .dims = {size, size},
                   .types = {"c10::BFloat16", "c10::BFloat16"},
                   .us = 100});
  const Trace run = run_of(ops, 10, "nn.Module: Mlp_0");
  const std::vector<std::string> rules{"FUSE-*"};
  const auto ids = ids_of(diagnose(run, {.threads = 1, .gpu = {.name = "H200"}, .only = rules}));
  EXPECT_FALSE(ids.empty());
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(ids_of(diagnose(run, {.threads = 4, .gpu = {.name = "H200"}, .only = rules})), ids);
}

// Every number of a verdict is the text of some evidence.
TEST(Diagnose, NumbersOfVerdictsAreEvidence) {
  for (const Finding& finding : diagnose(slow_run(3)).findings) {
    std::string text = finding.verdict;
    for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != text.npos;) {
      const std::size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
      std::string number = text.substr(at, end - at);
      while (number.ends_with('.')) number.pop_back();
      const bool is_proved = std::ranges::any_of(finding.evidence, [&](const Evidence& row) {
        return figure(row.value, row.unit).starts_with(number);
      });
      EXPECT_TRUE(is_proved) << finding.id << ": " << number << " in " << text;
      at = end;
    }
  }
}

TEST(Diagnose, RulesAreChosenByName) {
  EXPECT_THAT(ids_of(diagnose(slow_run(3), {.only = {"DATA-*"}})), testing::ElementsAre("DATA-1"));
  EXPECT_THAT(ids_of(diagnose(slow_run(3), {.skip = {"DATA-1", "OPT-1"}})),
              testing::ElementsAre("HOST-1"));
  EXPECT_THROW((void)diagnose(slow_run(3), {.only = {"NONE-1"}}), Error);
}

TEST(Diagnose, AFileOfRulesSetsNumbersAndNothingElse) {
  const io::TemporaryFolder folder;
  const std::string file = folder.write("rules.json", R"({"DATA-1.least_pct": 90})");
  EXPECT_THAT(ids_of(diagnose(slow_run(3), {.rules_file = file})),
              testing::Not(testing::Contains("DATA-1")));
  const std::string unknown = folder.write("unknown.json", R"({"DATA-1.most_pct": 90})");
  EXPECT_THROW(check_options(DiagnoseOptions{.rules_file = unknown}), Error);
}

TEST(Diagnose, FewStepsLowerTheConfidence) {
  const Diagnosis two = diagnose(slow_run(2)), three = diagnose(slow_run(3));
  ASSERT_FALSE(two.findings.empty());
  EXPECT_LT(two.findings.front().confidence, three.findings.front().confidence);
  EXPECT_EQ(two.quality.front().id, "TQ-1");
}

TEST(Diagnose, TracesWithoutGpuWorkHaveNoFindings) {
  EXPECT_THAT(diagnose(TestTrace{}.finish()).findings, IsEmpty());
  TestTrace host;
  host.op("aten::add", 0, 10);
  EXPECT_THAT(diagnose(host.finish()).verdict, HasSubstr("no GPU work"));
  TestTrace one;
  one.gpu({.ts = 0, .dur = 5});
  EXPECT_THAT(diagnose(one.finish()).findings, IsEmpty());
}

TEST(Diagnose, AHealthyRunSaysWhatBoundsIt) {
  TestTrace t;
  const double end = add_ops(t, 0, 100, 200);
  add_step(t, 1, 0, end);
  const Diagnosis diagnosis = diagnose(t.finish());
  EXPECT_THAT(diagnosis.findings, IsEmpty());
  EXPECT_THAT(diagnosis.verdict, HasSubstr("Nothing worth changing above 5%"));
}

// Busy from its first to its last kernel, which is a small part of each step.
TEST(Diagnose, AGpuThatWorksForAPartOfTheStepsIsNotCalledBusy) {
  TestTrace t;
  for (int step = 0; step < 3; ++step) {
    const double start = 1000.0 * step;
    t.launch("cudaLaunchKernel", start + 1, 2, {.ts = start + 10, .dur = 50});
    add_step(t, step, start, start + 1000);
  }
  const Diagnosis diagnosis = diagnose(t.finish());
  EXPECT_THAT(diagnosis.verdict, HasSubstr("No rule names a cause above 5%"));
  EXPECT_THAT(diagnosis.verdict, HasSubstr("of the window"));
}

// The GPU's fills are hidden by the host, whatever else is mended: nothing locks them.
TEST(Diagnose, WhatNothingUnlocksIsNotToldToComeAfterTheFirst) {
  TestTrace t;
  double start = 0;
  for (int step = 0; step < 3; ++step) {
    t.event(Category::kUserAnnotation,
            "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, 1500);
    double end = add_ops(t, start + 1500, 50, 2);
    end = add_ops(t, end, 20, 2, "aten::zero_", "__amd_rocclr_fillBufferAligned.kd");
    add_step(t, step, start, end);
    start = end;
  }
  const Diagnosis diagnosis = diagnose(t.finish(), {.only = {"DATA-1", "ROCM-1"}});
  EXPECT_THAT(ids_of(diagnosis), testing::ElementsAre("DATA-1"));
}

}  // namespace
}  // namespace tracelens
