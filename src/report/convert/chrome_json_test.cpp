#include <tracelens/convert.hpp>

#include <gtest/gtest.h>
#include <simdjson.h>

#include <string>
#include <tracelens/read_trace.hpp>
#include <tracelens/report.hpp>
#include <tracelens/trace_builder.hpp>

#include "facts/converted.hpp"
#include "io/temporary_folder.hpp"
#include "report/convert/lanes.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

Trace read(std::string_view text) { return read_trace_bytes("inline.json", text); }

// Written and read back.
Trace round_trip(const Trace& trace, const std::string& name) {
  const io::TemporaryFolder folder;
  const std::string path = folder.path(name);
  (void)write_chrome_json(trace, path);
  return read_trace(path);
}

constexpr std::string_view kTrace = R"({"traceEvents": [
  {"ph":"M","name":"thread_name","pid":10,"tid":11,"args":{"name":"main \"thread\""}},
  {"ph":"X","cat":"cpu_op","name":"aten::mm","pid":10,"tid":11,"ts":4000000000000.001,"dur":2.125,
   "args":{"External id":7,"Input Dims":[[8,4],[]],"Input type":["float",""],"Sequence number":3}},
  {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":5,"dur":1,
   "args":{"correlation":9,"stream":7,"device":0,"grid":[1,2,3]}},
  {"ph":"i","name":"marker","pid":10,"tid":"Spans","ts":6,"s":"t"},
  {"ph":"s","cat":"ac2g","name":"ac2g","id":9,"pid":10,"tid":11,"ts":1},
  {"ph":"f","cat":"ac2g","name":"ac2g","id":9,"pid":0,"tid":7,"ts":5},
  {"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":10,"tid":11,"ts":7,"s":"t",
   "args":{"Addr":64,"Bytes":-8,"Total Allocated":56,"Total Reserved":99,"Ev Idx":3,
           "Device Type":1,"Device Id":0}},
  {"ph":"C","name":"counter","pid":10,"tid":11,"ts":1}]})";

TEST(ChromeJson, KeepsWhatTheFileSaysBesideItsEvents) {
  const Trace before = read(
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}],
          "displayTimeUnit": "ms", "traceEvents": [], "traceName": "a \"b\".json"})");
  const Trace after = round_trip(before, "out.json");
  for (const char* key : {"schemaVersion", "deviceProperties", "traceName"}) {
    ASSERT_NE(after.metadata(key), nullptr) << key;
    EXPECT_EQ(*after.metadata(key), *before.metadata(key)) << key;
  }
  EXPECT_EQ(after.metadata("displayTimeUnit")->as_text(), "ns");  // what was written here
}

// The second kernel has no launch: a PyTorch profile's tables leave it out, a database's do not.
TEST(ChromeJson, WorkWithoutALaunchCountsAsItDidBefore) {
  const auto busy_ms = [](const Trace& trace) {
    return make_report(trace).find("gpu_timeline")->column("time ms").reals()[0];
  };
  for (const Recorder recorder : {Recorder::kPyTorch, Recorder::kNsight, Recorder::kJax}) {
    TestTrace t;
    t.op("aten::mm", 0, 10);
    t.launch("cudaLaunchKernel", 1, 1, {.ts = 5, .dur = 10});
    t.gpu({.ts = 50, .dur = 20});
    t.builder().source().recorder = recorder;
    t.builder().source().format = "a format";
    const Trace before = t.finish();
    const Trace after = round_trip(before, "out.json");
    EXPECT_EQ(is_converted(after), recorder != Recorder::kPyTorch);
    EXPECT_DOUBLE_EQ(busy_ms(before), recorder == Recorder::kPyTorch ? 0.01 : 0.03);
    EXPECT_DOUBLE_EQ(busy_ms(after), busy_ms(before)) << static_cast<int>(recorder);
  }
}

TEST(ChromeJson, ReadsBackAsTheSameTrace) {
  const Trace before = read(kTrace);
  for (const char* const name : {"out.json", "out.json.gz"}) {
    const Trace after = round_trip(before, name);
    ASSERT_EQ(after.size(), before.size() - 1);  // all but the counter
    EXPECT_EQ(after.source().packing, name[8] == '.' ? "gzip" : "");
    for (const EventId event : after.all_events()) {
      EXPECT_EQ(after.phase(event), before.phase(event));
      EXPECT_EQ(after.name(event), before.name(event));
      EXPECT_EQ(after.category_text(event), before.category_text(event));
      EXPECT_EQ(after.track(event), before.track(event));
      if (after.phase(event) != Phase::kMetadata) {
        EXPECT_EQ(after.ts_ns()[event.row], before.ts_ns()[event.row]);
      }
      EXPECT_EQ(after.dur_ns()[event.row], before.dur_ns()[event.row]);
      EXPECT_EQ(after.correlations()[event.row], before.correlations()[event.row]);
      EXPECT_EQ(after.streams().at(event), before.streams().at(event));
      EXPECT_EQ(after.details(event), before.details(event));
      EXPECT_EQ(after.memory_changes().at(event), before.memory_changes().at(event));
      ASSERT_EQ(after.signatures()[event.row].valid(), before.signatures()[event.row].valid());
      if (after.signatures()[event.row].valid()) {
        EXPECT_EQ(after.signature(after.signatures()[event.row]).dims,
                  before.signature(before.signatures()[event.row]).dims);
      }
    }
    EXPECT_EQ(after.label(Track{10, 11}, "thread_name"), Value{"main \"thread\""});
  }
}

TEST(ChromeJson, IsValidJsonAlsoOfOddTexts) {
  const Trace trace = read(
      "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"\xff \\u0001\",\"pid\":1,\"tid\":2,\"ts\":-1.5,"
      "\"dur\":0,\"args\":{\"grid\":NaN}}]}");
  const io::TemporaryFolder folder;
  const std::string path = folder.path("out.json");
  EXPECT_EQ(write_chrome_json(trace, path).written, 1U);
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_EQ(parser.load(path).get(document), simdjson::SUCCESS);
  EXPECT_EQ(document["traceEvents"].at(0)["ts"].get_double().value(), -1.5);
}

TEST(ChromeJson, OfAnEmptyTraceIsAnEmptyList) {
  EXPECT_EQ(round_trip(read("[]"), "out.json").size(), 0U);
}

// What other profilers call a call and a kernel, and how they link them.
TEST(ChromeJson, OfADatabaseKeepsCallsGraphsAndTheirLinks) {
  TraceBuilder builder;
  builder.source().recorder = Recorder::kNsight;
  const auto add = [&](Category category, const char* text, const Track& track) {
    const EventId event = builder.append({.phase = Phase::kComplete,
                                          .category = category,
                                          .name = builder.intern(text),
                                          .track = builder.intern(track),
                                          .ts_ns = 5000,
                                          .dur_ns = 1000,
                                          .correlation = 9});
    builder.set_category_text(event, builder.intern(text));
  };
  add(Category::kCudaRuntime, "runtime", Track{7, 8});
  add(Category::kKernel, "graph", Track{0, 1});
  add(Category::kOtherCategory, "loose range", Track{7, 8});
  const Trace after = round_trip(std::move(builder).finish(), "out.json");
  ASSERT_EQ(after.size(), 5U);
  std::vector<std::string> categories;
  for (const EventId event : after.all_events())
    categories.emplace_back(after.category_text(event));
  EXPECT_EQ(categories,
            (std::vector<std::string>{"cuda_runtime", "ac2g", "kernel", "ac2g", "loose range"}));
  EXPECT_EQ(after.correlations()[1], 9);
  EXPECT_EQ(after.phase({3}), Phase::kFlowEnd);
}

TEST(Lanes, SlicesThatOverlapAreDrawnBesideEachOther) {
  const Trace trace = read(R"([
    {"ph":"X","name":"a","pid":1,"tid":2,"ts":0,"dur":10},
    {"ph":"X","name":"inside a","pid":1,"tid":2,"ts":2,"dur":3},
    {"ph":"X","name":"outlasts a","pid":1,"tid":2,"ts":8,"dur":5},
    {"ph":"X","name":"after a","pid":1,"tid":2,"ts":10,"dur":5}])");
  const Lanes lanes{trace};
  EXPECT_EQ(lanes.lane_of({0}).tid, Value{2});
  EXPECT_EQ(lanes.lane_of({1}).tid, Value{2});
  EXPECT_NE(lanes.lane_of({2}).tid, Value{2});
  EXPECT_EQ(lanes.lane_of({2}).name, "2 (2)");
  EXPECT_EQ(lanes.lane_of({3}).tid, Value{2});
}

TEST(Lanes, QueuesOfAPerfettoTraceHaveLanesOfTheirOwn) {
  const Trace trace = read(R"([
    {"ph":"X","name":"call","pid":1,"tid":2,"ts":0,"dur":10},
    {"ph":"X","name":"k1","pid":1,"tid":2,"ts":1,"dur":20,"args":{"perfetto_track":"QUEUE 1"}},
    {"ph":"X","name":"k2","pid":1,"tid":2,"ts":2,"dur":20,"args":{"perfetto_track":"QUEUE 2"}},
    {"ph":"X","name":"k3","pid":1,"tid":2,"ts":30,"dur":20,"args":{"perfetto_track":"QUEUE 1"}}])");
  const Lanes lanes{trace};
  EXPECT_EQ(lanes.lane_of({0}).name, "");
  EXPECT_EQ(lanes.lane_of({1}).name, "QUEUE 1");
  EXPECT_EQ(lanes.lane_of({2}).name, "QUEUE 2");
  EXPECT_EQ(&lanes.lane_of({1}), &lanes.lane_of({3}));
  EXPECT_NE(lanes.lane_of({1}).tid, lanes.lane_of({2}).tid);
}

}  // namespace
}  // namespace tracelens
