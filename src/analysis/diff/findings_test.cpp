#include "analysis/diff/findings.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/diff/levels.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

OpChange change(const char* name, std::int64_t before, std::int64_t after, ChangeVerdict verdict) {
  return {
      .name = name, .calls = {1, 1}, .kernels = {1, 1}, .ns = {before, after}, .verdict = verdict};
}

TEST(DiffFindings, WithoutStepsAChangeMustStandOutFromTheOpAndFromTheTotal) {
  const std::vector<OpChange> changes = {
      change("one percent", 1'000'000, 1'010'000, ChangeVerdict::kUnknown),
      change("tiny", 100, 200, ChangeVerdict::kUnknown),
  };
  const DiffFindings quiet{changes, {}};
  EXPECT_EQ(quiet.largest(Direction::kSlower), nullptr);
  EXPECT_FALSE(quiet.is_identical());

  const std::vector<OpChange> loud = {
      change("slow", 1'000'000, 1'030'000, ChangeVerdict::kUnknown)};
  ASSERT_NE((DiffFindings{loud, {}}.largest(Direction::kSlower)), nullptr);
  EXPECT_EQ((DiffFindings{loud, {}}.largest(Direction::kFaster)), nullptr);
}

TEST(DiffFindings, WhatTheStepsProveCountsAndWhatTheyCallNoiseDoesNot) {
  const std::vector<OpChange> changes = {
      change("noise", 1'000'000, 1'500'000, ChangeVerdict::kNoise),
      change("proven", 1'000, 1'100, ChangeVerdict::kSlower),
  };
  const DiffFindings findings{changes, {}};
  ASSERT_NE(findings.largest(Direction::kSlower), nullptr);
  EXPECT_EQ(findings.largest(Direction::kSlower)->name, "proven");
}

TEST(DiffFindings, AnExchangeMustStandOutToo) {
  const std::vector<OpChange> changes = {change("mm", 1'000'000, 1'000'000, ChangeVerdict::kSame)};
  const std::vector<Substitution> exchanges = {
      {.where = "op", .removed = "a.kd", .added = "a", .count = 1, .ns = {100, 90}}};
  const DiffFindings findings{changes, exchanges};
  EXPECT_EQ(findings.largest_exchange(Direction::kFaster), nullptr);
  EXPECT_FALSE(findings.is_identical());
  EXPECT_TRUE((DiffFindings{changes, {}}.is_identical()));
}

TEST(DiffFindings, ANewOpIsAFindingUnlessSomethingCameByAnExchange) {
  const std::vector<OpChange> changes = {{.name = "gelu",
                                          .calls = {0, 1},
                                          .kernels = {0, 1},
                                          .ns = {0, 500},
                                          .verdict = ChangeVerdict::kNew}};
  std::vector<Substitution> exchanges = {
      {.where = "op", .removed = "copy", .added = "", .count = 1, .ns = {100, 0}}};
  EXPECT_NE((DiffFindings{changes, exchanges}.largest(Direction::kSlower)), nullptr);
  exchanges[0].added = "gelu";
  EXPECT_EQ((DiffFindings{changes, exchanges}.largest(Direction::kSlower)), nullptr);
}

TEST(DiffFindings, TheCostliestOpIsThatOfAllItsShapesTogether) {
  const std::vector<OpChange> changes = {
      change("mm", 40, 40, ChangeVerdict::kSame),
      change("add", 60, 60, ChangeVerdict::kSame),
      change("mm", 41, 41, ChangeVerdict::kSame),
  };
  const auto cost = DiffFindings{changes, {}}.costliest_op(0);
  ASSERT_TRUE(cost);
  EXPECT_EQ(cost->op, "mm");
  EXPECT_EQ(cost->ns, 81);
}

// Two steps; with `module` a Python frame of that name is open around the op.
Trace annotated(const char* op, double us, const char* module) {
  TestTrace t;
  for (int i = 0; i < 2; ++i) {
    const double at = 100.0 * i;
    t.event(Category::kUserAnnotation, i == 0 ? "ProfilerStep#1" : "ProfilerStep#2", at, 90);
    if (module != nullptr) t.python(module, at + 1, 80);
    t.op(op, at + 2, 20);
    t.launch("cudaLaunchKernel", at + 3, 1, {.name = "k", .ts = 1000 + at, .dur = us});
  }
  return t.finish();
}

TEST(DiffByLevel, StepsAreComparedWhereOpsDifferAndThereAreNoModules) {
  const LevelDiff diff =
      diff_by_level(annotated("aten::mm", 10, nullptr), annotated("CompiledFunction", 7, nullptr));
  ASSERT_EQ(diff.level, DiffLevel::kAnnotation);
  ASSERT_EQ(diff.changes.size(), 1U);
  EXPECT_EQ(diff.changes[0].name, "ProfilerStep");
  EXPECT_EQ(diff.changes[0].calls[0], 2);
  EXPECT_EQ(diff.changes[0].difference_ns(), -6'000);
}

TEST(DiffByLevel, ModulesComeBeforeAnnotations) {
  const LevelDiff diff = diff_by_level(annotated("aten::mm", 10, "nn.Module: Net_0"),
                                       annotated("CompiledFunction", 7, "nn.Module: Net_0"));
  ASSERT_EQ(diff.level, DiffLevel::kModule);
  EXPECT_EQ(diff.changes[0].name, "nn.Module: Net_0");
  EXPECT_EQ(diff.changes[0].difference_ns(), -6'000);
}

TEST(DiffByLevel, NothingInCommonIsNoLevel) {
  TestTrace bare;
  bare.op("aten::mm", 0, 10);
  const Trace other = bare.finish();
  EXPECT_EQ(diff_by_level(annotated("aten::mm", 10, nullptr), other).level, DiffLevel::kNone);
}

}  // namespace
}  // namespace tracelens
