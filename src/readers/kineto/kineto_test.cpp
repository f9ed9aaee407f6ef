#include "readers/kineto/kineto.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tracelens/error.hpp>

#include "io/stream.hpp"

namespace tracelens {
namespace {

Trace read(std::string_view text) { return read_trace_bytes("inline.json", text); }

std::string error_of(std::string_view text) {
  try {
    (void)read(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The event list with one op, for tests that vary a field of it.
std::string with_event(std::string_view event) {
  return "{\"traceEvents\": [" + std::string{event} + "]}";
}

constexpr std::string_view kOp =
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "tid": 11, "ts": 1000.5,
        "dur": 2.125, "args": {"External id": 7, "Sequence number": 3, "Fwd thread id": 1,
        "Input Dims": [[8, 4], [4, 2]], "Input type": ["float", "float"],
        "Input Strides": [[4, 1], [2, 1]], "Concrete Inputs": ["", ""], "Ev Idx": 0}})";

TEST(KinetoReader, ReadsAnOpWithAllItsArguments) {
  const Trace trace = read(with_event(kOp));
  ASSERT_EQ(trace.size(), 1u);
  const EventId op{0};
  EXPECT_EQ(trace.phase(op), Phase::kComplete);
  EXPECT_EQ(trace.category(op), Category::kCpuOp);
  EXPECT_EQ(trace.name(op), "aten::mm");
  EXPECT_EQ(trace.track(op), (Track{10, 11}));
  EXPECT_EQ(trace.ts_ns()[0], 1'000'500);
  EXPECT_EQ(trace.dur_ns()[0], 2'125);
  EXPECT_EQ(trace.correlations()[0], kAbsent);
  EXPECT_EQ(trace.external_ids().at(op), 7);
  EXPECT_EQ(trace.sequence_numbers().at(op), 3);
  EXPECT_EQ(trace.forward_threads().at(op), 1);
  const Signature& signature = trace.signature(trace.signatures()[0]);
  EXPECT_EQ(trace.text(signature.name), "aten::mm");
  EXPECT_EQ(signature.dims, Value::tuple({Value::tuple({8, 4}), Value::tuple({4, 2})}));
  EXPECT_EQ(signature.types, Value::tuple({"float", "float"}));
  EXPECT_EQ(signature.concrete, Value::tuple({"", ""}));
  EXPECT_TRUE(trace.warnings().entries().empty());
  EXPECT_FALSE(trace.source().cut_short);
}

TEST(KinetoReader, ReadsAKernelWithItsStreamAndDetails) {
  const Trace trace = read(with_event(
      R"({"ph":"X","cat":"kernel","name":"ncclDevKernel","pid":0,"tid":7,"ts":5,"dur":1,
          "args":{"queued":0,"device":0,"context":1,"stream":7,"correlation":42,"External id":9,
          "grid":[2,1,1],"block":[128,1,1],"Collective name":"allreduce","Group size":8}})"));
  const EventId kernel{0};
  EXPECT_EQ(trace.streams().at(kernel), 7);
  EXPECT_EQ(trace.devices().at(kernel), 0);
  EXPECT_EQ(trace.correlations()[0], 42);
  EXPECT_EQ(trace.details(kernel),
            Value::dict({"grid", "block", "Collective name", "Group size"},
                        {Value::tuple({2, 1, 1}), Value::tuple({128, 1, 1}), "allreduce", 8}));
  EXPECT_FALSE(trace.signatures()[0].valid());
}

TEST(KinetoReader, KeepsWhatServingEnginesWriteIntoMadeUpOps) {
  const Trace trace = read(with_event(
      R"({"ph":"X","cat":"cpu_op","name":"pseudo_op::moe_gptq_awq_up","pid":0,"tid":7,"ts":5,
          "dur":1,"args":{"Pseudo op":true,"MoE topk":2,"MoE GEMM gated":true}})"));
  EXPECT_EQ(trace.details(EventId{0}), Value::dict({"MoE topk", "MoE GEMM gated"}, {2, true}));
}

TEST(KinetoReader, DoesNotCareAboutFieldOrderSpacesOrUnknownFields) {
  const Trace one = read(with_event(kOp));
  const Trace other = read(with_event(
      R"({"args":{"Ev Idx":0,"Concrete Inputs":["",""],"Input Strides":[[4,1],[2,1]],"new":{"a":[1,"]"]},
          "Input type":["float","float"],"Input Dims":[[8,4],[4,2]],"Fwd thread id":1,
          "Sequence number":3,"External id":7},"dur":2.125,"sf":1,"ts":1000.500,"tid":11,"pid":10,
          "name":"aten::mm","extra":null,"cat":"cpu_op","ph":"X"})"));
  EXPECT_EQ(one.ts_ns()[0], other.ts_ns()[0]);
  EXPECT_EQ(one.dur_ns()[0], other.dur_ns()[0]);
  EXPECT_EQ(one.track(EventId{0}), other.track(EventId{0}));
  EXPECT_EQ(one.signature({0}).dims, other.signature({0}).dims);
  EXPECT_EQ(one.signature({0}).strides, other.signature({0}).strides);
  EXPECT_EQ(other.external_ids().at({0}), 7);
}

TEST(KinetoReader, GivesOneSignatureToEqualArgumentsHoweverTheyAreSpaced) {
  const Trace trace = read(
      R"([{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":1,"args":{"Input Dims":[[8, 4]]}},
          {"ph":"X","cat":"cpu_op","name":"a","ts":3,"dur":1,"args":{"Input Dims":[[8,4]]}},
          {"ph":"X","cat":"cpu_op","name":"a","ts":5,"dur":1,"args":{"Input Dims":[[4,8]]}}])");
  EXPECT_EQ(trace.signatures()[0], trace.signatures()[1]);
  EXPECT_NE(trace.signatures()[0], trace.signatures()[2]);
  EXPECT_EQ(trace.signature_table().size(), 2u);
}

TEST(KinetoReader, KeepsWhatMemoryEventsSayWhereverTheCategoryStands) {
  const Trace trace = read(
      R"([{"ph":"i","cat":"cpu_instant_event","name":"[memory]","ts":3,"s":"t","args":{
            "Total Reserved":900,"Total Allocated":700,"Device Id":2,"Device Type":1,"Bytes":-512,
            "Addr":140737488355328,"Ev Idx":17}},
          {"args":{"Addr":4,"Bytes":8,"Total Allocated":8},"cat":"cpu_instant_event",
           "name":"[memory]","ph":"i","ts":4},
          {"ph":"i","cat":"cpu_instant_event","name":"[memory]","ts":5,"args":{"Bytes":8}},
          {"ph":"i","cat":"cpu_instant_event","name":"[memory]","ts":6,
           "args":{"Bytes":9223372036854775807,"Total Allocated":1}},
          {"ph":"X","cat":"cpu_op","name":"op","ts":6,"dur":1,
           "args":{"Bytes":8,"Total Allocated":8}}])");
  ASSERT_EQ(trace.memory_changes().rows().size(), 2u);  // no total; more than there is
  EXPECT_EQ(trace.memory_changes().at({0}), (MemoryChange{.address = 140737488355328,
                                                          .bytes = -512,
                                                          .allocated = 700,
                                                          .reserved = 900,
                                                          .order = 17,
                                                          .device_type = 1,
                                                          .device = 2}));
  EXPECT_EQ(trace.memory_changes().at({1}),
            (MemoryChange{.address = 4, .bytes = 8, .allocated = 8}));
}

TEST(KinetoReader, KnowsEveryPhaseAndCategoryOfKineto) {
  const Trace trace = read(
      R"([{"ph":"s","id":5,"cat":"ac2g","name":"ac2g","ts":1,"pid":1,"tid":1},
          {"ph":"f","id":5,"cat":"ac2g","name":"ac2g","ts":2,"pid":0,"tid":7,"bp":"e"},
          {"ph":"i","cat":"cpu_instant_event","name":"[memory]","ts":3,"s":"t"},
          {"ph":"M","name":"thread_name","pid":1,"tid":1,"ts":0,"args":{"name":"main"}},
          {"ph":"C","name":"counter","ts":4},
          {"ph":"X","cat":"gpu_memcpy","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"gpu_memset","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"cuda_driver","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"cuda_runtime","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"python_function","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"user_annotation","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"gpu_user_annotation","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"fwdbwd","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"overhead","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"Trace","name":"m","ts":5,"dur":1},
          {"ph":"X","cat":"cuda_sync","name":"m","ts":5,"dur":1}])");
  EXPECT_EQ(trace.phase({0}), Phase::kFlowStart);
  EXPECT_EQ(trace.phase({1}), Phase::kFlowEnd);
  EXPECT_EQ(trace.correlations()[1], 5);
  EXPECT_EQ(trace.phase({2}), Phase::kInstant);
  EXPECT_EQ(trace.phase({3}), Phase::kMetadata);
  EXPECT_EQ(trace.phase({4}), Phase::kOther);
  EXPECT_EQ(trace.label({1, 1}, "thread_name"), Value{"main"});
  const Category expected[] = {Category::kAsyncCpuToGpu,
                               Category::kAsyncCpuToGpu,
                               Category::kCpuInstant,
                               Category::kNone,
                               Category::kNone,
                               Category::kGpuMemcpy,
                               Category::kGpuMemset,
                               Category::kCudaDriver,
                               Category::kCudaRuntime,
                               Category::kPythonFunction,
                               Category::kUserAnnotation,
                               Category::kGpuUserAnnotation,
                               Category::kForwardBackward,
                               Category::kOverhead,
                               Category::kTraceSpan,
                               Category::kOtherCategory};
  for (const EventId event : trace.all_events()) {
    EXPECT_EQ(trace.category(event), expected[event.row]) << event.row;
  }
  EXPECT_EQ(trace.category_text({15}), "cuda_sync");
  EXPECT_TRUE(trace.warnings().entries().empty());
}

TEST(KinetoReader, ReadsBareListsAndMembersOnBothSidesOfTheList) {
  EXPECT_EQ(read("[]").size(), 0u);
  EXPECT_EQ(read("\xEF\xBB\xBF [" + std::string{kOp} + "]").size(), 1u);
  const Trace trace = read(R"({"schemaVersion": 1, "deviceProperties": [{"name": "H200"}],
      "traceEvents": [)" + std::string{kOp} +
                           R"(], "traceName": "x.json", "nan": NaN})");
  EXPECT_EQ(trace.size(), 1u);
  EXPECT_EQ(*trace.metadata("schemaVersion"), Value{1});
  EXPECT_EQ(trace.metadata("deviceProperties")->items()[0].find("name")->as_text(), "H200");
  EXPECT_EQ(*trace.metadata("traceName"), Value{"x.json"});
  EXPECT_EQ(trace.metadata()[0].key, "schemaVersion");
  EXPECT_FALSE(trace.source().cut_short);
}

TEST(KinetoReader, ReadsNumbersHoweverTheyAreWritten) {
  const auto ts_of = [](std::string_view ts) {
    const Trace trace = read(R"([{"ph":"i","name":"a","ts":)" + std::string{ts} + "}]");
    return trace.ts_ns()[0];
  };
  EXPECT_EQ(ts_of("3844341872975.026"), 3'844'341'872'975'026);
  EXPECT_EQ(ts_of("7"), 7'000);
  EXPECT_EQ(ts_of("\"7.5\""), 7'500);
  EXPECT_EQ(ts_of("1.5e3"), 1'500'000);
  EXPECT_EQ(ts_of("0.0005"), 0);  // half to even
  EXPECT_EQ(ts_of("0.0015"), 2);
  EXPECT_EQ(ts_of("-3.25"), -3'250);
  for (const auto bad : {"NaN", "Infinity", "null", "\"soon\"", "1e300", "[]", "true"})
    EXPECT_EQ(ts_of(bad), kAbsent) << bad;
}

TEST(KinetoReader, ReadsIdsAsStringsDoublesAndHugeIntegers) {
  const auto correlation_of = [](std::string_view id) {
    const Trace trace =
        read(R"([{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"args":{"correlation":)" +
             std::string{id} + "}}]");
    return trace.correlations()[0];
  };
  EXPECT_EQ(correlation_of("12"), 12);
  EXPECT_EQ(correlation_of("\"12\""), 12);
  EXPECT_EQ(correlation_of("12.0"), 12);
  EXPECT_EQ(correlation_of("-4"), -4);
  EXPECT_EQ(correlation_of("18446744073709551615"), -1);  // 64 bits are an identity
  EXPECT_EQ(correlation_of("null"), kAbsent);
  EXPECT_EQ(correlation_of("{}"), kAbsent);
}

TEST(KinetoReader, KeepsWordsAndNumbersApartInPidAndTid) {
  const Trace trace = read(
      R"([{"ph":"i","name":"a","ts":1,"pid":"Spans","tid":"7"},{"ph":"i","name":"a","ts":1,"pid":"Spans","tid":7},
          {"ph":"i","name":"a","ts":1,"pid":"Spans","tid":7.0},{"ph":"i","name":"a","ts":1}])");
  EXPECT_EQ(trace.track(EventId{0}), (Track{"Spans", "7"}));
  EXPECT_EQ(trace.track(EventId{1}), (Track{"Spans", 7}));
  EXPECT_EQ(trace.tracks()[1], trace.tracks()[2]);
  EXPECT_EQ(trace.track(EventId{3}), (Track{{}, {}}));
}

TEST(KinetoReader, ResolvesEscapesInNames) {
  const Trace trace = read(
      R"([{"ph":"i","name":"\"quoted\" \u00b5s\\","ts":1},{"ph":"i","name":"tab	inside","ts":1},
          {"ph":"i","name":")"
      "\xFF"
      R"(","ts":1}, {"ph":"i","name":"plain","ts":1}])");
  EXPECT_EQ(trace.name({0}), "\"quoted\" \xC2\xB5s\\");
  EXPECT_EQ(trace.name({1}), "tab\tinside");
  EXPECT_EQ(trace.name({2}), "\xEF\xBF\xBD");
  EXPECT_EQ(trace.name({3}), "plain");
}

TEST(KinetoReader, SkipsADamagedEventAndKeepsItsPlace) {
  const Trace trace = read(
      R"([{"ph":"i","name":"a","ts":1}, {"ph" "X"}, 17, "text", [1,[2]], {"ph":"i","name":"b","ts":2},,
          {"name":"no phase","ts":1}, {"ph":"X","name":"no dur","ts":1},
          {"ph":"X","name":"no ts","dur":1}, {"ph":"X","name":"backwards","ts":1,"dur":-3}, {"ph":"i","name":"c","ts":3},])");
  EXPECT_EQ(trace.size(), 11u);
  EXPECT_EQ(trace.phase({1}), Phase::kDamaged);
  EXPECT_EQ(trace.name({5}), "b");
  EXPECT_EQ(trace.name({10}), "c");
  EXPECT_EQ(trace.phase({7}), Phase::kDamaged);
  EXPECT_EQ(trace.dur_ns()[9], 0);
  EXPECT_EQ(trace.warnings().count("event that is not valid JSON"), 1u);
  EXPECT_EQ(trace.warnings().count("element of the event list that is not an object"), 3u);
  EXPECT_EQ(trace.warnings().count("event without a phase (ph)"), 1u);
  EXPECT_EQ(trace.warnings().count("complete event without a usable duration (dur)"), 1u);
  EXPECT_EQ(trace.warnings().count("event without a usable time (ts)"), 1u);
  EXPECT_EQ(trace.warnings().count("negative duration, taken as 0"), 1u);
  EXPECT_FALSE(trace.source().cut_short);
}

TEST(KinetoReader, IgnoresMetadataEventsItDoesNotKnowButSaysSo) {
  const Trace trace = read(
      R"([{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}},
          {"ph":"M","name":"weather","pid":1,"args":{"name":"rain"}}, {"ph":"M","name":"thread_name"}])");
  EXPECT_EQ(trace.label({1, 0}, "process_name"), Value{"python"});
  EXPECT_EQ(trace.warnings().count("metadata event without a usable name or value"), 2u);
}

TEST(KinetoReader, JoinsBeginAndEndEvents) {
  const Trace trace = read(
      R"([{"ph":"B","cat":"cpu_op","name":"a","ts":1,"pid":1,"tid":1},{"ph":"E","ts":4,"pid":1,"tid":1}])");
  EXPECT_EQ(trace.phase({0}), Phase::kComplete);
  EXPECT_EQ(trace.dur_ns()[0], 3'000);
  EXPECT_EQ(trace.phase({1}), Phase::kOther);
}

TEST(KinetoReader, JoinsNoBeginOrEndWithoutATime) {
  const Trace trace = read(R"([{"ph":"B","pid":1,"tid":1},{"ph":"E","ts":3,"pid":1,"tid":1}])");
  EXPECT_EQ(trace.phase({0}), Phase::kDamaged);
  EXPECT_EQ(trace.dur_ns()[0], kAbsent);
}

TEST(KinetoReader, CutFileKeepsTheEventsBeforeTheCutAndSaysSo) {
  const Trace trace = read(R"({"traceEvents":[{"ph":"i","name":"a","ts":1},{"ph":)");
  EXPECT_EQ(trace.size(), 1u);
  EXPECT_EQ(trace.warnings().count("file ends inside an event"), 1u);
  EXPECT_TRUE(trace.source().cut_short);
}

TEST(KinetoReader, NoticesAMissingEndOfTheListOrOfTheObject) {
  EXPECT_TRUE(read(R"([{"ph":"i","name":"a","ts":1})").source().cut_short);
  EXPECT_TRUE(read(R"({"traceEvents":[],"a":1)").source().cut_short);
  EXPECT_TRUE(read(R"({"traceEvents":[])").source().cut_short);
  EXPECT_FALSE(read(R"({"traceEvents":[],"a":1})").source().cut_short);
}

TEST(KinetoReader, GoesOnAfterAnEventWithAMissingQuote) {
  const Trace trace = read(
      R"([{"ph":"i","name":"a","ts":1},{"ph":"i","name":"b,"ts":2},{"ph":"i","name":"c","ts":3},{"ph":"i","name":"d","ts":4}])");
  EXPECT_EQ(trace.name({0}), "a");
  EXPECT_EQ(trace.name(EventId{static_cast<std::uint32_t>(trace.size() - 1)}), "d");
  EXPECT_FALSE(trace.warnings().entries().empty());
}

TEST(KinetoReader, RefusesTimesThatNoTraceCanHave) {
  const Trace trace = read(
      R"([{"ph":"X","cat":"kernel","name":"a","ts":-9223372036854775,"dur":1},
          {"ph":"X","cat":"kernel","name":"b","ts":1,"dur":9223372036854775},
          {"ph":"X","cat":"kernel","name":"c","ts":1790857026000000.5,"dur":3600000000}])");
  EXPECT_EQ(trace.phase({0}), Phase::kDamaged);
  EXPECT_EQ(trace.phase({1}), Phase::kDamaged);
  EXPECT_EQ(trace.phase({2}), Phase::kComplete);
}

TEST(KinetoReader, SaysThatASecondListOrTextBehindTheTraceIsNotRead) {
  EXPECT_EQ(read(R"({"traceEvents":[],"traceEvents":[]})")
                .warnings()
                .count("second event list, which is not read"),
            1u);
  EXPECT_EQ(read(R"([] [])").warnings().count("text behind the trace, which is not read"), 1u);
  EXPECT_EQ(read(R"({"traceEvents":[]} more)")
                .warnings()
                .count("text behind the trace, which is not read"),
            1u);
  EXPECT_TRUE(read("[]\n").warnings().entries().empty());
}

TEST(KinetoReader, GivesUpAFileOfUnendedEventsInReasonableTime) {
  std::string text = "[";
  for (int i = 0; i < 40'000; ++i) text += R"({"a":[{},)";
  const Trace trace = read(text);  // quadratic without a limit: minutes
  EXPECT_TRUE(trace.source().cut_short);
}

TEST(KinetoReader, SaysInOneSentenceWhyAFileIsNoTrace) {
  EXPECT_EQ(error_of(""), "inline.json: the file is empty");
  const std::string unknown = error_of("   \n ");
  EXPECT_TRUE(unknown.starts_with("inline.json: not a trace of a known format; known are: "))
      << unknown;
  EXPECT_TRUE(unknown.ends_with("PyTorch profiler JSON (Kineto)")) << unknown;
  EXPECT_EQ(error_of("{}"),
            "inline.json: this JSON is not a trace: it has no \"traceEvents\" list");
  EXPECT_EQ(error_of(R"({"a": 1, "b": [1, 2]})"),
            "inline.json: this JSON is not a trace: it has no \"traceEvents\" list");
  EXPECT_EQ(error_of(R"({"traceEvents": 7})"),
            "inline.json: byte 16: \"traceEvents\" is not a list: expected '[', found '7'");
  EXPECT_EQ(error_of(R"({"a": 1, "b")"),
            "inline.json: the file ends at byte 12 before its event list (\"traceEvents\") begins");
  EXPECT_EQ(error_of("{nonsense}"),
            "inline.json: byte 1: not a trace: expected a member name in quotes, found 'n'");
}

TEST(GuessCut, CutsBetweenTwoEvents) {
  constexpr std::string_view kText = R"({"ph":"X"},{"ph":"Y", "args": {"a": [{"b"})";
  EXPECT_EQ(kText.substr(guess_cut(kText)).substr(0, 2), ",{");
  EXPECT_EQ(guess_cut("no event here"), 13u);
  EXPECT_EQ(guess_cut(""), 0u);
  // A text that looks like a boundary but is the end of a string.
  constexpr std::string_view kString = R"({"name":"},{","x":1)";
  EXPECT_EQ(guess_cut(kString), kString.size());
}

using namespace std::string_literals;

constexpr std::string_view kNul =
    "NUL byte: here the file holds no text, and what stood there is lost";
constexpr std::string_view kControl = "control character that JSON text must not have";

TEST(KinetoReader, EventsThatNulBytesJoinAreDamageAndNotAnEvent) {
  // What is left of two events where a page of the file was never written.
  const std::string text =
      "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1},{\"ph\":\"X\",\"name\":\"b"s +
      std::string(40, '\0') + "c\",\"ts\":9,\"dur\":1},{\"ph\":\"X\",\"name\":\"d\"," +
      std::string(3, '\0') + "\"ts\":10,\"dur\":1}]";
  const Trace trace = read(text);
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace.phase({1}), Phase::kDamaged);
  EXPECT_EQ(trace.phase({2}), Phase::kDamaged);
  EXPECT_EQ(trace.warnings().count(kNul), 43u);
  EXPECT_EQ(trace.warnings().count("event that is not valid JSON"), 2u);
  for (const auto& entry : trace.warnings().entries()) {
    if (entry.what == kNul) {
      EXPECT_EQ(entry.first_byte, text.find('\0'));
    }
  }
}

TEST(KinetoReader, NulBytesBetweenEventsAndAroundTheListAreCounted) {
  const std::string event = R"({"ph":"X","name":"a","ts":1,"dur":1})", two_nuls(2, '\0');
  const auto nuls = [](const std::string& text) {
    const Trace trace = read(text);
    EXPECT_EQ(trace.size(), 2u);
    EXPECT_EQ(trace.phase({1}), Phase::kComplete);
    return trace.warnings().count(kNul);
  };
  EXPECT_EQ(nuls("[" + event + "," + event + "]"), 0u);
  EXPECT_EQ(nuls("[" + event + two_nuls + "," + two_nuls + event + "]"), 4u);
  EXPECT_EQ(nuls("[" + two_nuls + event + "," + event + two_nuls + "]"), 4u);
  EXPECT_EQ(nuls("[" + event + "," + event + "]\n" + two_nuls), 2u);
  EXPECT_EQ(nuls("{\"a\":" + two_nuls + "1,\"traceEvents\":[" + event + "," + event + "],\"b\":\"" +
                 two_nuls + "\"}"),
            4u);
}

TEST(KinetoReader, ControlCharactersInTextAreKeptAndCounted) {
  for (const char control : {'\x01', '\t', '\n', '\r', '\x1b', '\x1f'}) {
    const std::string name = "a"s + control + "b";
    const std::string text = "[{\"ph\":\"X\",\"name\":\"" + name +
                             "\",\"ts\":1,\"dur\":1,\"args\":{\"x\":[\"" + name + "\"]}}]";
    const Trace trace = read(text);
    ASSERT_EQ(trace.size(), 1u);
    EXPECT_EQ(trace.name({0}), name);
    EXPECT_EQ(trace.dur_ns()[0], 1000);
    ASSERT_EQ(trace.warnings().entries().size(), 1u);
    EXPECT_EQ(trace.warnings().entries()[0].what, kControl);
    EXPECT_EQ(trace.warnings().entries()[0].count, 2u);
    EXPECT_EQ(trace.warnings().entries()[0].first_byte, text.find(control));
  }
  EXPECT_TRUE(read("[\r\n\t{\"ph\":\r\n\"X\",\"name\":\"a\",\"ts\":1\t,\"dur\":1}\r\n]")
                  .warnings()
                  .entries()
                  .empty());
}

TEST(KinetoReader, AnEventOfManyMegabytesIsRead) {
  const std::string text = R"([{"ph":"i","ts":1,"name":")" +
                           std::string(std::size_t{70} << 20, 'x') +
                           R"("},{"ph":"i","ts":2,"name":"b"}])";
  const Trace trace = read(text);
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace.name({0}).size(), std::size_t{70} << 20);
  EXPECT_TRUE(trace.warnings().entries().empty());
}

}  // namespace
}  // namespace tracelens
