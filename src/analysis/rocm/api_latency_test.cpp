#include "analysis/rocm/api_latency.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <utility>

namespace tracelens {
namespace {

std::string event(std::string_view category, std::string_view name, int ts, int dur,
                  std::string_view args) {
  return R"({"ph":"X","pid":1,"tid":2,"cat":")" + std::string{category} + R"(","name":")" +
         std::string{name} + "\",\"ts\":" + std::to_string(ts) + ",\"dur\":" + std::to_string(dur) +
         ",\"args\":{" + std::string{args} + "}}";
}
Trace trace_of(std::initializer_list<std::string> events) {
  std::string text;
  for (const std::string& each : events) text += (text.empty() ? "" : ",") + each;
  return read_trace_bytes("inline.json", "{\"traceEvents\":[" + text + "]}");
}

TEST(IsLaunchApi, NamesThatLaunchKernels) {
  EXPECT_TRUE(is_launch_api("hipExtLaunchMultiKernelMultiDevice"));
  EXPECT_TRUE(is_launch_api("hipMemset"));
  EXPECT_FALSE(is_launch_api("hipGraphLaunch"));
  EXPECT_FALSE(is_launch_api("hipKernelLaunch"));  // the words in this order are no launch
}

TEST(ApiLaunches, TheWaitIsFromTheEndOfTheCallToTheStartOfTheKernel) {
  const Trace trace = trace_of({event("hip_api", "hipLaunchKernel", 100, 10, "\"corr_id\":1"),
                                event("kernel_dispatch", "k.kd", 130, 5, "\"corr_id\":1"),
                                event("hip_api", "hipLaunchKernel", 200, 10, "\"corr_id\":2"),
                                event("kernel_dispatch", "k.kd", 204, 5, "\"corr_id\":2")});
  const PftraceEvents events{trace};
  const auto launches = find_api_launches(events, {});
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(wait_ns(trace, launches[0]), 20'000);
  EXPECT_EQ(wait_ns(trace, launches[1]), 0);  // it began before the call returned
  const Table table = api_kernel_summary(events, launches);
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_DOUBLE_EQ(table.column("TAvg_ns").reals()[0], (35'000 + 15'000) / 2.0);
  EXPECT_EQ(table.column("QMax_ns").integers()[0], 20'000);
}

// The events are told to be of thread 2, the arguments of the calls name the threads that made them.
TEST(ApiLaunches, TheThreadIsTheCallersAndInTheReferenceTheOneThatIsTold) {
  const Trace trace = trace_of({event("hip_api", "hipLaunchKernel", 0, 1, R"("corr_id":1,"tid":2)"),
                                event("hip_api", "hipLaunchKernel", 5, 1, R"("corr_id":2,"tid":8)"),
                                event("kernel", "k", 10, 1, R"("corr_id":1)"),
                                event("kernel", "k", 20, 1, R"("corr_id":2)")});
  const auto tids = [&](Edition edition) {
    const PftraceEvents events{trace, edition};
    const auto launches = find_api_launches(events, {});
    EXPECT_EQ(launches.size(), 2u);
    return std::pair{events.tid(launches[0].call), events.tid(launches[1].call)};
  };
  EXPECT_EQ(tids(Edition::kExtended), std::pair(std::optional{2L}, std::optional{8L}));
  EXPECT_EQ(tids(Edition::kReference), std::pair(std::optional{2L}, std::optional{2L}));
}

TEST(ApiLaunches, OneKernelPerCallUnlessAllAreWanted) {
  const Trace trace = trace_of({event("hip_api", "hipLaunchKernel", 0, 1, "\"corr_id\":1"),
                                event("kernel", "late", 20, 1, "\"correlation_id\":\"1\""),
                                event("kernel", "early", 10, 1, "\"CorrId\":1,\"deviceId\":4")});
  const PftraceEvents events{trace};
  const auto first = find_api_launches(events, {});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].kernel, EventId{2});
  EXPECT_EQ(api_kernel_summary(events, first).column("DevId").integers()[0], 4);
  EXPECT_EQ(find_api_launches(events, {.all_kernels = true}).size(), 2u);
}

TEST(ApiLaunches, IdsMayComeInAnyOrderAndMoreThanOnce) {
  const Trace trace = trace_of({event("kernel", "c", 90, 1, "\"corr_id\":3"),
                                event("hip_api", "hipLaunchKernel", 50, 1, "\"corr_id\":3"),
                                event("hip_api", "hipLaunchKernel", 10, 1, "\"corr_id\":1"),
                                event("kernel", "b", 80, 1, "\"corr_id\":2"),
                                event("hip_api", "hipFree", 60, 1, "\"corr_id\":4"),
                                event("hip_api", "hipLaunchKernel", 70, 1, "\"corr_id\":2"),
                                event("hip_api", "hipLaunchKernel", 20, 1, "\"corr_id\":3"),
                                event("kernel", "a", 30, 1, "\"corr_id\":1")});
  const PftraceEvents events{trace};
  const auto launches = find_api_launches(events, {.other_calls = true});
  ASSERT_EQ(launches.size(), 4u);  // of two calls with one id the last counts, where the first is
  EXPECT_EQ(launches[0].call, EventId{6});
  EXPECT_EQ(launches[0].kernel, EventId{0});
  EXPECT_EQ(launches[1].kernel, EventId{7});
  EXPECT_FALSE(launches[2].kernel.valid());
  EXPECT_EQ(launches[3].kernel, EventId{3});
}

TEST(ApiKernelSummary, ThreadsAndKernelsAreWhatTheyAreCalledHoweverWritten) {
  std::string text_as_thread = event("hip_api", "hipLaunchKernel", 50, 3, "\"corr_id\":2");
  text_as_thread.replace(text_as_thread.find("\"tid\":2"), 7, "\"tid\":\"2\"");
  const Trace trace =
      trace_of({event("hip_api", "hipLaunchKernel", 0, 1, "\"corr_id\":1"),
                event("kernel", "k", 10, 1, "\"corr_id\":1"), text_as_thread,
                event("kernel", "launch 2", 60, 1, R"("corr_id":2,"kernel_name":"k")")});
  const PftraceEvents events{trace};
  const Table table = api_kernel_summary(events, find_api_launches(events, {}));
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.column("TID").integers()[0], 2);
  EXPECT_EQ(table.column("Count").integers()[0], 2);
  EXPECT_EQ(table.column("AMax_ns").integers()[0], 3'000);
  EXPECT_EQ(table.column("Kernel Name").texts()[0], "k");
}

TEST(ApiLaunches, KernelsWithoutATimeDoNotHideTheOthers) {
  const Trace trace = trace_of({event("hip_api", "hipLaunchKernel", 0, 1, "\"corr_id\":1"),
                                R"({"ph":"X","cat":"x","name":"untimed.kd","args":{"corr_id":1}})",
                                event("kernel", "timed", 20, 1, "\"corr_id\":1")});
  const PftraceEvents events{trace};
  const auto launches = find_api_launches(events, {});
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].kernel, EventId{2});
}

TEST(ApiLaunches, OtherCallsAndExcludedKernelsOnlyWhenAskedFor) {
  const Trace trace =
      trace_of({event("hip_api", "hipFree", 0, 3, "\"corr_id\":1"),
                event("hip_api", "hipLaunchKernel", 10, 1, "\"corr_id\":2"),
                event("kernel", "x::redzone_checker_kernel<1>", 20, 1, "\"corr_id\":2")});
  const PftraceEvents events{trace};
  EXPECT_TRUE(find_api_launches(events, {}).empty());
  const auto all = find_api_launches(events, {.exclude_kernels = "", .other_calls = true});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_FALSE(all[0].kernel.valid());
  const Table table = api_kernel_summary(events, all);
  EXPECT_EQ(table.column("QCount").integers()[0], 0);  // hipFree
  EXPECT_DOUBLE_EQ(table.column("TAvg_ns").reals()[0], 0);
  EXPECT_THROW((void)find_api_launches(events, {.exclude_kernels = "("}), Error);
}

TEST(QueueDelay, TellsThePercentilesPerGpuAndStream) {
  std::string list;
  for (int i = 0; i < 100; ++i) {
    const std::string id = "\"corr_id\":" + std::to_string(i);
    if (i > 0) list += ",";
    list += event("hip_api", "hipLaunchKernel", 1000 * i, 1, id) + ",";
    list += event("kernel_dispatch", "k", 1000 * i + 1 + i, 1,
                  id + ",\"agent\":\"Agent-2\",\"stream_ID\":5");
  }
  const Trace trace = read_trace_bytes("inline.json", "{\"traceEvents\":[" + list + "]}");
  const PftraceEvents events{trace};
  const auto table = queue_delay(events, find_api_launches(events, {}));
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows(), 1u);
  EXPECT_EQ(table->column("GPU").integers()[0], 2);  // the number of the agent
  EXPECT_EQ(table->column("stream").integers()[0], 5);
  EXPECT_EQ(table->column("started at once").integers()[0], 1);  // waits are 0 to 99 us
  EXPECT_DOUBLE_EQ(table->column("p50").reals()[0], 49);
  EXPECT_DOUBLE_EQ(table->column("p99").reals()[0], 98);
  EXPECT_DOUBLE_EQ(table->column("max").reals()[0], 99);
}

}  // namespace
}  // namespace tracelens
