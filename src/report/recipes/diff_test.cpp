// The performance note: what it says, and that it does not contradict itself.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/compare.hpp>
#include <tracelens/read_trace.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Op {
  const char* name;
  double us;
};

// Ops one after the other, each with one kernel.
TestTrace program(std::initializer_list<Op> ops) {
  TestTrace t;
  t.builder().source().recorder = Recorder::kPyTorch;
  double at = 0;
  for (const Op& op : ops) {
    t.op(op.name, at, 50);
    t.launch("cudaLaunchKernel", at + 1, 1, {.name = op.name, .ts = 1e6 + at, .dur = op.us});
    at += 100;
  }
  return t;
}

std::string note(Trace first, Trace second) { return diff_traces(first, second).note; }

TEST(DiffNote, WorkLaunchedOutsideModulesIsInTheTimelineOfAJaxProfileAsInItsReport) {
  TestTrace t = program({{"jit_f", 10}});
  t.builder().source().recorder = Recorder::kJax;
  t.gpu({.name = "MemcpyH2D", .ts = 2e6, .dur = 5, .category = Category::kGpuMemcpy});
  const Trace trace = t.finish();
  const Table timeline = *make_report(trace).find("gpu_timeline");
  double total = 0;
  for (std::size_t row = 0; row < timeline.rows(); ++row)
    if (timeline.column("type").texts()[row] == "total_time")
      total = timeline.column("time ms").reals()[row];
  EXPECT_GT(total, 1000);  // it reaches to the copy
  EXPECT_THAT(diff_traces(trace, trace).note,
              HasSubstr(fmt::format("| total_time | {:.3f} | {:.3f} |", total, total)));
}

TEST(DiffNote, ChangesThatTwoRecordingsDifferByAreNoFinding) {
  const std::string text = note(program({{"aten::mm", 1000}, {"aten::add", 500}}).finish(),
                                program({{"aten::mm", 1001}, {"aten::add", 501}}).finish());
  EXPECT_THAT(text, AllOf(HasSubstr("Nothing notable changed"), Not(HasSubstr("Biggest")),
                          Not(HasSubstr("- Time `")), HasSubstr("No op got notably slower")));
}

TEST(DiffNote, ARealChangeIsNamedAlsoWithoutSteps) {
  const std::string text = note(program({{"aten::mm", 1000}, {"aten::add", 500}}).finish(),
                                program({{"aten::mm", 1000}, {"aten::add", 600}}).finish());
  EXPECT_THAT(text, HasSubstr("**Biggest regression:** `aten::add` went from 0.500 to 0.600 ms"));
  EXPECT_THAT(text, Not(HasSubstr("Biggest improvement")));
}

TEST(DiffNote, ATraceAndItselfAreIdenticalThroughoutTheNote) {
  const auto trace = [] { return program({{"aten::mm", 1000}}).finish(); };
  EXPECT_THAT(note(trace(), trace()),
              AllOf(HasSubstr("**Identical:**"), HasSubstr("Identical to the nanosecond"),
                    Not(HasSubstr("unknown")), Not(HasSubstr("Ops that changed most")),
                    Not(HasSubstr("Too few steps")), Not(HasSubstr("noise"))));
}

TEST(DiffNote, RunsWithOtherOpsAreComparedByAnnotation) {
  const auto annotated = [](std::initializer_list<Op> ops) {
    TestTrace t = program(ops);
    t.event(Category::kUserAnnotation, "forward", 0, 10'000);
    return t.finish();
  };
  const std::string text = note(annotated({{"aten::mm", 1000}, {"aten::gelu", 500}}),
                                annotated({{"CompiledFunction", 1200}}));
  EXPECT_THAT(text, HasSubstr("By user annotation:** `forward` went from 1.500 to 1.200 ms"));
  EXPECT_THAT(text, HasSubstr("Compared by op and by user annotation: 0.0% of the GPU time"));
}

TEST(DiffNote, TracesWithoutOpsHaveANoteToo) {
  const auto kernels = [](double us) {
    TestTrace t;
    t.builder().source().recorder = Recorder::kPyTorch;
    t.gpu({.name = "gemm", .ts = 0, .dur = us});
    t.gpu({.name = "relu", .ts = 5000, .dur = 10});
    return t.finish();
  };
  const TraceDiff diff = diff_traces(kernels(1000), kernels(1500));
  EXPECT_FALSE(diff.aligned);
  EXPECT_THAT(diff.note, AllOf(HasSubstr("# Performance note"), HasSubstr("## The two runs"),
                               HasSubstr("## GPU timeline"), HasSubstr("| total_time |"),
                               HasSubstr("`gemm` | 1.000 | 1.500 | +0.500 | +50.0% |")));
}

const std::vector<std::string> kPair = {"tests/data/h200_pair_base.json.gz",
                                        "tests/data/h200_pair_math.json.gz"};

TEST(DiffPage, CallsTheRunsByTheirFiles) {
  const Trace base = read_trace(kPair[0]), changed = read_trace(kPair[1]);
  const TraceDiff diff =
      diff_traces(base, changed, {.edition = Edition::kExtended, .page = PageOptions{}});
  EXPECT_EQ(diff.report.title, "h200_pair_base → h200_pair_math");
  ASSERT_NE(diff.report.page, nullptr);
  EXPECT_EQ(diff.report.page->groups,
            (std::vector<std::string>{"h200_pair_base", "h200_pair_math"}));
}

TEST(ComparePage, HasLanesOfTracesAndTheirVerdict) {
  const Comparison two = compare_reports(kPair, {.report = {.page = PageOptions{}}});
  ASSERT_NE(two.report.page, nullptr);
  EXPECT_EQ(two.report.page->groups.size(), 2U);
  EXPECT_FALSE(two.report.page->lanes.empty());
  ASSERT_TRUE(two.report.overview);
  EXPECT_THAT(two.report.overview->verdict,
              HasSubstr("h200_pair_math is 91.4% slower than h200_pair_base."));
  EXPECT_FALSE(two.report.overview->advice.empty());
  EXPECT_NE(two.report.find("what_changed"), nullptr);
  EXPECT_EQ(compare_reports(kPair).report.page, nullptr);
}

}  // namespace
}  // namespace tracelens
