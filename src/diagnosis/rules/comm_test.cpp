#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "analysis/ranks/test_ranks.hpp"
#include "diagnosis/kit/test_run.hpp"

namespace tracelens {

extern const Rule kComm1, kComm2, kComm3, kComm4, kComm5, kComm6, kComm7, kMoe1;

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";

// A GPU-bound run: computation on stream 7, collectives on stream 20.
class CommTrace : public TestTrace {
 public:
  void compute(double ts, double dur) {
    op("aten::mm", host_, 2);
    launch("cudaLaunchKernel", host_, 1, {.name = "gemm", .ts = ts, .dur = dur});
    host_ += 2;
  }
  void reduce(double ts, double dur, double elements = 4e6, std::string_view name = "allreduce") {
    const Launch made = launch("cudaLaunchKernel", host_, 1,
                               {.name = kAllReduce, .ts = ts, .dur = dur, .stream = 20});
    host_ += 2;
    builder().set_details(
        made.gpu,
        builder().intern(
            R"({"Collective name": ")" + std::string{name} +
            R"(", "Process Group Name": "0", "Group size": 8, "dtype": "Float",)" +
            R"( "In msg nelems": )" + std::to_string(static_cast<long long>(elements)) +
            R"(, "Out msg nelems": )" + std::to_string(static_cast<long long>(elements)) + "}"));
  }

 private:
  double host_ = 0;
};

TEST(Comm1, WhatComputationDoesNotHideIsExposed) {
  CommTrace t;
  t.compute(10, 1000);
  t.reduce(510, 1000);  // half of it beside the product
  t.compute(1510, 1000);
  TestRun run{t.finish()};
  const auto draft = run.find(kComm1);
  ASSERT_TRUE(draft);
  EXPECT_NEAR(run.saving_percent(*draft), 20, 2);
  EXPECT_THAT(draft->verdict, HasSubstr("For 0.5 ms"));
  EXPECT_THAT(draft->tries, Contains(HasSubstr("all ranks together")));
}

TEST(Comm1, HiddenCommunicationIsNoFinding) {
  CommTrace t;
  t.compute(10, 1000);
  t.reduce(100, 500);
  t.compute(1010, 1000);
  TestRun run{t.finish()};
  EXPECT_FALSE(run.find(kComm1));
}

TEST(Comm3, TheSameCollectiveWasFasterElsewhere) {
  CommTrace t;
  double at = 10;
  for (int i = 0; i < 4; ++i) {
    t.compute(at, 100);
    t.reduce(at + 100, i == 0 ? 100 : 400);
    at += i == 0 ? 200 : 500;
  }
  TestRun run{t.finish()};
  const auto draft = run.find(kComm3);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->confidence, Confidence::kLow);  // the other ranks are not known
  EXPECT_EQ(draft->where.front().count, 3);
}

TEST(Comm5, ManySmallOnesCouldBeOne) {
  CommTrace t;
  double at = 10;
  for (int i = 0; i < 60; ++i, at += 20) t.reduce(at, 10, 1000);
  t.compute(at, 100);
  TestRun run{t.finish()};
  const auto draft = run.find(kComm5);
  ASSERT_TRUE(draft);
  EXPECT_GT(run.saving_percent(*draft), 20);
}

TEST(Comm6, ARepeatWithoutWorkBetweenIsToldAndALayersGatherIsNot) {
  CommTrace t;
  t.compute(10, 100);
  t.reduce(110, 50);
  t.reduce(160, 50);
  t.compute(210, 100);
  t.reduce(310, 50);
  TestRun run{t.finish()};
  const auto draft = run.find(kComm6);
  ASSERT_TRUE(draft);
  EXPECT_EQ(draft->edit.gpu().size(), 1u);
  CommTrace layers;
  layers.compute(10, 100);
  layers.reduce(110, 50, 4e6, "all_gather");
  layers.reduce(160, 50, 4e6, "all_gather");
  TestRun other{layers.finish()};
  EXPECT_FALSE(other.find(kComm6));
}

TEST(Comm7, DataParallelIsObsoleteAndDistributedIsNot) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "DataParallel.forward", 0, 100);
  add_ops(t, 0, 10, 5);
  TestRun run{t.finish()};
  ASSERT_TRUE(run.find(kComm7));
  TestTrace newer;
  newer.event(Category::kUserAnnotation, "DistributedDataParallel.forward", 0, 100);
  add_ops(newer, 0, 10, 5);
  TestRun other{newer.finish()};
  EXPECT_FALSE(other.find(kComm7));
}

// The first rank of a job.
struct TestJob {
  TestJob(CommTrace& t, const std::vector<std::vector<TestKernel>>& kernels)
      : run{test_run(kernels)}, trace{t.finish()} {}
  [[nodiscard]] std::optional<Draft> find(const Rule& rule) const {
    return rule.find(c, Numbers{rule.id, rule.numbers, settings});
  }

  const CollectiveRun run;
  const JobFacts job{.run = run, .rank = 0};
  const Trace trace;
  const DiagnoseOptions options = {};
  const RuleSettings settings = {};
  const DiagnosisContext c{trace, options, settings, &job};
};

// Three ranks; the last one comes 300 us late to every collective.
TEST(Comm4, OneRankIsLateAndTheOthersWait) {
  CommTrace t;
  std::vector<std::vector<TestKernel>> kernels(3);
  double at = 10;
  for (int i = 0; i < 25; ++i, at += 500) {
    t.compute(at, 100);
    t.reduce(at + 100, 400);
    for (int rank = 0; rank < 3; ++rank)
      kernels[static_cast<std::size_t>(rank)].push_back({.ts = at + 100 + (rank == 2 ? 300 : 0),
                                                         .dur = rank == 2 ? 100.0 : 400.0,
                                                         .members = "[0, 1, 2]",
                                                         .group_size = 3,
                                                         .seq = i});
  }
  const TestJob job{t, kernels};
  for (const Rule* rule : {&kComm4, &kComm2}) {
    const auto draft = job.find(*rule);
    ASSERT_TRUE(draft) << rule->id;
    EXPECT_NEAR(job.c.share(job.c.saving_ns(draft->edit)), 60, 3) << rule->id;
  }
  EXPECT_THAT(job.find(kComm4)->verdict, HasSubstr("Rank 2 comes last to 25"));
  const auto exposed = job.find(kComm1);
  ASSERT_TRUE(exposed);
  EXPECT_THAT(exposed->verdict, HasSubstr("For 7.50 ms of it the rank waits for others"));
  EXPECT_THAT(exposed->tries.front(), HasSubstr("COMM-4"));
  EXPECT_THAT(exposed->tries, Not(Contains(HasSubstr("all ranks together"))));
}

// Two ranks; of every four parts that go, the first sends three.
TEST(Moe1, ExchangesInWhichOneRankSendsMost) {
  const auto find = [](std::int64_t first, std::int64_t second) {
    CommTrace t;
    std::vector<std::vector<TestKernel>> kernels(2);
    double at = 10;
    for (int i = 0; i < 4; ++i, at += 500) {
      t.compute(at, 100);
      t.reduce(at + 100, 300, static_cast<double>(first), "all_to_allv");
      for (const std::int64_t elements : {first, second})
        kernels[elements == first ? 0 : 1].push_back({.name = "all_to_allv",
                                                      .ts = at + 100,
                                                      .dur = 300,
                                                      .elements = elements,
                                                      .seq = i,
                                                      .splits = "[1, 1]"});
    }
    return TestJob{t, kernels}.find(kMoe1);
  };
  const auto draft = find(3'000'000, 1'000'000);
  ASSERT_TRUE(draft);
  EXPECT_THAT(draft->verdict, HasSubstr("In 4 all-to-all exchanges"));
  EXPECT_THAT(draft->verdict, HasSubstr("1.50 times the mean"));
  EXPECT_EQ(draft->edit.gpu().size(), 4U);
  EXPECT_FALSE(find(2'000'001, 1'999'999));
}

TEST(Comm4, NothingIsSaidOfOneRankAlone) {
  CommTrace t;
  t.compute(10, 100);
  t.reduce(110, 400);
  TestRun run{t.finish()};
  EXPECT_FALSE(run.find(kComm4));
  EXPECT_FALSE(run.find(kComm2));
}

}  // namespace
}  // namespace tracelens
