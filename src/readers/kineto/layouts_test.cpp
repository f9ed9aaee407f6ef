// What is learned from other events makes no difference: an event is read as if it were the first.
#include "readers/kineto/layouts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "readers/chrome/padded_text.hpp"
#include "readers/kineto/event.hpp"

namespace tracelens::kineto {
namespace {

// All that was read of a block, without ids.
std::string told(const EventParser& parser, const ParsedBlock& block) {
  const auto text = [&](std::uint32_t id) { return parser.strings().text({id}); };
  const auto part = [&](const RawTrackPart& raw) {
    return raw.kind == RawTrackPart::Kind::kNone || raw.kind == RawTrackPart::Kind::kInt
               ? fmt::format("{}:{}", static_cast<int>(raw.kind), raw.value)
               : fmt::format("{}:{}", static_cast<int>(raw.kind),
                             text(static_cast<std::uint32_t>(raw.value)));
  };
  std::string all;
  for (const RawRow& row : block.rows) {
    const RawTrack& track = parser.tracks()[row.track];
    all += fmt::format("{} {} {} '{}' {}/{} {} {} {}", row.ts_ns, row.dur_ns, row.correlation,
                       text(row.name), part(track.pid), part(track.tid),
                       static_cast<int>(row.category), static_cast<int>(row.phase),
                       static_cast<int>(row.begin_end));
    if (row.signature != kNoId) {
      const RawSignature& signature = parser.signatures()[row.signature];
      all += fmt::format(" {} {} {} {} {}", text(signature.name), signature.dims, signature.types,
                         signature.strides, signature.concrete);
    }
    all += '\n';
  }
  for (const auto* column : {&block.external_ids, &block.sequences, &block.forward_threads,
                             &block.streams, &block.devices}) {
    for (const auto& [row, value] : *column) all += fmt::format("{}={} ", row, value);
    all += '|';
  }
  for (const auto& [row, id] : block.call_stacks) all += fmt::format("{}@{} ", row, text(id));
  for (const auto& [row, id] : block.details)
    all += fmt::format("{}:{} ", row, parser.json_texts().text({id}));
  for (const auto& [row, id] : block.category_texts) all += fmt::format("{}#{} ", row, text(id));
  for (const auto& [row, change] : block.memory_changes)
    all +=
        fmt::format("{}~{} {} {} {} {} {} {} ", row, change.address, change.bytes, change.allocated,
                    change.reserved, change.order, change.device_type, change.device);
  for (const RawLabel& label : block.labels)
    all += fmt::format("{}={} ", text(label.name), label.value);
  for (const auto& [problem, byte] : block.problems)
    all += fmt::format("problem {} ", static_cast<int>(problem));
  return all;
}

// As read by this parser; with what its text ends in.
std::string read(EventParser& parser, std::string_view event) {
  PaddedText text;
  text.append(event);
  ParsedBlock block;
  const auto outcome = parser.parse(text.view(), 0, block);
  return told(parser, block) +
         fmt::format("end {} at {}", static_cast<int>(outcome.end), outcome.stop);
}

void expect_read_as_alone(EventParser& parser, std::string_view event) {
  EventParser fresh;
  EXPECT_EQ(read(parser, event), read(fresh, event)) << event;
}

void expect_all_read_as_alone(const std::vector<std::string>& events, int rounds = 3) {
  EventParser parser;
  for (int round = 0; round < rounds; ++round)
    for (const std::string& event : events) expect_read_as_alone(parser, event);
}

const std::vector<std::string> kEvents = {
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7,
    "ts": 3844341873047.998, "dur": 68.801,
    "args": {
      "External id": 1028,"Record function id": 0, "Concrete Inputs": [""], "Input type": ["float"], "Input Strides": [[8192, 1]], "Call stack": "a.py(1): f;b.py(2): <module>;", "Input Dims": [[8192, 8192]], "Ev Idx": 3
    }
  })",
    R"({"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 7, "tid": 8,
    "ts": 3844341873048.998, "dur": 8.1,
    "args": {
      "External id": 1029,"Sequence number": 11, "Fwd thread id": 1, "Record function id": 0, "Input type": ["float", "int"], "Input Dims": [[2], []], "Ev Idx": 4
    }
  })",
    R"({"ph": "X", "cat": "kernel", "name": "void k<4, int>", "pid": 0, "tid": 7,
    "ts": 3844342102852.306, "dur": 1.088,
    "args": {
      "External id": 43149,      "queued": 0, "device": 0, "context": 1,      "stream": 7, "correlation": 72400,      "registers per thread": 32,      "blocks per SM": 0.007576,      "grid": [1, 1, 1],      "block": [128, 1, 1],      "est. achieved occupancy %": 0
    }
  })",
    R"({"ph": "s", "id": 72766, "pid": 7, "tid": 7, "ts": 3844342104064.674,
    "cat": "ac2g", "name": "ac2g"})",
    R"({"ph": "f", "id": 72766, "pid": 0, "tid": 7, "ts": 3844342104065.674,
    "cat": "ac2g", "name": "ac2g", "bp": "e"})",
    R"({"ph": "X", "cat": "python_function", "name": "a.py(65): run", "pid": 7, "tid": 7,
    "ts": 3844341859465.242, "dur": 111575.488,
    "args": {
      "Python thread": 1, "Python parent id": 1, "Python id": 2, "Call stack": "a.py(95): <module>;", "Ev Idx": 7489
    }
  })",
    R"({"ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]", "pid": 7, "tid": 7,
    "ts": 1700000000000000.125,
    "args": {"Total Reserved": 100, "Total Allocated": 50, "Bytes": -50, "Addr": 140000000000000, "Device Id": 0, "Device Type": 1, "Ev Idx": 9}})",
    R"({"name": "process_labels", "ph": "M", "ts": 3844341859552.049, "pid": 9, "tid": 0,
    "args": {"labels": "GPU 9"}})",
    R"({"ph":"X","name":"SQ","cat":"kernel_dispatch","ts":1,"dur":2,"pid":"a","tid":null,"args":{"begin_ns":5,"delta_ns":6,"SQ_WAVES":128.0,"agent":"GPU-2"}})",
    R"({"ph":"X","cat":"cuda_profiler_range","name":"r","ts":1,"dur":2,"pid":0,"tid":0,"args":{"sm__x":12,"y":"z"}})",
};

TEST(Layouts, EventsAmongOthersAreReadAsAlone) { expect_all_read_as_alone(kEvents); }

TEST(Layouts, TheOrderOfMembersMayAlternate) {
  expect_all_read_as_alone({
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":3,"dur":4,"args":{"External id":5,"Sequence number":6}})",
      R"({"name":"a","ph":"X","args":{"Sequence number":6,"External id":5},"cat":"cpu_op","tid":2,"pid":1,"dur":4,"ts":3})",
      R"({"args":{"Input Dims":[[1]],"External id":5},"ph":"X","name":"b","cat":"python_function","ts":3,"dur":4})",
  });
}

TEST(Layouts, WhiteSpaceMayChange) {
  std::vector<std::string> events;
  for (const std::string_view space : {"", " ", "  ", "\n", "\n    ", "\t", " \r\n "})
    events.push_back(fmt::format(
        R"({{{0}"ph":{0}"X",{0}"cat"{0}:{0}"kernel",{0}"name":"k","ts":{0}10.5{0},"dur":2,{0}"args":{0}{{{0}"stream":{0}7{0},"grid":{0}[1,2]{0}}}{0}}})",
        space));
  expect_all_read_as_alone(events);
}

TEST(Layouts, AValueMayBeOfAnotherKind) {
  constexpr std::string_view kValues[] = {"7",
                                          "-7",
                                          "\"7\"",
                                          "7.5",
                                          "null",
                                          "[7, {}]",
                                          "{}",
                                          "true",
                                          "\"\"",
                                          "1e3",
                                          "NaN",
                                          "007",
                                          "18446744073709551615",
                                          "7 7",
                                          "\"a",
                                          "",
                                          "123456789012345678901",
                                          " 7",
                                          "7x",
                                          "[7"};
  for (const std::string_view key :
       {"ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "args"}) {
    std::vector<std::string> events;
    for (const std::string_view value : kValues)
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"cpu_op","name":"n","pid":1,"tid":2,"ts":3,"dur":4,"{}":{},"z":1}})",
          key, value));
    expect_all_read_as_alone(events, 2);
  }
  for (const std::string_view key :
       {"External id", "Sequence number", "stream", "device", "grid", "Input Dims", "Call stack",
        "agent", "Ev Idx", "name", "SQ_WAVES", "Record function id"}) {
    std::vector<std::string> events;
    for (const std::string_view category : {"cpu_op", "kernel", "python_function"})
      for (const std::string_view value : kValues)
        events.push_back(fmt::format(
            R"({{"ph":"X","cat":"{}","name":"n","ts":3,"dur":4,"args":{{"{}":{},"z":1}}}})",
            category, key, value));
    expect_all_read_as_alone(events, 2);
  }
}

TEST(Layouts, TextsThatBeginAlikeAreToldApart) {
  std::vector<std::string> events;
  for (const std::string_view name :
       {"aten::to", "aten::to_", "aten::t", "", "aten::to\\\"", "aten::to\\\\"})
    for (const std::string_view key : {"stream", "streams", "strea", "stream_ID", "Stream"})
      events.push_back(fmt::format(
          R"({{"ph":"X","cat":"kernel","name":"{0}","ts":3,"dur":4,"args":{{"{1}":7,"Call stack":"{0};","Input Dims":[[{2}]]}}}})",
          name, key, key.size()));
  expect_all_read_as_alone(events);
}

TEST(Layouts, AnEventMayEndAnywhere) {
  EventParser parser;
  for (const std::string& event : kEvents) {
    expect_read_as_alone(parser, event);
    for (std::size_t size = 0; size < event.size(); ++size)
      expect_read_as_alone(parser, std::string_view{event}.substr(0, size));
  }
}

// More than there is room for: nothing is learned, or all is forgotten.
TEST(Layouts, ThereMayBeMoreLayoutsThanRoom) {
  EventParser parser;
  for (int i = 0; i < 12000; ++i) {
    const std::string event = fmt::format(
        R"({{"ph":"X","cat":"c{}","k{}":1,"name":"n{}","ts":{},"dur":1,"args":{{"x{}":{}}}}})",
        i % 50, i, i % 3, i, i % 700, i);
    if (i % 100 < 3)
      expect_read_as_alone(parser, event);
    else
      read(parser, event);
  }
  for (const std::string& event : kEvents) expect_read_as_alone(parser, event);
}

// A name may be any value; in quotes such a value need not be a text.
TEST(Layouts, NamesThatAreNoTextsAreNotExpectedAsTexts) {
  for (const std::string name : {R"(["a"])", R"({"a": 1})", R"(abc\)", "12", "true"}) {
    const auto event = [](const std::string& value) {
      return R"({"ph": "X", "cat": "cpu_op", "name": )" + value +
             R"(, "pid": 7, "tid": 7, "ts": 1.5, "dur": 2})";
    };
    EventParser parser;
    for (int i = 0; i < 20; ++i) expect_read_as_alone(parser, event(name));
    expect_read_as_alone(parser, event("\"" + name + "\""));
  }
}

TEST(Layouts, DamagedEventsAreSeenAsAlone) {
  std::mt19937 random{5};
  EventParser parser;
  constexpr std::string_view kBytes = "\"\\{}[]:,. 0e9\n\x01x-";
  for (int i = 0; i < 6000; ++i) {
    std::string event = kEvents[random() % kEvents.size()];
    if (i % 4 != 0) {
      const std::size_t at = random() % event.size();
      const char byte = kBytes[random() % kBytes.size()];
      switch (random() % 4) {
        case 0:
          event.erase(at, 1 + random() % 3);
          break;
        case 1:
          event.insert(at, 1, byte);
          break;
        case 2:
          event.insert(at, event.substr(random() % event.size(), random() % 20));
          break;
        default:
          event[at] = byte;
          break;
      }
    }
    EventParser fresh;
    ASSERT_EQ(read(parser, event), read(fresh, event)) << event;
  }
}

TEST(Layouts, TimesAreReadToTheNanosecondHoweverTheyAreWritten) {
  std::vector<std::string> events;
  for (const std::string_view time : {"3844341873047.998",
                                      "3844341873048.001",
                                      "3844341973048.1",
                                      "384434187304.998",
                                      "38443418730478.998",
                                      "38443418.998",
                                      "384434187.998",
                                      "3844341873047",
                                      "12345.678",
                                      "1.234",
                                      "0.001",
                                      ".5",
                                      "1.2345",
                                      "123456.789",
                                      "1.23e2",
                                      "1.234e2",
                                      "-1.234",
                                      "00000000.125",
                                      "0000000012.125",
                                      "1700000000000000.125",
                                      "9223372036854775.806",
                                      "99999999999999999.5"})
    for (const std::string_view other : {"12.345", "3844341873047.998"})
      events.push_back(fmt::format(R"({{"ph":"X","name":"n","ts":{},"dur":{}}})", time, other));
  expect_all_read_as_alone(events);
}

}  // namespace
}  // namespace tracelens::kineto
