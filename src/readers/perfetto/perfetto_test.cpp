#include "readers/perfetto/perfetto.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "readers/kit/dump.hpp"
#include "readers/perfetto/testing.hpp"

namespace tracelens::perfetto {
namespace {

using Type = proto::TrackEvent;
constexpr std::uint64_t kProcess = 0x900, kQueue = 0x901;

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  EXPECT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  packed.resize(size);
  return packed;
}

TestPackets with_thread() {
  TestPackets t;
  t.process(kProcess, 100, "app");
  t.thread(100, 101, "worker");
  return t;
}

// The row of the event with this name; the test fails when there is none.
EventId find(const Trace& trace, std::string_view name, Phase phase = Phase::kComplete) {
  for (const EventId event : trace.all_events())
    if (trace.name(event) == name && trace.phase(event) == phase) return event;
  ADD_FAILURE() << "no event " << name;
  return {0};
}

TEST(PerfettoReader, ASliceOfAThreadIsACompleteEvent) {
  TestPackets t = with_thread();
  t.begin(5'001, "gemm");
  t.end(9'999);
  const Trace trace = t.read();
  ASSERT_EQ(trace.size(), 3U);  // two names, one slice
  const EventId gemm{2};
  EXPECT_EQ(trace.phase(gemm), Phase::kComplete);
  EXPECT_EQ(trace.name(gemm), "gemm");
  EXPECT_EQ(trace.category_text(gemm), "app");
  EXPECT_EQ(trace.track(gemm), (Track{100, 101}));
  EXPECT_EQ(trace.ts_ns()[2], 5'001);
  EXPECT_EQ(trace.dur_ns()[2], 4'998);
  EXPECT_EQ(trace.label(Track{100, 101}, "thread_name"), Value{"worker"});
  EXPECT_EQ(trace.label(Track{100, 0}, "process_name"), Value{"app"});
  EXPECT_EQ(trace.source().format, "perfetto");
  EXPECT_EQ(trace.source().text_bytes, t.bytes().size());
  EXPECT_FALSE(trace.source().cut_short);
  EXPECT_TRUE(trace.warnings().entries().empty());
}

TEST(PerfettoReader, ASliceOfAQueueKeepsItsLengthAndTheNameOfTheQueue) {
  TestPackets t = with_thread();
  t.track(kQueue, kProcess, "COMPUTE QUEUE 1");
  t.begin(5'000, "gemm.kd", {.category = "kernel_dispatch", .track = kQueue});
  t.end(8'000, kQueue);
  const Trace trace = t.read();
  const EventId gemm = find(trace, "gemm.kd");
  EXPECT_EQ(trace.category(gemm), Category::kKernel);
  EXPECT_EQ(trace.dur_ns()[gemm.row], 3'000);
  EXPECT_EQ(trace.track(gemm), (Track{100, 101}));  // the thread that wrote it
  EXPECT_EQ(trace.details(gemm).find("perfetto_track")->as_text(), "COMPUTE QUEUE 1");
  EXPECT_EQ(trace.ts_ns()[find(trace, "gemm.kd", Phase::kOther).row], 8'000);  // its end
}

TEST(PerfettoReader, ArgumentsThatTellTheTimeWinOverTheSlice) {
  TestPackets t = with_thread();
  t.event(Type::TYPE_SLICE_BEGIN, 5'000, "hipLaunchKernel", {.category = "hip_api"},
          [](proto::TracePacket& packet) {
            for (const auto& [name, value] : {std::pair{"begin_ns", 5'001U},
                                              {"end_ns", 5'008U},
                                              {"delta_ns", 7U},
                                              {"corr_id", 42U}}) {
              auto& annotation = *packet.mutable_track_event()->add_debug_annotations();
              annotation.set_name(name);
              annotation.set_uint_value(value);
            }
          });
  t.end(9'000);
  const Trace trace = t.read();
  const EventId launch = find(trace, "hipLaunchKernel");
  EXPECT_EQ(trace.ts_ns()[launch.row], 5'001);
  EXPECT_EQ(trace.dur_ns()[launch.row], 7);
  EXPECT_EQ(trace.correlations()[launch.row], 42);
}

TEST(PerfettoReader, SequencesDoNotShareTheirNumbers) {
  TestPackets t = with_thread();
  const auto add = [&](std::uint32_t sequence, const char* name, std::uint64_t ns) {
    proto::TracePacket packet;
    packet.set_trusted_packet_sequence_id(sequence);
    if (name != nullptr) {
      packet.set_sequence_flags(1);
      auto& entry = *packet.mutable_interned_data()->add_event_names();
      entry.set_iid(1);
      entry.set_text(name);
    } else {
      packet.set_sequence_flags(2);
    }
    packet.set_timestamp(ns);
    packet.mutable_track_event()->set_type(Type::TYPE_INSTANT);
    packet.mutable_track_event()->set_track_uuid(0);
    packet.mutable_track_event()->add_categories("app");
    packet.mutable_track_event()->set_name_iid(1);
    t.add(packet);
  };
  add(5, "five", 10);
  add(6, "six", 20);
  add(5, nullptr, 30);
  add(6, nullptr, 40);
  add(5, "five again", 50);  // cleared and defined anew
  add(5, nullptr, 60);
  add(7, nullptr, 70);  // never valid: dropped
  const Trace trace = t.read();
  std::vector<std::string_view> names;
  for (const EventId event : trace.all_events())
    if (trace.phase(event) == Phase::kInstant) names.push_back(trace.name(event));
  EXPECT_EQ(names, (std::vector<std::string_view>{"five", "six", "five", "six", "five again",
                                                  "five again"}));
  EXPECT_EQ(trace.warnings().count("packet that needs lost packets to be understood"), 1U);
}

TEST(PerfettoReader, LostPacketsMakeTheRestUnreadableUntilTheStateIsCleared) {
  TestPackets t = with_thread();
  const auto add = [&](std::uint64_t ns, const char* name, bool lost, bool clear) {
    t.event(Type::TYPE_INSTANT, ns, name, {}, [&](proto::TracePacket& packet) {
      packet.set_sequence_flags(clear ? 3 : 2);
      packet.set_previous_packet_dropped(lost ? 1 : 0);
    });
  };
  add(10, "before", false, false);
  add(20, "lost", true, false);
  add(30, "lost too", false, false);
  add(40, "after", false, true);
  const Trace trace = t.read();
  EXPECT_EQ(trace.size(), 4U);
  (void)find(trace, "before", Phase::kInstant);
  (void)find(trace, "after", Phase::kInstant);
  EXPECT_EQ(trace.warnings().count("packets were lost while recording (the trace buffer was full)"),
            1U);
  EXPECT_EQ(trace.warnings().count("packet that needs lost packets to be understood"), 2U);
}

// The tracing service sets the mark on the first packet of every sequence.
TEST(PerfettoReader, BeforeTheFirstPacketOfASequenceNothingWasLost) {
  TestPackets t;
  for (const std::uint32_t sequence : {7U, 8U, 7U}) {
    proto::TracePacket packet;
    packet.set_trusted_packet_sequence_id(sequence);
    packet.set_sequence_flags(1);
    packet.set_previous_packet_dropped(1);
    packet.set_first_packet_on_sequence(sequence == 7);
    t.add(packet);
  }
  EXPECT_TRUE(t.read().warnings().entries().empty());
  proto::TracePacket packet = TestPackets::packet();
  packet.set_trusted_packet_sequence_id(8);
  packet.set_previous_packet_dropped(1);
  t.add(packet);
  EXPECT_EQ(
      t.read().warnings().count("packets were lost while recording (the trace buffer was full)"),
      1U);
}

TEST(PerfettoReader, DefaultsStandInForTrackAndClock) {
  TestPackets t = with_thread();
  t.track(kQueue, kProcess, "queue");
  proto::TracePacket packet = TestPackets::packet();
  packet.mutable_trace_packet_defaults()->set_timestamp_clock_id(3);
  packet.mutable_trace_packet_defaults()->mutable_track_event_defaults()->set_track_uuid(kQueue);
  for (const auto& [id, ns] : {std::pair{6U, 1'000U}, {3U, 400U}}) {
    auto& clock = *packet.mutable_clock_snapshot()->add_clocks();
    clock.set_clock_id(id);
    clock.set_timestamp(ns);
  }
  t.add(packet);
  t.begin(500, "on queue");
  t.end(700);
  const Trace trace = t.read();
  const EventId event = find(trace, "on queue");
  EXPECT_EQ(trace.ts_ns()[event.row], 1'100);
  EXPECT_EQ(trace.dur_ns()[event.row], 200);
  EXPECT_NE(trace.details(event).find("perfetto_track"), nullptr);
}

TEST(PerfettoReader, ArgumentsOfTheEndJoinThoseOfTheBegin) {
  TestPackets t = with_thread();
  const auto add = [&](Type::Type type, std::uint64_t ns, const char* key, int value) {
    t.event(type, ns, type == Type::TYPE_SLICE_BEGIN ? "copy" : "", {},
            [&](proto::TracePacket& packet) {
              for (const char* const name : {"grid_size", key}) {
                auto& annotation = *packet.mutable_track_event()->add_debug_annotations();
                annotation.set_name(name);
                annotation.set_int_value(value);
              }
            });
  };
  add(Type::TYPE_SLICE_BEGIN, 10, "queue", 1);
  add(Type::TYPE_SLICE_END, 20, "copy_bytes", 2);
  const Trace trace = t.read();
  const Value details = trace.details(find(trace, "copy"));
  EXPECT_EQ(details, Value::dict({"copy_bytes", "grid_size", "queue"}, {2, 2, 1}));
}

TEST(PerfettoReader, AnUnendedSliceStaysABeginAndIsCounted) {
  TestPackets t = with_thread();
  t.begin(10, "never ends");
  const Trace trace = t.read();
  EXPECT_EQ(trace.dur_ns()[find(trace, "never ends", Phase::kOther).row], kAbsent);
  EXPECT_EQ(trace.warnings().count("begin or end event without its partner"), 1U);
}

TEST(PerfettoReader, FlowsConnectSlicesOfThreads) {
  TestPackets t = with_thread();
  const auto add = [&](std::uint64_t ns, const char* name) {
    t.event(Type::TYPE_INSTANT, ns, name, {},
            [](proto::TracePacket& packet) { packet.mutable_track_event()->add_flow_ids(77); });
  };
  add(10, "producer");
  add(20, "consumer");
  const Trace trace = t.read();
  const EventId start = find(trace, "producer", Phase::kFlowStart);
  const EventId end = find(trace, "producer", Phase::kFlowEnd);
  EXPECT_EQ(trace.ts_ns()[start.row], 10);
  EXPECT_EQ(trace.ts_ns()[end.row], 20);
  EXPECT_EQ(trace.correlations()[start.row], trace.correlations()[end.row]);
}

TEST(PerfettoReader, CountersAreSummedUpInTheMetadata) {
  TestPackets t = with_thread();
  proto::TracePacket packet = TestPackets::packet();
  packet.mutable_track_descriptor()->set_uuid(5);
  packet.mutable_track_descriptor()->set_name("bytes");
  packet.mutable_track_descriptor()->mutable_counter()->set_is_incremental(true);
  packet.mutable_track_descriptor()->mutable_counter()->set_unit_multiplier(1024);
  t.add(packet);
  for (const int step : {3, -1, 5})
    t.event(Type::TYPE_COUNTER, 10, "", {.category = {}, .track = 5},
            [step](proto::TracePacket& sample) {
              sample.mutable_track_event()->set_counter_value(step);
            });
  const Trace trace = t.read();
  EXPECT_EQ(trace.size(), 2U);  // no events of their own
  ASSERT_NE(trace.metadata("counters"), nullptr);
  EXPECT_EQ(trace.metadata("counters")->items().at(0),
            Value::dict({"name", "samples", "min", "max", "last"},
                        {"bytes", 3, 2 * 1024.0, 7 * 1024.0, 7 * 1024.0}));
}

TEST(PerfettoReader, LegacyEventsAreReadByTheirLetter) {
  TestPackets t = with_thread();
  const auto add = [&](char phase, std::uint64_t ns, const char* name, std::uint64_t id) {
    t.event(Type::TYPE_UNSPECIFIED, ns, name, {}, [&](proto::TracePacket& packet) {
      auto& legacy = *packet.mutable_track_event()->mutable_legacy_event();
      legacy.set_phase(phase);
      if (phase == 'X') legacy.set_duration_us(3);
      if (id != 0) legacy.set_unscoped_id(id);
    });
  };
  add('X', 1'000, "complete", 0);
  add('B', 5'000, "pair", 0);
  add('E', 7'000, "pair", 0);
  add('i', 8'000, "instant", 0);
  add('b', 10'000, "async 1", 1);
  add('b', 11'000, "async 2", 2);
  add('e', 12'000, "async 1", 1);
  add('e', 15'000, "async 2", 2);
  add('D', 16'000, "object", 0);
  const Trace trace = t.read();
  EXPECT_EQ(trace.dur_ns()[find(trace, "complete").row], 3'000);
  EXPECT_EQ(trace.dur_ns()[find(trace, "pair").row], 2'000);
  EXPECT_EQ(trace.ts_ns()[find(trace, "instant", Phase::kInstant).row], 8'000);
  EXPECT_EQ(trace.dur_ns()[find(trace, "async 1").row], 2'000);
  EXPECT_EQ(trace.dur_ns()[find(trace, "async 2").row], 4'000);
  EXPECT_EQ(trace.warnings().count(
                "legacy event of a kind that is not read (object snapshots, memory dumps, ...)"),
            1U);
}

TEST(PerfettoReader, LegacyCountersAreOnePerArgument) {
  TestPackets t = with_thread();
  for (const int value : {4, 1, 3})
    t.event(Type::TYPE_UNSPECIFIED, 10, "memory", {}, [&](proto::TracePacket& packet) {
      packet.mutable_track_event()->mutable_legacy_event()->set_phase('C');
      for (const char* const name : {"used", "free"}) {
        auto& annotation = *packet.mutable_track_event()->add_debug_annotations();
        annotation.set_name(name);
        annotation.set_int_value(name[0] == 'u' ? value : 10 - value);
      }
    });
  const Trace trace = t.read();
  ASSERT_NE(trace.metadata("counters"), nullptr);
  ASSERT_EQ(trace.metadata("counters")->items().size(), 2U);
  EXPECT_EQ(trace.metadata("counters")->items().at(1),
            Value::dict({"name", "samples", "min", "max", "last"},
                        {"memory used", std::int64_t{3}, 1.0, 4.0, 3.0}));
  EXPECT_TRUE(trace.warnings().entries().empty());
}

TEST(PerfettoReader, LegacyFlowsKeepTheirEndsApartFromOtherFlows) {
  TestPackets t = with_thread();
  for (const std::uint64_t ns : {1U, 2U})
    t.event(Type::TYPE_INSTANT, ns, "modern", {},
            [](proto::TracePacket& packet) { packet.mutable_track_event()->add_flow_ids(5); });
  for (const auto& [phase, ns] : {std::pair{'s', 10U}, {'f', 20U}})
    t.event(Type::TYPE_UNSPECIFIED, ns, "queue", {}, [phase = phase](proto::TracePacket& packet) {
      packet.mutable_track_event()->mutable_legacy_event()->set_phase(phase);
      packet.mutable_track_event()->mutable_legacy_event()->set_unscoped_id(0);
    });
  const Trace trace = t.read();
  const EventId start = find(trace, "queue", Phase::kFlowStart);
  const EventId end = find(trace, "queue", Phase::kFlowEnd);
  EXPECT_EQ(trace.ts_ns()[start.row], 10);
  EXPECT_EQ(trace.ts_ns()[end.row], 20);
  EXPECT_EQ(trace.correlations()[start.row], trace.correlations()[end.row]);
  const EventId modern = find(trace, "modern", Phase::kFlowStart);
  EXPECT_NE(trace.correlations()[start.row], trace.correlations()[modern.row]);
}

TEST(PerfettoReader, ASliceWithoutACategoryIsAnEventLikeAnyOther) {
  TestPackets t = with_thread();
  t.track(kQueue, kProcess, "queue");
  for (const std::optional<std::uint64_t> track : {std::optional<std::uint64_t>{}, {kQueue}}) {
    t.begin(10, track ? "on queue" : "on thread", {.category = {}, .track = track});
    t.end(25, track);
  }
  t.instant(30, "instant", {.category = {}});
  const Trace trace = t.read();
  for (const std::string_view name : {"on thread", "on queue"}) {
    const EventId slice = find(trace, name);
    EXPECT_EQ(trace.category(slice), Category::kNone);
    EXPECT_EQ(trace.dur_ns()[slice.row], 15);
  }
  EXPECT_EQ(trace.category(find(trace, "instant", Phase::kInstant)), Category::kNone);
  EXPECT_TRUE(trace.warnings().entries().empty());
}

TEST(PerfettoReader, ASliceOfAWholeProcessOrTraceIsOnNoThreadOfIt) {
  TestPackets t = with_thread();
  t.begin(30, "of the process", {.track = kProcess});
  t.begin(35, "of the thread");
  t.end(40, kProcess);
  t.end(45);
  t.begin(50, "of all", {.track = 0});
  t.end(60, 0);
  const Trace trace = t.read();
  EXPECT_EQ(trace.track(find(trace, "of the process")), (Track{100, 0}));
  EXPECT_EQ(trace.dur_ns()[find(trace, "of the process").row], 10);
  EXPECT_EQ(trace.track(find(trace, "of the thread")), (Track{100, 101}));
  EXPECT_EQ(trace.track(find(trace, "of all")), (Track{0, 0}));
  EXPECT_TRUE(trace.warnings().entries().empty());
}

TEST(PerfettoReader, PacketsInsideACompressedPacketAreRead) {
  TestPackets t = with_thread(), inner;
  inner.instant(10, "inside");
  proto::TracePacket packet;
  packet.set_compressed_packets(deflated(inner.bytes()));
  t.add(packet);
  EXPECT_EQ(t.read().name(find(t.read(), "inside", Phase::kInstant)), "inside");
}

TEST(PerfettoReader, ABombOrAPacketPackedTwiceIsNotUnpacked) {
  TestPackets t = with_thread();
  proto::TracePacket bomb, twice, inner;
  bomb.set_compressed_packets(deflated(std::string(std::size_t{65} << 20, '\0')));
  inner.set_compressed_packets(deflated(TestPackets{}.bytes()));
  twice.set_compressed_packets(deflated(TestPackets::wrapped(inner)));
  t.add(bomb);
  t.add(twice);
  const Trace trace = t.read();
  EXPECT_EQ(trace.warnings().count("packed packet that is damaged or too large, which is not read"),
            1U);
  EXPECT_EQ(trace.warnings().count("packed packet inside a packed packet, which is not read"), 1U);
}

TEST(PerfettoReader, APacketNestedTooDeepIsCountedAndLeftOut) {
  TestPackets t = with_thread();
  t.event(Type::TYPE_INSTANT, 10, "deep", {}, [](proto::TracePacket& packet) {
    auto* annotation = packet.mutable_track_event()->add_debug_annotations();
    // Far beyond what libprotobuf reads; it writes by recursion, so not without bounds either.
    for (int depth = 0; depth < 500; ++depth) annotation = annotation->add_array_values();
  });
  t.instant(20, "after");
  const Trace trace = t.read();
  (void)find(trace, "after", Phase::kInstant);
  EXPECT_EQ(trace.warnings().count("packet that cannot be read"), 1U);
}

TEST(PerfettoReader, WhatWasNeverInternedGetsAPlainName) {
  TestPackets t = with_thread();
  t.event(Type::TYPE_INSTANT, 10, "", {.category = {}}, [](proto::TracePacket& packet) {
    packet.mutable_track_event()->set_name_iid(9);
    packet.mutable_track_event()->add_category_iids(8);
  });
  const Trace trace = t.read();
  EXPECT_EQ(trace.category_text(find(trace, "", Phase::kInstant)), "unknown(8)");
  EXPECT_EQ(trace.warnings().count("event whose name is not in the trace"), 1U);
}

TEST(PerfettoReader, ACutFileGivesWhatCameBeforeAndNeverMore) {
  TestPackets t = with_thread();
  t.track(kQueue, kProcess, "queue");
  for (std::uint64_t i = 0; i < 20; ++i) {
    t.begin(10 * i, "on thread");
    t.begin(10 * i, "on queue", {.track = kQueue});
    t.end(10 * i + 5);
    t.end(10 * i + 7, kQueue);
  }
  const std::string& bytes = t.bytes();
  std::size_t events = 0;
  for (std::size_t size = 20; size <= bytes.size(); ++size) {
    const Trace trace = read_trace_bytes("cut", std::span{bytes}.first(size));
    EXPECT_GE(trace.size(), events) << size;
    events = trace.size();
    const bool says_so = trace.warnings().count("file ends inside a packet") == 1;
    EXPECT_EQ(trace.source().cut_short, says_so);
  }
  EXPECT_EQ(events, 2U + 20U + 40U);
}

TEST(PerfettoReader, ATrackMayBeDescribedAfterItsEvents) {
  const auto read = [](bool is_late) {
    TestPackets t = with_thread();
    if (!is_late) t.track(kQueue, kProcess, "COMPUTE QUEUE 1");
    t.begin(5'000, "gemm.kd", {.category = "kernel_dispatch", .track = kQueue});
    t.end(8'000, kQueue);
    t.begin(5'500, "call", {.track = 0x7ead2});
    t.end(5'600, 0x7ead2);
    if (is_late) t.track(kQueue, kProcess, "COMPUTE QUEUE 1");
    t.thread(100, 102, "late", 0x7ead2);
    return dump(t.read());
  };
  EXPECT_EQ(read(true), read(false));
  EXPECT_NE(read(true).find("COMPUTE QUEUE 1"), std::string::npos);
}

TEST(PerfettoReader, PacketsWithNothingInThemTakeNoRoom) {
  TestPackets t = with_thread();
  for (int i = 0; i < 5'000; ++i) t.add_bytes(std::string_view{"\x0a\x00", 2});
  t.instant(10, "after them");
  EXPECT_EQ(find(t.read(), "after them", Phase::kInstant).row, 2U);
}

TEST(PerfettoReader, SequencesAreLimited) {
  TestPackets t = with_thread();
  for (std::uint32_t i = 0; i < 70'000; ++i) {
    proto::TracePacket packet;
    packet.set_trusted_packet_sequence_id(i + 10);
    t.add(packet);
  }
  EXPECT_GT(
      t.read().warnings().count("packet of one sequence too many, taken as one without a sequence"),
      4'000U);
}

TEST(PerfettoReader, TheNumberOfThreadsMakesNoDifference) {
  TestPackets t = with_thread();
  t.track(kQueue, kProcess, "queue");
  for (std::uint64_t i = 0; i < 3'000; ++i) {  // several batches; calls before those they made
    const std::uint64_t begin = 100 * (i ^ 7);
    t.begin(begin + 40, "inner");
    t.end(begin + 50);
    t.begin(begin, "outer");
    t.end(begin + 90);
    t.begin(begin + 60, "kernel " + std::to_string(i % 10), {.track = kQueue});
    t.end(begin + 95, kQueue);
  }
  const std::string expected = dump_read(t.bytes(), {.threads = 1});
  EXPECT_GT(std::ranges::count(expected, '\n'), 12'000);
  for (const int threads : {2, 3, 5})
    EXPECT_TRUE(dump_read(t.bytes(), {.threads = threads}) == expected) << threads;
}

TEST(PerfettoReader, IsRecognisedByItsContent) {
  EXPECT_TRUE(is_perfetto(with_thread().bytes()));
  EXPECT_TRUE(is_perfetto(std::string_view{with_thread().bytes()}.substr(0, 20)));
  using namespace std::string_view_literals;
  EXPECT_FALSE(is_perfetto("\x0a\x0b\x12\x09/host:CPU"sv));               // XPlane: a name
  EXPECT_FALSE(is_perfetto("\x0a\x04\x08\x01\x1a\x00"sv));                // XPlane: id and lines
  EXPECT_FALSE(is_perfetto("\n{\"traceEvents\": [{\"ph\": \"X\"}]}"sv));  // JSON
  EXPECT_FALSE(is_perfetto("\n"sv));
  EXPECT_FALSE(is_perfetto(""sv));
}

}  // namespace
}  // namespace tracelens::perfetto
