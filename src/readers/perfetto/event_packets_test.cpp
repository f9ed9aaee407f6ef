#include "readers/perfetto/event_packets.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "readers/kit/dump.hpp"
#include "readers/perfetto/testing.hpp"
#include "readers/perfetto/testing_repack.hpp"

namespace tracelens::perfetto {
namespace {

proto::TracePacket begin_of_slice() {
  proto::TracePacket packet = TestPackets::packet();
  packet.set_timestamp(5'000);
  packet.set_timestamp_clock_id(6);
  auto& event = *packet.mutable_track_event();
  event.set_type(proto::TrackEvent::TYPE_SLICE_BEGIN);
  event.set_name_iid(7);
  event.add_category_iids(3);
  event.set_track_uuid(0xfedcba9876543210);
  event.add_flow_ids(11);
  event.add_terminating_flow_ids(12);
  auto& number = *event.add_debug_annotations();
  number.set_name_iid(1);
  number.set_int_value(-5);
  auto& text = *event.add_debug_annotations();
  text.set_name("agent");
  text.set_string_value("Agent-2");
  return packet;
}

TEST(EventPackets, AnEventIsReadFromItsBytes) {
  const std::string bytes = begin_of_slice().SerializeAsString();
  EventPackets packets;
  ASSERT_TRUE(packets.add(bytes));
  const EventPacket& packet = packets.all().front();
  EXPECT_EQ(packet.timestamp, 5'000U);
  EXPECT_EQ(packet.clock, 6U);
  EXPECT_EQ(packet.sequence, TestPackets::kSequence);
  EXPECT_EQ(packet.type, EventPacket::Type::kBegin);
  EXPECT_EQ(packet.name_iid, 7U);
  EXPECT_EQ(packet.category_iid, 3U);
  EXPECT_TRUE(packet.has_track);
  EXPECT_EQ(packet.track_uuid, 0xfedcba9876543210U);
  const auto args = packets.args(packet);
  ASSERT_EQ(args.size(), 2U);
  EXPECT_EQ(args[0].name_iid, 1U);
  EXPECT_EQ(args[0].kind, EventArg::Kind::kInt);
  EXPECT_EQ(args[0].as_signed(), -5);
  EXPECT_EQ(args[1].name, "agent");
  EXPECT_EQ(args[1].text, "Agent-2");
  const auto flows = packets.flows(packet);
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_EQ(flows[0].id, 11U);
  EXPECT_FALSE(flows[0].is_last);
  EXPECT_EQ(flows[1].id, 12U);
  EXPECT_TRUE(flows[1].is_last);
}

TEST(EventPackets, WhatIsNotTheUsualFormIsLeftToLibprotobuf) {
  using Change = void (*)(proto::TracePacket&);
  const Change changes[] = {
      [](proto::TracePacket& packet) { packet.clear_timestamp(); },
      [](proto::TracePacket& packet) { packet.clear_track_event(); },
      [](proto::TracePacket& packet) { packet.set_sequence_flags(1); },
      [](proto::TracePacket& packet) { packet.set_previous_packet_dropped(1); },
      [](proto::TracePacket& packet) { packet.mutable_interned_data(); },
      [](proto::TracePacket& packet) { packet.mutable_track_event()->clear_type(); },
      [](proto::TracePacket& packet) { packet.mutable_track_event()->add_category_iids(4); },
      [](proto::TracePacket& packet) { packet.mutable_track_event()->mutable_legacy_event(); },
      [](proto::TracePacket& packet) {
        packet.mutable_track_event()->set_type(proto::TrackEvent::TYPE_SLICE_END);
      },  // with arguments
      [](proto::TracePacket& packet) {
        packet.mutable_track_event()->add_debug_annotations()->set_name("no value");
      },
      [](proto::TracePacket& packet) {
        packet.mutable_track_event()->mutable_debug_annotations(0)->add_dict_entries();
      },
      [](proto::TracePacket& packet) {
        packet.mutable_track_event()->mutable_debug_annotations(0)->set_name("two names");
      },
  };
  EventPackets packets;
  for (const Change& change : changes) {
    SCOPED_TRACE(&change - changes);
    proto::TracePacket packet = begin_of_slice();
    change(packet);
    const std::string bytes = packet.SerializeAsString();
    EXPECT_FALSE(packets.add(bytes));
  }
  const std::string whole = begin_of_slice().SerializeAsString();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    proto::TracePacket cut;
    if (packets.add(whole.substr(0, size))) {
      EXPECT_TRUE(cut.ParseFromString(whole.substr(0, size))) << size;
    }
  }
}

// Events with all kinds of arguments under names that mean something and names that do not, some
// interned, of two sequences that number them differently, in no order. The same numbers each time.
std::string random_trace(unsigned seed) {
  std::mt19937 random{seed};
  const auto below = [&](unsigned count) { return static_cast<unsigned>(random()) % count; };
  const std::vector<std::string> names = {
      "begin_ns",    "end_ns",         "delta_ns",  "stream",     "stream_ID",   "device",
      "agent",       "src_agent",      "dst_agent", "copy_bytes", "correlation", "corr_id",
      "External id", "grid_size",      "SQ_WAVES",  "kind",       "a.b[c]",      "Call stack",
      "Input Dims",  "perfetto_track", "name",      "Bytes",      "Rank",        "say \"so\""};
  const std::vector<std::string> categories = {
      "kernel_dispatch", "memory_copy", "hip_api",           "cuda_profiler_range",
      "python_function", "cpu_op",      "cpu_instant_event", "app"};
  const std::vector<std::string> texts = {
      "Agent-2",         "7",
      "[[2, 3], [4]]",   "",
      "caf\u00e9 \"q\"", "a rather long text that is kept as a whole"};
  TestPackets t;
  t.process(0x900, 100, "app");
  t.thread(100, 101, "worker");
  t.track(0x901, 0x900, "QUEUE 1");
  const auto add_names = [&](std::uint32_t sequence, bool is_first) {
    proto::TracePacket packet;
    packet.set_trusted_packet_sequence_id(sequence);
    packet.set_sequence_flags(is_first ? 1 : 0);
    auto& data = *packet.mutable_interned_data();
    const auto add = [&](auto* entry, std::size_t iid, const std::string& text) {
      entry->set_iid(iid);
      entry->set_text(text);
    };
    const unsigned shift = below(3);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (below(20) > 0) add(data.add_debug_annotation_names(), i + 1 + shift, names[i]);
    for (std::size_t i = 0; i < categories.size(); ++i)
      add(data.add_event_categories(), i + 1 + shift, categories[i]);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      add(data.add_debug_annotation_string_values(), i + 1, texts[i]);
      add(data.add_event_names(), i + 1, "COPY_" + texts[i] + "_TO_DEVICE");
    }
    t.add(packet);
  };
  for (const std::uint32_t sequence : {1U, 2U}) add_names(sequence, true);
  for (int i = 0; i < 400; ++i) {
    if (below(50) == 0) add_names(1 + below(2), below(2) == 0);
    proto::TracePacket packet;
    packet.set_trusted_packet_sequence_id(1 + below(8) / 6 + below(60) / 59);
    packet.set_timestamp(1'000'000 + static_cast<std::uint64_t>(i) * 1'000 + below(1'500));
    if (below(30) == 0) packet.set_timestamp(~std::uint64_t{0});
    if (below(4) == 0) packet.set_sequence_flags(2);
    if (below(4) == 0) packet.set_timestamp_clock_id(below(10) == 0 ? 64 : 6);
    auto& event = *packet.mutable_track_event();
    const bool is_end = below(3) == 0;
    event.set_type(is_end         ? proto::TrackEvent::TYPE_SLICE_END
                   : below(4) > 0 ? proto::TrackEvent::TYPE_SLICE_BEGIN
                                  : proto::TrackEvent::TYPE_INSTANT);
    if (below(3) > 0) event.set_track_uuid(0x900 + below(3));
    if (!is_end || below(9) == 0) {
      if (below(4) > 0) event.set_name_iid(below(8));
      if (below(4) == 0) event.set_name(texts[below(6)]);
      if (below(4) > 0) event.add_category_iids(1 + below(10));
      if (below(8) == 0) event.add_categories(categories[below(8)]);
    }
    if (below(3) == 0) event.add_flow_ids(below(20));
    if (below(6) == 0) event.add_terminating_flow_ids(below(20));
    const unsigned args = is_end ? below(12) / 11 : below(6);
    const unsigned first = below(static_cast<unsigned>(names.size()));
    for (unsigned arg = 0; arg < args; ++arg) {
      auto& annotation = *event.add_debug_annotations();
      const std::size_t name = (first + arg) % names.size();
      if (below(6) == 0)
        annotation.set_name(names[name]);
      else
        annotation.set_name_iid(name + 1);
      switch (below(10)) {
        case 0:
          annotation.set_bool_value(below(2) == 0);
          break;
        case 1:
          annotation.set_int_value(-static_cast<std::int64_t>(below(3)));
          break;
        case 2:
          annotation.set_double_value(below(5) + 0.5);
          break;
        case 3:
          annotation.set_string_value(texts[below(6)]);
          break;
        case 4:
          annotation.set_pointer_value(below(100));
          break;
        case 5:
          annotation.set_string_value_iid(1 + below(7));
          break;
        case 6:
          if (below(5) == 0) annotation.set_legacy_json_value("[1, 2]");
          break;
        default:
          annotation.set_uint_value(below(3) == 0 ? below(1'000'000) : below(5));
          break;
      }
    }
    t.add(packet);
  }
  return t.bytes();
}

TEST(EventPackets, GiveTheSameTraceAsLibprotobuf) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const std::string trace = random_trace(seed);
    const std::string ours = dump_read(repacked(trace, kForUs), {});
    EXPECT_EQ(ours, dump_read(repacked(trace, kForProtobuf), {}));
    EXPECT_EQ(ours, dump_read(repacked(trace, kForUs), {.threads = 5, .block_bytes = 1}));
  }
}

}  // namespace
}  // namespace tracelens::perfetto
