// Any cut position and any number of threads give the same trace.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/json.hpp>
#include <tracelens/read_trace.hpp>

#include "io/packing_samples.hpp"
#include "io/stream.hpp"
#include "io/temporary_folder.hpp"
#include "readers/chrome/stray_controls.hpp"
#include "readers/kineto/kineto.hpp"
#include "readers/kineto/text_limits.hpp"
#include "readers/kit/dump.hpp"

namespace tracelens {
namespace {

// Events that are hard to cut: text that looks like a boundary, nested objects, escapes, damage.
std::string tricky_trace(int events) {
  constexpr std::string_view kShapes[] = {
      R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":{0},"ts":{1}.5,"dur":3,"args":{{"External id":{1},"Input Dims":[[{0},4]]}}}})",
      R"({{ "ph" : "i", "name": "}},{{\"ph\": \"X\"", "ts": {1}, "pid": "a,{{", "tid": "]" }})",
      R"({{"ph":"X","cat":"kernel","name":"k]}},{{","pid":0,"tid":7,"ts":{1},"dur":1.25,"args":{{"stream":7,"correlation":{1},"grid":[{0},1,1],"x":[{{"ph":1}},{{"ph":2}}]}}}})",
      R"({{"ph":"s","id":{1},"pid":1,"tid":1,"ts":{1},"cat":"ac2g","name":"ac2g"}})",
      R"({{"ph":"X","name":"bad \u00b5 \\\\","ts":"{1}","dur":NaN}})",
      "{0}",
      R"({{"ph":"M","name":"thread_name","pid":1,"tid":{0},"args":{{"name":"thread {1}"}}}})",
      R"({{"broken" {1}}})",
      "{{\"ph\":\"X\",\"name\":\"line\nbreak\",\"ts\":{1},\"dur\":{0}}}",
      "\x01 \x02{{\"ph\":\"i\",\x03\"ts\":{1},\n\"name\":\"\x1b[1m\"}}\x04",
  };
  std::mt19937 random{11};
  std::string text = "{\"schemaVersion\": 1,\n\"traceEvents\": [\n";
  for (int i = 0; i < events; ++i) {
    if (i > 0) text += random() % 2 == 0 ? ",\n  " : ",";
    text += fmt::format(fmt::runtime(kShapes[random() % std::size(kShapes)]), random() % 5, i + 10);
  }
  return text + "\n], \"traceName\": \"x\"}\n";
}

TEST(KinetoBlocks, AnyBlockSizeGivesTheSameTrace) {
  const std::string text = tricky_trace(60);
  const std::string expected = dump_read(text, {.threads = 1});
  for (std::size_t bytes = 16; bytes < 600; bytes += bytes < 100 ? 3 : 17)
    ASSERT_EQ(dump_read(text, {.threads = 1, .block_bytes = bytes}), expected) << bytes;
}

// Whose parts are read by the threads themselves.
TEST(KinetoBlocks, APlainFileGivesTheSameTraceAsItsText) {
  const std::string text = tricky_trace(300);
  const io::TemporaryFolder folder;
  const std::string path = folder.write("trace.json", text);
  const auto read = [&](io::Stream in, const ReadOptions& options) {
    return dump(read_kineto(in, options));
  };
  const std::string expected = read(io::Stream::over(path, text), {.threads = 1});
  for (std::size_t bytes = 16; bytes < 2000; bytes += bytes < 100 ? 3 : 97)
    for (const int threads : {1, 4})
      ASSERT_EQ(read(io::Stream::open(path), {.threads = threads, .block_bytes = bytes}), expected)
          << bytes << " bytes, " << threads << " threads";
}

// Every element where it stands, whole; those that cannot be read have no size.
TEST(KinetoBlocks, TheIndexKnowsWhereEachEventStands) {
  const std::string text = tricky_trace(200);
  for (const std::size_t bytes : std::initializer_list<std::size_t>{16, 90, 1000, 100000}) {
    io::Stream in = io::Stream::over("inline.json", text);
    const auto [trace, places, is_frame_strict] =
        index_kineto(in, {.threads = 3, .block_bytes = bytes});
    ASSERT_EQ(trace.size(), 200u);
    ASSERT_EQ(places.begins.size(), trace.size());
    EXPECT_EQ(text[places.list_begin - 1], '[');
    EXPECT_EQ(text.substr(places.list_end, 15), "], \"traceName\":");
    EXPECT_TRUE(is_frame_strict);
    std::size_t end = 0;  // of the element before
    for (std::size_t row = 0; row < trace.size(); ++row) {
      const std::size_t begin = places.begins[row], size = places.sizes[row];
      ASSERT_GE(begin, end);
      end = begin + size;
      if (size == 0) continue;
      ASSERT_EQ(text[begin], '{');
      const auto value = parse_json_value(with_escaped_controls(text.substr(begin, size)));
      ASSERT_TRUE(value) << text.substr(begin, size);
      if (trace.phase(EventId{static_cast<std::uint32_t>(row)}) == Phase::kFlowStart) {
        ASSERT_EQ(value->find("id")->as_int(), trace.correlations()[row]);
      }
    }
  }
}

// What goes where follows from these.
void expect_same_times_and_links(const std::string& text) {
  io::Stream whole = io::Stream::over("inline.json", text), indexed = io::Stream::over("i", text);
  const Trace trace = read_kineto(whole, {.threads = 1});
  const Trace index = index_kineto(indexed, {.threads = 1}).trace;
  ASSERT_EQ(index.size(), trace.size());
  for (const EventId event : trace.all_events()) {
    EXPECT_EQ(index.phase(event), trace.phase(event)) << event.row;
    EXPECT_EQ(index.category(event), trace.category(event)) << event.row;
    EXPECT_EQ(index.category_text(event), trace.category_text(event)) << event.row;
    EXPECT_EQ(index.name(event), trace.name(event)) << event.row;
    EXPECT_EQ(index.ts_ns()[event.row], trace.ts_ns()[event.row]) << event.row;
    EXPECT_EQ(index.dur_ns()[event.row], trace.dur_ns()[event.row]) << event.row;
    EXPECT_EQ(index.tracks()[event.row], trace.tracks()[event.row]) << event.row;
    const Category category = trace.category(event);
    if (category != Category::kCpuOp) {
      EXPECT_EQ(index.correlations()[event.row], trace.correlations()[event.row]) << event.row;
    }
    if (category == Category::kUserAnnotation || category == Category::kGpuUserAnnotation) {
      EXPECT_EQ(index.external_ids().at(event), trace.external_ids().at(event)) << event.row;
    }
  }
  EXPECT_EQ(index.warnings().entries().size(), trace.warnings().entries().size());
}

TEST(KinetoBlocks, TheIndexHasTheTimesAndLinksOfTheTrace) {
  expect_same_times_and_links(tricky_trace(300));
  for (const char* const file :
       {"h200_cuda_graph_decode", "h200_streams_overlap", "rocm_timeline", "serving"})
    expect_same_times_and_links(read_text_file("tests/data/" + std::string{file} + ".json.gz"));
}

// Each stands behind one it is nearly like: keys twice, in another order, of another kind; numbers of
// other lengths, numbers that go on where the other's end.
TEST(KinetoBlocks, AnEventLikeTheOneBeforeIsReadForItself) {
  std::string text = "[";
  for (
      const char* const values : {
          R"("cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 1, "dur": 9, "args": {"correlation": 1, "x": 1}})",
          R"("cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 12.5, "dur": 95.5, "args": {"correlation": 12, "x": 1.5}})",
          R"("cat": "kernel", "name": "b", "pid": 0, "tid": "7", "ts": 13, "dur": 9, "args": {"correlation": 1, "x": [2]}})",
          R"("cat": "kernel", "name": "b", "pid": 0, "tid": "7", "ts": 13, "dur": 9, "args": {"correlation": null, "x": 1}})",
          R"("cat": "kernel", "name": "b", "name": "c", "pid": 0, "tid": 7, "ts": 1, "dur": 9, "args": {"correlation": 3}})",
          R"("cat": "kernel", "name": "d", "name": "c", "pid": 0, "tid": 7, "ts": 1, "dur": 9, "args": {"correlation": 4}})",
          R"("cat": "kernel", "name": "d", "pid": 0, "tid": 7, "ts": 1, "dur": 9, "args": {"correlation": 4}, "args": {"correlation": 5}})",
          R"("cat": "kernel", "name": "d", "pid": 0, "tid": 7, "ts": 1, "dur": 9, "args": {"correlation": 6}, "args": {"correlation": 5}})",
          R"("cat": "kernel", "name": "d", "pid": 0, "tid": 7, "ts": 1, "dur": 9, "args": {}})",
          R"("cat": "kernel", "name": "d", "pid": 0, "tid": 7, "ts": 2, "dur": 9, "args": {}})",
          R"("name": "e", "pid": 0, "tid": 7, "ts": 2, "dur": 9, "args": {"correlation": 7}, "cat": "cpu_op"})",
          R"("name": "e", "pid": 0, "tid": 7, "ts": 2, "dur": 9, "args": {"correlation": 8}, "cat": "kernel"})",
          R"("cat": "cuda_runtime", "name": "f", "pid": 1, "tid": 1, "ts": 2, "args": {"correlation": 9}})",
          R"("cat": "cuda_runtime", "name": "f", "pid": 1, "tid": 1, "ts": NaN, "args": {"correlation": 10}})",
          R"("cat": "cuda_runtime", "name": "f", "pid": 1, "tid": 1, "ts": 3, "args": {"correlation": 10}} x)",
          R"("cat": "user_annotation", "name": "f", "pid": 1, "tid": 1, "ts": 3, "dur": 1, "args": {"External id": 1}})",
          R"("cat": "user_annotation", "name": "f\"", "pid": 1, "tid": 1, "ts": 3, "dur": 1, "args": {"External id": 2}})",
      })
    text += (text.size() > 1 ? ",\n" : "") + std::string{R"({"ph": "X", )"} + values;
  expect_same_times_and_links(text + "]");
  expect_same_times_and_links(text);
}

TEST(KinetoBlocks, TheIndexKnowsWhetherOthersReadWhatStandsAroundTheEvents) {
  const auto is_strict = [](const std::string& text) {
    io::Stream in = io::Stream::over("inline.json", text);
    return index_kineto(in, {.threads = 1}).is_frame_strict;
  };
  for (const char* const text : {"[]", " [ ] ", R"({"a": [{"b": 1}], "traceEvents": [], "c": 2})",
                                 R"({"traceEvents": [NaN)"})
    EXPECT_TRUE(is_strict(text)) << text;
  for (const char* const text :
       {"\xEF\xBB\xBF[]", "[] x", R"({"a": 01, "traceEvents": []})", R"({"traceEvents": []},)",
        R"({"traceEvents": [], "c": inf})", R"({"traceEvents": [])", R"({,"traceEvents": []})"})
    EXPECT_FALSE(is_strict(text)) << text;
}

TEST(KinetoBlocks, TheIndexHasTheArgumentsOfOpsWhenAskedFor) {
  const std::string text = tricky_trace(40);
  for (const bool op_arguments : {false, true}) {
    io::Stream in = io::Stream::over("inline.json", text);
    const TextIndex index = index_kineto(in, {.threads = 1}, op_arguments);
    bool has_dims = false;
    for (const Signature& signature : index.trace.signature_table())
      has_dims = has_dims || !signature.dims.is_null();
    EXPECT_EQ(has_dims, op_arguments);
  }
}

TEST(KinetoBlocks, AnyNumberOfThreadsGivesTheSameTrace) {
  const std::string text = tricky_trace(800);
  const std::string expected = dump_read(text, {.threads = 1});
  for (const int threads : {2, 3, 4, 7})
    for (const std::size_t bytes : std::initializer_list<std::size_t>{200, 4000, 100000})
      ASSERT_EQ(dump_read(text, {.threads = threads, .block_bytes = bytes}), expected)
          << threads << " threads, " << bytes << " bytes";
}

// Whose parts the threads unpack themselves, where there are many.
TEST(KinetoBlocks, PackedTextGivesTheSameTraceForAnyNumberOfThreads) {
  std::mt19937 random{5};
  std::string text = "[";
  for (int i = 0; i < 12'000; ++i) {
    std::string letters;
    for (int at = 0; at < 70; ++at) letters += static_cast<char>('A' + random() % 58);
    std::ranges::replace(letters, '\\', '/');
    text += fmt::format(R"({}{{"ph":"X","name":"a}},{{\"b","ts":{},"dur":3,"args":{{"x":"{}"}}}})",
                        i == 0 ? "" : ",\n", i, letters);
  }
  text += "]";
  const std::string packed = io::gzip(text, {.level = 6, .memory = 6});
  ASSERT_GT(packed.size(), 600U << 10);  // the first 256 KB are one thread's
  const auto read = [](std::string_view bytes, int threads) {
    io::Stream in = io::Stream::over("inline.json.gz", bytes);
    in.use_threads(threads, 32 << 10);
    const Trace trace = read_kineto(in, {.threads = threads});
    return dump(trace) + fmt::format("{} bytes {}", trace.source().text_bytes, in.damage());
  };
  const std::string expected = read(packed, 1);
  EXPECT_EQ(read(packed, 16), expected);
  const std::string_view cut = std::string_view{packed}.substr(0, packed.size() - 30'000);
  EXPECT_EQ(read(cut, 16), read(cut, 1));
  std::string damaged = packed;
  damaged[packed.size() - 6] = static_cast<char>(damaged[packed.size() - 6] ^ 1);  // the checksum
  const std::string with_damage = read(damaged, 1);
  EXPECT_NE(with_damage, expected);
  EXPECT_EQ(read(damaged, 16), with_damage);
}

TEST(KinetoBlocks, AnyPrefixIsReadOrRefusedTheSameWayByAnyNumberOfThreads) {
  const std::string text = tricky_trace(16);
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string prefix = text.substr(0, length);
    ASSERT_EQ(dump_read(prefix, {.threads = 1}),
              dump_read(prefix, {.threads = 2, .block_bytes = 90}))
        << length;
  }
}

TEST(KinetoBlocks, AnElementLongerThanManyBlocksIsRead) {
  const std::string text = R"([{"ph":"i","ts":1,"name":")" + std::string(300'000, 'x') +
                           R"("},{"ph":"i","ts":2,"name":"b"}])";
  const Trace trace = read_trace_bytes("long", text, {.threads = 2, .block_bytes = 1000});
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace.name({0}).size(), 300'000u);
  EXPECT_EQ(trace.name({1}), "b");
}

TEST(KinetoBlocks, AMissingQuoteCostsTheSameEventsWhereverTheCutsAre) {
  std::string text = tricky_trace(60);
  const std::size_t at = text.find("\"aten::mm\"", text.size() / 2);
  text.erase(at, 1);
  const std::string expected = dump_read(text, {.threads = 1});
  for (const std::size_t bytes : std::initializer_list<std::size_t>{32, 100, 1000})
    EXPECT_EQ(dump_read(text, {.threads = 2, .block_bytes = bytes}), expected);
}

// Elements that are long, have faults, do not end or hold NUL bytes, and much text behind the list; with limits that
// fit into a test.
TEST(KinetoBlocks, WhatIsTooLongIsJudgedTheSameWhereverTheCutsAre) {
  const TextLimits limits{
      .events = {.is_long = 2000, .longest = 16'000}, .tail = 500, .retry_bytes = 20'000};
  const auto read = [&](const std::string& text, int threads, std::size_t block_bytes) {
    io::Stream in = io::Stream::over("inline.json", text);
    try {
      const Trace trace =
          read_kineto_within(in, {.threads = threads, .block_bytes = block_bytes}, limits);
      return fmt::format("{}, {} bytes", dump(trace), trace.source().text_bytes);
    } catch (const Error& error) {
      return std::string{error.what()};
    }
  };
  std::mt19937 random{7};
  const auto below = [&](std::size_t limit) { return random() % limit; };
  std::size_t given_up = 0, cut_tails = 0;
  for (int round = 0; round < 150; ++round) {
    std::string text = R"({"traceEvents": [)";
    for (int i = 0; i < 12; ++i) {
      const std::string padding(below(3) == 0 ? below(9000) : below(400), 'x');
      std::string event = fmt::format(
          R"({{"ph":"X","name":"{}","ts":{},"dur":1,"args":{{"a":[{{"b":1}}, {{"c":"}}, {{\"d\""}}]}}}})",
          padding, round * 100 + i);
      const std::size_t place = below(event.size());
      switch (below(9)) {
        case 0:
          event[place] = '\x01';  // not strict, but read where the event is short
          break;
        case 1:
          event.erase(event.rfind('"', place + 1), 1);
          break;
        case 2:
          event.replace(place, std::min<std::size_t>(event.size() - place, 1 + below(40)), 20,
                        '\0');
          break;
        case 3:
          event.resize(event.size() - 1 - below(3));  // without its last braces
          break;
        default:
          break;
      }
      text += (i == 0 ? "" : ", ") + event;
    }
    text += "]" + (below(2) == 0 ? std::string(below(1500), ' ') : ", \"k\": 1") + "}";
    const std::string expected = read(text, 1, 512 << 10);
    given_up += expected.find("event that does not end") != expected.npos ? 1 : 0;
    cut_tails += expected.find("too long to keep") != expected.npos ? 1 : 0;
    for (const std::size_t bytes : std::initializer_list<std::size_t>{64, 1000, 3000, 7001})
      for (const int threads : {1, 3})
        ASSERT_EQ(read(text, threads, bytes), expected)
            << "round " << round << ", " << threads << " threads, " << bytes << " bytes";
  }
  EXPECT_GT(given_up, 10U);
  EXPECT_GT(cut_tails, 10U);
}

TEST(KinetoBlocks, APageOfNulBytesIsNeverOverlookedAndCostsOnlyTheEventsItStandsIn) {
  std::string text = "{\"schemaVersion\": 1, \"traceEvents\": [\n";
  const std::size_t list = text.size();
  std::vector<std::pair<std::size_t, std::size_t>> events;  // begin, end
  for (int i = 0; i < 10; ++i) {
    if (i > 0) text += ",\n";
    events.push_back({text.size(), 0});
    text += fmt::format(
        R"({{"ph": "X", "cat": "cpu_op", "name": "aten::op_{}", "pid": 1, "tid": 1, "ts": {},
 "dur": 2, "args": {{"Input Dims": [[{}, 2], []], "x": [{{"y": ["}}, {{z", {}]}}, {{"w": 1}}]}}}})",
        i, 10 * i, i, i);
    events.back().second = text.size();
  }
  const std::size_t list_end = text.size() + 1;
  text += "\n], \"traceName\": \"x\"}\n";
  for (const std::size_t page : std::initializer_list<std::size_t>{1, 16, 300})
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string holed = text;
      for (std::size_t i = at; i < std::min(at + page, text.size()); ++i) holed[i] = '\0';
      const std::string one = dump_read(holed, {.threads = 1});
      ASSERT_EQ(dump_read(holed, {.threads = 1, .block_bytes = 500}), one) << page << ' ' << at;
      ASSERT_EQ(dump_read(holed, {.threads = 1, .block_bytes = 37}), one) << page << ' ' << at;
      if (at % 16 == 0) {
        ASSERT_EQ(dump_read(holed, {.threads = 3, .block_bytes = 90}), one) << page << ' ' << at;
      }
      if (at >= list && at + page <= list_end) {
        const Trace trace = read_trace_bytes("holed", holed, {.threads = 1});
        EXPECT_EQ(trace.warnings().count(
                      "NUL byte: here the file holds no text, and what stood there is lost"),
                  page)
            << at;
        EXPECT_FALSE(trace.source().cut_short) << page << ' ' << at;
        EXPECT_NE(trace.metadata("traceName"), nullptr) << page << ' ' << at;
        for (std::size_t i = 0; i < events.size(); ++i) {
          std::size_t found = 0;
          for (std::uint32_t row = 0; row < trace.size(); ++row)
            found += trace.name({row}) == fmt::format("aten::op_{}", i) ? 1 : 0;
          const bool is_hit = events[i].first < at + page && events[i].second > at;
          ASSERT_EQ(found, is_hit ? 0u : 1u) << page << ' ' << at << ' ' << i;
        }
      }
      // Either no trace at all, or a warning.
      try {
        ASSERT_FALSE(read_trace_bytes("holed", holed, {.threads = 1}).warnings().entries().empty())
            << page << ' ' << at;
      } catch (const Error&) {
      }
    }
}

TEST(KinetoBlocks, AnErrorInOneThreadEndsTheReadInAll) {
  int calls = 0;
  ReadOptions options{.threads = 4,
                      .on_progress =
                          [&](const ReadProgress&) {
                            if (++calls == 3) throw Error{"callback", "stop"};
                          },
                      .block_bytes = 200};
  EXPECT_THROW((void)read_trace_bytes("inline", tricky_trace(500), options), Error);
}

TEST(KinetoBlocks, ReportsProgressUpToTheWholeText) {
  const std::string text = tricky_trace(500);
  ReadProgress last;
  const Trace trace =
      read_trace_bytes("inline", text,
                       {.threads = 2,
                        .on_progress = [&](const ReadProgress& progress) { last = progress; },
                        .block_bytes = 1'000});
  EXPECT_EQ(last.text_bytes, text.size());
  EXPECT_EQ(last.events, trace.size());
}

}  // namespace
}  // namespace tracelens
