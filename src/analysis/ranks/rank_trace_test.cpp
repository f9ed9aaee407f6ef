#include "analysis/ranks/rank_trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/collectives.hpp>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>

#include "analysis/ranks/rank_bytes.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Trace trace_of(const std::string& events, const std::string& head = "") {
  const std::string text = "{" + head + R"("traceEvents": [)" + events + "]}";
  return read_trace_bytes("test.json", text);
}

std::string kernel(const std::string& name, double ts, double dur, const std::string& args) {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": 7, "ts": )" +
         std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) + R"(, "args": {)" + args + "}}";
}

TEST(SummarizeRank, KeepsLinkedCommunicationKernelsOnly) {
  const RankTrace rank = summarize_rank(
      trace_of(kernel("ncclDevKernel_X", 1, 2, R"("correlation": 1, "stream": 20)") + "," +
               kernel("ncclDevKernel_X", 5, 2, R"("stream": 20)") + "," +  // launched by nobody
               kernel("gemm", 9, 2, R"("correlation": 2)")),
      {});
  ASSERT_THAT(rank.kernels, SizeIs(1));
  EXPECT_EQ(rank.kernels[0].ts_ns, 1000);
  EXPECT_EQ(rank.message(rank.kernels[0]).stream, Value{20});
  EXPECT_EQ(rank.unlinked_kernels, 1u);
}

TEST(SummarizeRank, KnowsTheFormatAndTheGpu) {
  const RankTrace rank = summarize_rank(
      trace_of("", R"("deviceProperties": [{"id": 0, "name": "NVIDIA H200"}],)"), {});
  EXPECT_EQ(rank.format, "kineto");
  EXPECT_EQ(rank.device_name, "NVIDIA H200");
}

TEST(SummarizeRank, ReadsTheMessageTheSequenceNumberAndThePeer) {
  const RankTrace rank = summarize_rank(
      trace_of(kernel("ncclDevKernel_SendRecv", 1, 2,
                      R"("correlation": 1, "Collective name": "send", "Process Group Name": 3,
                         "Seq": 41, "Dst Rank": 5)")),
      {});
  ASSERT_THAT(rank.kernels, SizeIs(1));
  EXPECT_EQ(rank.kernels[0].sequence, 41);
  EXPECT_EQ(rank.kernels[0].peer, 5);
  EXPECT_EQ(rank.message(rank.kernels[0])[CollectiveField::kCollective], Value{"send"});
  EXPECT_EQ(rank.message(rank.kernels[0])[CollectiveField::kGroupName], Value{"3"});
}

TEST(SummarizeRank, ExposedIsWhatNoComputationCovers) {
  const RankTrace rank =
      summarize_rank(trace_of(kernel("ncclDevKernel_X", 10, 10, R"("correlation": 1)") + "," +
                              kernel("gemm", 5, 9, R"("correlation": 2)")),  // until 14
                     {});
  EXPECT_EQ(rank.kernels.at(0).exposed_ns, 6000);
  ASSERT_THAT(rank.steps, SizeIs(1));
  EXPECT_EQ(rank.steps[0].total_ns, 15000);
  EXPECT_EQ(rank.steps[0].exposed_comm_ns, 6000);
  EXPECT_EQ(rank.steps[0].idle_ns, 0);
}

// One process with two GPUs: what one computes hides nothing of what the other one sends.
TEST(SummarizeRank, ExposedIsWhatTheSameGpuDoesNotCover) {
  const auto on = [](int device, const std::string& name, double ts) {
    return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": )" +
           std::to_string(device) + R"(, "tid": 7, "ts": )" + std::to_string(ts) +
           R"(, "dur": 10, "args": {"correlation": 1, "device": )" + std::to_string(device) + "}}";
  };
  const RankTrace rank =
      summarize_rank(trace_of(on(0, "ncclDevKernel_X", 10) + "," + on(1, "gemm", 12) + "," +
                              on(0, "gemm", 22) + "," + on(1, "ncclDevKernel_X", 16)),
                     {});
  ASSERT_THAT(rank.kernels, SizeIs(2));
  EXPECT_EQ(rank.kernels[0].exposed_ns, 10'000);
  EXPECT_EQ(rank.kernels[1].exposed_ns, 4'000);  // its own product runs until 22
  const RankTrace one =
      summarize_rank(trace_of(on(0, "ncclDevKernel_X", 10) + "," + on(1, "gemm", 12)), {});
  ASSERT_THAT(one.kernels, SizeIs(1));
  EXPECT_EQ(one.kernels[0].exposed_ns, 10'000);
}

TEST(SummarizeRank, MarkedStepsHaveTimesOfTheirOwn) {
  const RankTrace rank = summarize_rank(
      trace_of(
          kernel("gemm", 10, 10, R"("correlation": 1)") + "," +
          kernel("gemm", 30, 10, R"("correlation": 2)") + "," +
          R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 1, "tid": 1,
                   "ts": 25, "dur": 20})"),
      {});
  ASSERT_THAT(rank.steps, SizeIs(2));
  EXPECT_EQ(rank.steps[1].name, "ProfilerStep#4");
  EXPECT_EQ(rank.steps[1].computation_ns, 10000);
  EXPECT_EQ(rank.steps[1].idle_ns, 10000);
}

TEST(SummarizeRank, ManyStepsThatAllSpanTheTraceTakeLinearTime) {
  constexpr int kSteps = 30'000;
  std::string events = kernel("gemm", 0, 1, "");
  for (int i = 1; i < kSteps; ++i)
    events += "," + kernel("gemm", 2 * i, 1, "") +
              R"(,{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#)" +
              std::to_string(i) + R"(", "pid": 1, "tid": 1, "ts": 1, "dur": 60000})";
  const RankTrace rank = summarize_rank(trace_of(events), {});
  ASSERT_THAT(rank.steps, SizeIs(kSteps));
  EXPECT_EQ(rank.steps[7].name, "ProfilerStep#7");
  EXPECT_EQ(rank.steps[7].computation_ns, (kSteps - 1) * 1000);
}

TEST(BusyTimes, WithinAWindowIsWhatBothHave) {
  const BusyTimes times{{{10, 20}, {30, 40}, {50, 60}}};
  EXPECT_EQ(times.within({0, 100}), 30);
  EXPECT_EQ(times.within({15, 55}), 20);
  EXPECT_EQ(times.within({32, 35}), 3);
  EXPECT_EQ(times.within({20, 30}), 0);
  EXPECT_EQ(times.within({60, 70}), 0);
  EXPECT_EQ(BusyTimes{}.within({0, 100}), 0);
}

TEST(SummarizeRank, KnowsWhatRanAndWhatTheHostWasInWhileNothingRan) {
  const RankTrace rank = summarize_rank(
      trace_of(R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 2,
                   "dur": 3, "args": {"External id": 8}},
                  {"ph": "X", "cat": "cpu_op", "name": "aten::item", "pid": 1, "tid": 1, "ts": 20,
                   "dur": 50, "args": {"External id": 9}},)" +
               kernel("gemm", 10, 10, R"("External id": 8)") + "," +
               kernel("copy_kernel", 60, 10, R"("correlation": 2)")),
      {});
  const auto what = [&](std::int64_t from, std::int64_t to) {
    return *rank.activity.busiest_in({from, to}).value().what;
  };
  EXPECT_EQ(what(10'000, 20'000), "aten::mm");
  EXPECT_EQ(what(25'000, 50'000), "idle, host in aten::item");
  EXPECT_EQ(what(62'000, 68'000), "copy_kernel");
  EXPECT_FALSE(rank.activity.busiest_in({100'000, 110'000}));
}

TEST(SummarizeRank, OfSeveralHostThreadsTheOneThatBeganLastIsTold) {
  const auto op = [](const char* name, int tid, double ts, double dur) {
    return R"({"ph": "X", "cat": "cpu_op", "name": ")" + std::string{name} +
           R"(", "pid": 1, "tid": )" + std::to_string(tid) + R"(, "ts": )" + std::to_string(ts) +
           R"(, "dur": )" + std::to_string(dur) + "},";
  };
  const RankTrace rank = summarize_rank(
      trace_of(op("first", 1, 5, 400) + op("second", 2, 5, 400) + op("late", 3, 110, 20) +
               kernel("gemm", 0, 10, "") + "," + kernel("gemm", 100, 10, "") + "," +
               kernel("gemm", 130, 10, "") + "," + kernel("gemm", 200, 10, "")),
      {});
  const auto what = [&](std::int64_t from, std::int64_t to) {
    return *rank.activity.busiest_in({from, to}).value().what;
  };
  EXPECT_EQ(what(20'000, 90'000), "idle, host in first");
  EXPECT_EQ(what(112'000, 128'000), "idle, host in late");
  EXPECT_EQ(what(150'000, 190'000), "idle, host in first");
}

TEST(SummarizeRank, ManyHostThreadsBesideManyGapsTakeLinearTime) {
  std::string events = kernel("gemm", 0, 1, "");
  for (int i = 1; i < 20'000; ++i)
    events += "," + kernel("gemm", 20 * i, 1, "") +
              R"(,{"ph": "X", "cat": "cpu_op", "name": "wait", "pid": 1, "tid": )" +
              std::to_string(i) + R"(, "ts": 0, "dur": 1000000})";
  const RankTrace rank = summarize_rank(trace_of(events), {});
  EXPECT_EQ(*rank.activity.busiest_in({2'000, 19'000}).value().what, "idle, host in wait");
}

TEST(SummarizeRank, NamesCollectivesOfOtherLibraries) {
  const Trace trace = trace_of(
      kernel("void vllm::cross_device_reduce_1stage<float>()", 1, 2, R"("correlation": 1)") + "," +
      kernel("quickreduce::allreduce_prototype()", 3, 2, R"("correlation": 2)") + "," +
      kernel("my_own_gather", 5, 2, R"("correlation": 3)"));
  const auto names = [](const RankTrace& rank) {
    std::vector<std::string> all;
    for (const CollectiveKernel& kernel : rank.kernels)
      all.push_back(rank.message(kernel)[CollectiveField::kCollective].as_text());
    return all;
  };
  EXPECT_THAT(names(summarize_rank(trace, {.edition = Edition::kReference})),
              ElementsAre("allreduce"));
  EXPECT_THAT(names(summarize_rank(trace, {})), ElementsAre("allreduce", "allreduce"));
  EXPECT_THAT(names(summarize_rank(trace, {.patterns = {{"OWN_gather", "all_gather"}}})),
              ElementsAre("allreduce", "allreduce", "all_gather"));
  EXPECT_THROW(static_cast<void>(summarize_rank(trace, {.patterns = {{"(", "x"}}})), Error);
}

TEST(SummarizeRank, ArgumentsMayStandOnTheHost) {
  const RankTrace rank = summarize_rank(
      trace_of(R"({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1, "tid": 1,
                   "ts": 0, "dur": 1, "args": {"External id": 4, "Collective name": "broadcast"}},)" +
               kernel("ncclKernel", 5, 2, R"("External id": 4)")),
      {});
  EXPECT_EQ(rank.message(rank.kernels.at(0))[CollectiveField::kCollective], Value{"broadcast"});
}

TEST(SummarizeRank, ReadsWhoItIsFromTheHead) {
  const RankTrace rank =
      summarize_rank(trace_of("", R"("deviceProperties": [{}, {}], "baseTimeNanoseconds": 7,
                      "distributedInfo": {"rank": 3, "world_size": 8, "pg_config": [
                        {"pg_name": "0", "ranks": [0, 1], "pg_size": 2}]},)"),
                     {});
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.world_size, 8);
  EXPECT_EQ(rank.device_count, 2);
  EXPECT_EQ(rank.base_ns, 7);
  ASSERT_THAT(rank.groups, SizeIs(1));
  EXPECT_THAT(rank.groups[0].ranks.expand(), ElementsAre(0, 1));
  EXPECT_THAT(rank.steps, IsEmpty());
}

TEST(RankBytes, ComeBackAsTheyWere) {
  std::vector<RankTrace> ranks{summarize_rank(
      trace_of(kernel("ncclDevKernel_X", 10, 10,
                      R"("correlation": 1, "Process Group Ranks": [0, 1], "Group size": 2)") +
                   "," + kernel("gemm", 5, 9, R"("correlation": 2)"),
               R"("distributedInfo": {"rank": 3, "world_size": 8},)"),
      {})};
  ranks.push_back({.file = "b.json", .problem = "b.json: cut"});
  const std::string bytes = to_bytes(ranks);
  const std::vector<RankTrace> same = ranks_from_bytes(bytes);
  ASSERT_THAT(same, SizeIs(2));
  EXPECT_EQ(to_bytes(same), bytes);
  EXPECT_EQ(same[0].messages, ranks[0].messages);
  EXPECT_EQ(same[0].activity.stretches, ranks[0].activity.stretches);
  EXPECT_EQ(same[1].problem, "b.json: cut");
}

TEST(RankBytes, CutBytesAreRefused) {
  const std::string bytes = to_bytes(std::vector<RankTrace>(1));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(static_cast<void>(ranks_from_bytes(bytes.substr(0, size))), PeerError) << size;
  EXPECT_THROW(static_cast<void>(ranks_from_bytes(bytes + "x")), PeerError);
}

}  // namespace
}  // namespace tracelens
