// Hardware counters in the files of rocprofv3, joined to the dispatches they were measured in.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>

#include "readers/kit/dump.hpp"
#include "trace/counter_name.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kTables =
    R"("metadata": {"pid": 7}, "agents": [], "strings": {},
       "kernel_symbols": [{"kernel_id": 1, "kernel_name": "add", "arch_vgpr_count": 8}],
       "counters": [{"id": {"handle": 40}, "name": "SQ_WAVES"}, {"id": {"handle": 41}, "name": "no \"name\""}])";
constexpr std::string_view kDispatches =
    R"("buffer_records": {"kernel_dispatch": [
         {"start_timestamp": 10, "end_timestamp": 20, "dispatch_info": {"kernel_id": 1, "dispatch_id": 1}},
         {"start_timestamp": 30, "end_timestamp": 40, "correlation_id": {"internal": 5},
          "dispatch_info": {"kernel_id": 1, "dispatch_id": 2}}]})";

// What was counted in a dispatch: `values` are elements of its list.
std::string counted(std::string_view dispatch_data, std::string_view values) {
  return fmt::format(R"({{"thread_id": 3, "dispatch_data": {{{}}}, "records": [{}]}})",
                     dispatch_data, values);
}
std::string counted_in(int dispatch, std::string_view values) {
  return counted(fmt::format(R"("start_timestamp": 50, "end_timestamp": 70,
                                "dispatch_info": {{"kernel_id": 1, "dispatch_id": {}}})",
                             dispatch),
                 values);
}
std::string value(int handle, std::string_view number) {
  return fmt::format(R"({{"counter_id": {{"handle": {}}}, "value": {}}})", handle, number);
}
std::string callbacks(std::initializer_list<std::string> records) {
  return fmt::format(R"("callback_records": {{"counter_collection": [{}]}})",
                     fmt::join(records, ","));
}
std::string file_of(std::initializer_list<std::string_view> members) {
  return fmt::format(R"({{"rocprofiler-sdk-tool": [{{{}}}]}})", fmt::join(members, ","));
}
Trace read(const std::string& text) { return read_trace_bytes("run_results.json", text); }

const Value* counter(const Trace& trace, EventId event, std::string_view name = "SQ_WAVES") {
  static Value details;
  details = trace.details(event);
  return details.find(name);
}

TEST(RocprofCounters, AreArgumentsOfTheDispatchTheyWereMeasuredIn) {
  const Trace trace =
      read(file_of({kTables, callbacks({counted_in(2, value(40, "128"))}), kDispatches}));
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(counter(trace, {0}), nullptr);
  ASSERT_NE(counter(trace, {1}), nullptr);
  EXPECT_EQ(counter(trace, {1})->kind(), Value::Kind::kReal);
  EXPECT_EQ(counter(trace, {1})->as_real(), 128);
  EXPECT_EQ(counter(trace, {1}, "VGPR_Count")->as_int(), 8);  // beside what it has anyway
}

TEST(RocprofCounters, ValuesOfTheUnitsOfAGpuAreSummed) {
  const Trace trace = read(file_of(
      {kTables,
       callbacks({counted_in(1, value(40, "1.5") + "," + value(41, "7") + "," + value(40, "2"))}),
       kDispatches}));
  EXPECT_EQ(counter(trace, {0})->as_real(), 3.5);
}

TEST(RocprofCounters, OfSeveralRecordsOfADispatchTheLastValueCounts) {
  const Trace trace =
      read(file_of({kTables,
                    callbacks({counted_in(1, value(40, "1")), counted_in(1, value(40, "5")),
                               counted_in(1, value(99, "2"))}),
                    kDispatches}));
  EXPECT_EQ(counter(trace, {0})->as_real(), 5);
  EXPECT_EQ(counter(trace, {0}, "COUNTER_99")->as_real(), 2);
}

TEST(RocprofCounters, ACounterWithoutAUsableNameIsCalledByItsHandle) {
  const Trace trace =
      read(file_of({kTables, callbacks({counted_in(1, value(41, "7"))}), kDispatches}));
  EXPECT_EQ(counter(trace, {0}, "COUNTER_41")->as_real(), 7);
}

TEST(RocprofCounters, WithoutADispatchIdTheCorrelationIdDecides) {
  const Trace trace = read(file_of(
      {kTables,
       callbacks({counted(R"("correlation_id": {"internal": 5}, "dispatch_info": {"kernel_id": 1})",
                          value(40, "6"))}),
       kDispatches}));
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(counter(trace, {1})->as_real(), 6);
}

TEST(RocprofCounters, AProfileOfNothingButCountersHasItsDispatches) {
  const Trace trace = read(file_of({kTables, callbacks({counted_in(1, value(40, "8"))})}));
  ASSERT_EQ(trace.size(), 1u);
  EXPECT_EQ(trace.category({0}), Category::kKernel);
  EXPECT_EQ(trace.name({0}), "add");
  EXPECT_EQ(trace.ts_ns()[0], 50);
  EXPECT_EQ(trace.dur_ns()[0], 20);
  EXPECT_EQ(counter(trace, {0})->as_real(), 8);
  EXPECT_EQ(trace.metadata("processes")->items()[0].find("only_counted")->as_int(), 1);
}

TEST(RocprofCounters, TheOrderOfTheMembersDoesNotMatter) {
  const std::string records =
      callbacks({counted_in(2, value(40, "1")), counted_in(9, value(40, "2"))});
  const auto events_of = [](const std::string& text) {
    const std::string all = dump_read(text, {});
    return all.substr(0, all.find("metadata"));
  };
  const std::string usual = events_of(file_of({kTables, records, kDispatches}));
  EXPECT_EQ(events_of(file_of({kDispatches, records, kTables})), usual);
  EXPECT_EQ(events_of(file_of({records, kTables, kDispatches})), usual);
}

TEST(RocprofCounters, ValuesThatAreNoNumbersAreLeftOutAndCounted) {
  const Trace trace = read(file_of(
      {kTables,
       callbacks({counted_in(1, value(40, "\"x\"") + "," + value(40, "1e999") + ", {}"), "7"}),
       kDispatches}));
  EXPECT_EQ(counter(trace, {0}), nullptr);
  EXPECT_EQ(trace.warnings().count("value of a hardware counter that is no number"), 3u);
  EXPECT_EQ(trace.warnings().count("record that is not a sound JSON object"), 1u);
}

TEST(RocprofCounters, AreKeptFromJsonOfATimelineToo) {
  const Trace trace = read_trace_bytes(
      "t.json",
      std::string_view{
          R"({"traceEvents": [{"args": {"agent": "Agent-2", "SQ_WAVES": 64.0, "Bytes": 8, "Long key": 1.5},
              "cat": "kernel_dispatch", "name": "add", "ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]})"});
  EXPECT_EQ(counter(trace, {0})->as_real(), 64);
  EXPECT_EQ(counter(trace, {0}, "Bytes"), nullptr);
  EXPECT_EQ(counter(trace, {0}, "Long key"), nullptr);
}

TEST(CounterName, BeginsWithACapitalAndCanStandInJson) {
  for (const auto* name : {"SQ_WAVES", "TCC_HIT[0]", "MeanOccupancyPerCU", "COUNTER_-4"})
    EXPECT_TRUE(is_counter_name(name)) << name;
  for (const auto* name : {"", "grid_size", "VGPR_Count", "Long key", "A\"B", "A\\", "A\n"})
    EXPECT_FALSE(is_counter_name(name)) << name;
  EXPECT_FALSE(is_counter_name(std::string(kLongestCounterName + 1, 'A')));
}

}  // namespace
}  // namespace tracelens
