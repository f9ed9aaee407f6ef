#include "analysis/rocm/pftrace_activity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <tracelens/read_trace.hpp>

#include "analysis/rocm/pftrace_stats.hpp"

namespace tracelens {
namespace {

std::string kernel(std::string_view name, int ts, int dur, std::string_view agent = "\"Agent-3\"",
                   std::string_view more = "") {
  return R"({"ph":"X","cat":"kernel_dispatch","name":")" + std::string{name} +
         R"(","pid":1,"tid":1,)" + "\"ts\":" + std::to_string(ts) +
         ",\"dur\":" + std::to_string(dur) + ",\"args\":{\"agent\":" + std::string{agent} +
         std::string{more} + "}}";
}
std::string hip(std::string_view name, int ts, int dur, std::string_view args = "") {
  return R"({"ph":"X","cat":"hip_api","name":")" + std::string{name} + R"(","pid":1,"tid":1,)" +
         "\"ts\":" + std::to_string(ts) + ",\"dur\":" + std::to_string(dur) + ",\"args\":{" +
         std::string{args} + "}}";
}
Trace trace_of(std::initializer_list<std::string> events) {
  std::string text;
  for (const std::string& event : events) text += (text.empty() ? "" : ",") + event;
  return read_trace_bytes("inline.json", "{\"traceEvents\":[" + text + "]}");
}
double runtime_ms(const Table& table, std::string_view gpu, std::string_view category) {
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const Value& id = table.column("GPU ID").nested()[row];
    const std::string text = id.is_text() ? id.as_text() : std::to_string(id.as_int());
    if (text == gpu && table.column("Category").texts()[row] == category)
      return table.column("Total runtime (ms)").reals()[row];
  }
  return -1;
}

TEST(ToInteger, ReadsWhatProducersWrite) {
  EXPECT_EQ(to_integer(Value{7.9}), 7);
  EXPECT_EQ(to_integer(Value{-7.9}), -7);
  EXPECT_EQ(to_integer(Value{true}), 1);
  EXPECT_EQ(to_integer(Value{" 1_000 "}), 1000);
  EXPECT_EQ(to_integer(Value{"-3"}), -3);
  EXPECT_EQ(to_integer(Value{"0x10"}), std::nullopt);
  EXPECT_EQ(to_integer(Value{"1e3"}), std::nullopt);
  EXPECT_EQ(to_integer(Value{"_1"}), std::nullopt);
  EXPECT_EQ(to_integer(Value{}), std::nullopt);
  EXPECT_EQ(to_integer(Value{1e30}), std::nullopt);
}

TEST(PftraceEvents, GpusAreNumberedInOrderOfAppearanceTextAndNumberApart) {
  const Trace trace = trace_of({kernel("a", 0, 1, "7"), kernel("b", 0, 1, "\"7\""),
                                kernel("c", 0, 1, "0"), kernel("d", 0, 1, "7")});
  const PftraceEvents events{trace};
  EXPECT_EQ(events.gpu_of({0}), 0u);
  EXPECT_EQ(events.gpu_of({1}), 1u);
  EXPECT_EQ(events.gpu_of({2}), std::nullopt);  // agent 0 is a CPU
  EXPECT_EQ(events.gpu_of({3}), 0u);
  EXPECT_EQ(agent_number(Value{"Agent-12"}), 12);
}

TEST(PftraceEvents, NumbersByAgentHoldForEventsThatNameNone) {
  const Trace trace =
      trace_of({kernel("a", 0, 1, "\"Agent-3\""),
                R"({"ph":"X","cat":"memory_copy","name":"MEMORY_COPY_HOST_TO_DEVICE",
                                    "pid":1,"tid":1,"ts":5,"dur":1,"args":{"device":3}})"});
  EXPECT_EQ(PftraceEvents(trace, Edition::kExtended).gpu_number_of({0}), 3);
  EXPECT_EQ(PftraceEvents(trace, Edition::kExtended).gpu_number_of({1}), 3);
  EXPECT_EQ(PftraceEvents(trace, Edition::kReference).gpu_number_of({0}), 0);
  EXPECT_EQ(PftraceEvents(trace, Edition::kReference).gpu_number_of({1}), std::nullopt);
}

TEST(CategorySummary, AveragesOverTheGpusAndLeavesOutShortEvents) {
  const Trace trace =
      trace_of({kernel("fusion", 0, 10), kernel("fusion", 20, 4), kernel("gemm", 0, 30, "\"x\"")});
  const PftraceEvents events{trace};
  const Table table = category_summary(PftraceActivity{events, {}});
  EXPECT_DOUBLE_EQ(runtime_ms(table, "0", "xla"), 0.010);  // 4 us is below the default of 5 us
  EXPECT_DOUBLE_EQ(runtime_ms(table, "1", "gemm"), 0.030);
  EXPECT_DOUBLE_EQ(runtime_ms(table, "Avg", "total_incl_comm"), 0.020);
}

TEST(CategorySummary, KernelsOfNoTimeCountInOurEdition) {
  const Trace trace =
      trace_of({kernel("gemm", 0, 10), kernel("gemm", 20, 0),
                R"({"ph":"i","name":"gemm","pid":1,"tid":1,"ts":30,"args":{"agent":3}})"});
  const auto kernels = [&](Edition edition) {
    const PftraceEvents events{trace, edition};
    const PftraceActivity activity{events, {.min_event_ns = 0, .edition = edition}};
    return activity.gpus().front().compute.size();
  };
  EXPECT_EQ(kernels(Edition::kExtended), 2u);
  EXPECT_EQ(kernels(Edition::kReference), 1u);
}

TEST(CategorySummary, NumbersGpusByTheirAgentsWhereTheirNamesTell) {
  const auto summary = [](const Trace& trace, Edition edition) {
    const PftraceEvents events{trace, edition};
    return category_summary(PftraceActivity{events, {}});
  };
  const Trace named =
      trace_of({kernel("a", 0, 10, R"("Agent-3")"), kernel("b", 0, 20, R"("Agent-2")")});
  EXPECT_DOUBLE_EQ(runtime_ms(summary(named, Edition::kExtended), "2", "xla"), 0.020);
  EXPECT_DOUBLE_EQ(runtime_ms(summary(named, Edition::kReference), "1", "xla"), 0.020);
  const Trace plain = trace_of({kernel("a", 0, 10, R"("left")"), kernel("b", 0, 20, R"("right")")});
  EXPECT_DOUBLE_EQ(runtime_ms(summary(plain, Edition::kExtended), "1", "xla"), 0.020);
}

TEST(CategorySummary, HiddenCommunicationIsTheTimeInWhichSomethingComputes) {
  // Both kernels run during the communication, 20 us of it at the same time.
  const Trace trace =
      trace_of({kernel("nccl", 100, 100), kernel("a", 110, 40), kernel("b", 130, 40)});
  const PftraceEvents events{trace, Edition::kReference};
  const Table exact = category_summary(PftraceActivity{events, {}});
  EXPECT_DOUBLE_EQ(runtime_ms(exact, "0", "overlapped_comm"), 0.060);
  EXPECT_DOUBLE_EQ(runtime_ms(exact, "0", "non_overlapped_comm"), 0.040);
  const Table summed = category_summary(PftraceActivity{events, {.edition = Edition::kReference}});
  EXPECT_DOUBLE_EQ(runtime_ms(summed, "0", "overlapped_comm"), 0.080);
}

TEST(XlaTop, CountsShortKernelsTooAndMergesNamesWithoutDigits) {
  const Trace trace = trace_of({kernel("fusion_1", 0, 1), kernel("fusion_2", 5, 2),
                                kernel("other", 9, 1), kernel("gemm", 0, 50)});
  const PftraceEvents events{trace};
  const Table table = xla_top(PftraceActivity{events, {.merge_kernels = true, .top_xla = 1}});
  ASSERT_EQ(table.rows(), 1u);
  EXPECT_EQ(table.column("Kernel").texts()[0], "fusion_");
  EXPECT_EQ(table.column("Count").integers()[0], 2);
  EXPECT_DOUBLE_EQ(table.column("Fraction of XLA").reals()[0], 0.75);
}

TEST(PftraceKernelSummary, LaunchConfigurationsAreRowsOfTheirOwn) {
  const Trace trace =
      trace_of({kernel("k", 0, 10, "\"g\"", ",\"grid_size\":64,\"VGPR_Count\":\"8\""),
                kernel("k", 20, 30, "\"g\"", ",\"grid_size\":128"),
                kernel("k", 60, 20, "\"g\"", ",\"grid_size\":128")});
  const PftraceEvents events{trace};
  const Table by_config = pftrace_kernel_summary(PftraceActivity{events, {}});
  ASSERT_EQ(by_config.rows(), 2u);
  EXPECT_EQ(by_config.column("GridX").integers()[0], 128);
  EXPECT_EQ(by_config.column("VGPR").integers()[1], 8);
  EXPECT_EQ(by_config.column("Total Time (ns)").integers()[0], 50'000);
  EXPECT_DOUBLE_EQ(by_config.column("Time %").reals()[0], 50.0 / 60 * 100);
  const Table by_name = pftrace_kernel_summary(PftraceActivity{events, {.group_by_config = false}});
  ASSERT_EQ(by_name.rows(), 1u);
  EXPECT_FALSE(by_name.has_column("GridX"));
  EXPECT_DOUBLE_EQ(by_name.column("Med (ns)").reals()[0], 20'000);
}

TEST(PftraceKernelSummary, FiguresStandThereOnceAndInTheReferenceAlsoAsText) {
  const Trace trace = trace_of({kernel("k", 0, 50, "\"g\"", ",\"grid_size\":64")});
  const PftraceEvents events{trace};
  const Table ours = pftrace_kernel_summary(PftraceActivity{events, {}});
  const Table reference =
      pftrace_kernel_summary(PftraceActivity{events, {.edition = Edition::kReference}});
  EXPECT_EQ(reference.column("Total Time").texts()[0], "50.000 \u03bcs");
  EXPECT_EQ(reference.column("GridXYZ").texts()[0], "     64    1    1");
  for (const Table::Column& column : ours.columns())
    EXPECT_TRUE(reference.has_column(column.spec().name)) << column.spec().name;
  for (const char* twice : {"Time", "Total Time", "Avg", "Med", "Min", "Max", "StdDev", "GridXYZ"})
    EXPECT_FALSE(ours.has_column(twice)) << twice;
}

TEST(HipSummary, StreamsAndOperationsMayMakeRows) {
  const Trace trace = trace_of({hip("hipFree", 0, 6, "\"stream_ID\":2,\"operation\":4"),
                                hip("hipFree", 10, 8, "\"stream_ID\":\"3\"")});
  const PftraceEvents events{trace};
  EXPECT_EQ(hip_summary(PftraceActivity{events, {}}).rows(), 1u);
  const Table table =
      hip_summary(PftraceActivity{events, {.group_by_stream = true, .group_by_operation = true}});
  ASSERT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.column("Stream").integers()[0], 3);
  EXPECT_EQ(table.column("Op").integers()[1], 4);
}

TEST(PftraceActivity, EventsOfOtherThreadsAreLeftOut) {
  const Trace trace = trace_of({kernel("k", 0, 10), hip("hipFree", 0, 10)});
  const PftraceEvents events{trace};
  const PftraceActivity activity{events, {.min_tid = 2}};
  EXPECT_EQ(pftrace_kernel_summary(activity).columns().size(), 0u);
  EXPECT_EQ(hip_summary(activity).columns().size(), 0u);
}

TEST(SortNs, SortsLongListsAsShortOnes) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t factor : {0L, 1L, 7'919L, 1L << 49}) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < 10'000; ++i) values.push_back((i * 7'919 % 10'007 - 3) * factor);
    std::vector<std::int64_t> expected = values;
    std::ranges::sort(expected);
    sort_ns(values);
    EXPECT_EQ(values, expected) << factor;
  }
  std::vector<std::int64_t> extremes(3'000, -1);  // the distance is beyond what is signed
  extremes[7] = std::numeric_limits<std::int64_t>::max();
  extremes[2'999] = kLeast;
  sort_ns(extremes);
  EXPECT_EQ(extremes.front(), kLeast);
  EXPECT_EQ(extremes.back(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(extremes[1], -1);
}

TEST(NsStats, AreExactInNanoseconds) {
  std::vector<std::int64_t> values{5, 1, 3, 11};
  const NsStats stats = ns_stats(values);
  EXPECT_EQ(stats.sum, 20);
  EXPECT_DOUBLE_EQ(stats.mean, 5);
  EXPECT_DOUBLE_EQ(stats.median, 4);
  EXPECT_DOUBLE_EQ(stats.std * stats.std, (16 + 4 + 0 + 36) / 4.0);
  EXPECT_EQ(percentile(values, 50), 3);
  EXPECT_EQ(percentile(values, 99), 11);
  EXPECT_EQ(human_ns(999.9), "999 ns");
  EXPECT_EQ(human_ns(1'234'567), "1.235 ms");
}

}  // namespace
}  // namespace tracelens
