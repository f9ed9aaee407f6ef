#include "analysis/rocm/kernel_counters.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <vector>

#include "analysis/rocm/pftrace_events.hpp"

namespace tracelens {
namespace {

// A timeline as Perfetto's converter writes it: kernels with their arguments.
struct Kernel {
  std::string_view name;
  int us;  // how long it ran
  std::string_view args;
};
Trace timeline(std::initializer_list<Kernel> kernels) {
  std::string events;
  for (const Kernel& kernel : kernels)
    events += fmt::format(
        R"({}{{"ph":"X","cat":"kernel_dispatch","name":"{}","pid":1,"tid":1,"ts":{},"dur":{},)"
        R"("args":{{"agent":"Agent-2","VGPR_Count":8,"grid_size":7.5{}}}}})",
        events.empty() ? "" : ",", kernel.name, 100, kernel.us, kernel.args);
  return read_trace_bytes("t.json", "{\"traceEvents\":[" + events + "]}");
}
std::vector<std::string> texts(const Table& table, std::string_view column) {
  const auto cells = table.column(column).texts();
  return {cells.begin(), cells.end()};
}

TEST(KernelCounters, OneRowPerKernelAndCounterTheLongestKernelFirst) {
  const Trace trace = timeline({{"short", 1, R"(,"SQ_WAVES":10.0)"},
                                {"long", 3, R"(,"SQ_WAVES":4.0,"FETCH_SIZE":2.5)"},
                                {"long", 3, R"(,"SQ_WAVES":6.0,"FETCH_SIZE":0.5)"}});
  const auto table = kernel_counters(RocprofKernels{trace});
  ASSERT_TRUE(table);
  EXPECT_EQ(texts(*table, "name"), (std::vector<std::string>{"long", "long", "short"}));
  EXPECT_EQ(texts(*table, "counter"),
            (std::vector<std::string>{"FETCH_SIZE", "SQ_WAVES", "SQ_WAVES"}));
  EXPECT_EQ(table->column("Count").integers()[1], 2);
  EXPECT_EQ(table->column("Sum").reals()[1], 4 + 6);
  EXPECT_EQ(table->column("Mean").reals()[1], 5);
  EXPECT_EQ(table->column("Min").reals()[1], 4);
  EXPECT_EQ(table->column("Max").reals()[1], 6);
  EXPECT_DOUBLE_EQ(table->column("Total Kernel Time (ms)").reals()[1], 0.006);
}

TEST(KernelCounters, LaunchesThatWereNotMeasuredCountInTheTimeOnly) {
  const Trace trace = timeline({{"k", 1, R"(,"SQ_WAVES":-2.0)"}, {"k", 4, ""}});
  const auto table = kernel_counters(RocprofKernels{trace});
  ASSERT_TRUE(table);
  EXPECT_EQ(table->column("Count").integers()[0], 1);
  EXPECT_EQ(table->column("Max").reals()[0], -2);
  EXPECT_DOUBLE_EQ(table->column("Total Kernel Time (ms)").reals()[0], 0.005);
}

TEST(KernelCounters, IsNotThereWhenNothingWasCounted) {
  const Trace trace = timeline({{"k", 1, ""}, {"k", 1, R"(,"SGPR_Count":16.0,"DevId":1.0)"}});
  EXPECT_FALSE(kernel_counters(RocprofKernels{trace}));
}

TEST(PftraceEvents, LaunchesThatDifferInCountersOnlyShareTheirArguments) {
  const Trace trace = timeline({{"k", 1, R"(,"SQ_WAVES":1.0)"},
                                {"k", 1, R"(,"SQ_WAVES":2.0)"},
                                {"k", 1, R"(,"SQ_WAVES":2.0,"SGPR_Count":16)"}});
  const PftraceEvents events{trace};
  EXPECT_EQ(&events.args({0}), &events.args({1}));
  EXPECT_NE(&events.args({1}), &events.args({2}));
  EXPECT_EQ(events.args({2}).sgpr, 16);
}

TEST(KernelCounters, AreTheSameFromResultsOfRocprofv3) {
  const auto counted = [](int dispatch, int waves) {
    return fmt::format(R"({{"dispatch_data":{{"dispatch_info":{{"dispatch_id":{}}}}},)"
                       R"("records":[{{"counter_id":{{"handle":4}},"value":{}}}]}})",
                       dispatch, waves);
  };
  const Trace trace = read_trace_bytes(
      "x_results.json",
      R"({"rocprofiler-sdk-tool":[{"counters":[{"id":{"handle":4},"name":"SQ_WAVES"}],)"
      R"("kernel_symbols":[{"kernel_id":1,"kernel_name":"k"}],)"
      R"("callback_records":{"counter_collection":[)" +
          counted(1, 4) + "," + counted(2, 6) +
          R"(]},"buffer_records":{"kernel_dispatch":[)"
          R"({"start_timestamp":0,"end_timestamp":3000,"dispatch_info":{"kernel_id":1,"dispatch_id":1}},)"
          R"({"start_timestamp":0,"end_timestamp":3000,"dispatch_info":{"kernel_id":1,"dispatch_id":2}}]}}]})");
  const auto results = kernel_counters(RocprofKernels{trace});
  const Trace twin = timeline({{"k", 3, R"(,"SQ_WAVES":4.0)"}, {"k", 3, R"(,"SQ_WAVES":6.0)"}});
  const auto converted = kernel_counters(RocprofKernels{twin});
  ASSERT_TRUE(results && converted);
  ASSERT_EQ(results->rows(), 1u);
  for (const auto* column : {"Sum", "Mean", "Min", "Max", "Total Kernel Time (ms)"})
    EXPECT_EQ(results->column(column).reals()[0], converted->column(column).reals()[0]) << column;
}

}  // namespace
}  // namespace tracelens
