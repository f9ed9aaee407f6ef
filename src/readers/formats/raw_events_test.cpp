#include <tracelens/raw_events.hpp>

#include <gtest/gtest.h>

#include <string>
#include <tracelens/read_trace.hpp>

namespace tracelens {
namespace {

std::optional<RawEvents> raw_of(const std::string& text, const ReadOptions& options = {}) {
  return read_raw_events_bytes("memory", {text.data(), text.size()}, options);
}

TEST(RawEvents, AnEventIsItsTextWithEveryArgument) {
  const std::string mm = R"({"ph": "X", "name": "mm", "ts": 1, "dur": 2, "args": {"Ev Idx": 7}})";
  const auto raw = raw_of("{\"traceEvents\": [\n" + mm + ", 5, {\"ph\":\"M\"}]}");
  ASSERT_TRUE(raw.has_value());
  ASSERT_EQ(raw->size(), 3u);
  EXPECT_EQ(raw->text({0}), mm);
  EXPECT_EQ(raw->text({1}), "");
  EXPECT_EQ(raw->text({2}), "{\"ph\":\"M\"}");
  std::vector<RawMember> members;
  ASSERT_TRUE(split_object(raw->text({0}), members));
  EXPECT_EQ(members.back().key, "args");
  EXPECT_EQ(members.back().value, "{\"Ev Idx\": 7}");
}

TEST(RawEvents, ThereAreAsManyAsTheTraceHasRowsHoweverTheTextIsCut) {
  std::string text = "[";
  for (int i = 0; i < 300; ++i)
    text +=
        (i > 0 ? "," : "") + ("{\"ph\":\"i\",\"ts\":" + std::to_string(i) + ",\"name\":\"}{\"}");
  text += ",{\"ph\":";  // cut short
  for (const std::size_t block : {16u, 1000u, 100000u}) {
    const auto raw = raw_of(text, {.threads = 3, .block_bytes = block});
    ASSERT_TRUE(raw.has_value());
    const Trace trace = read_trace_bytes("memory", {text.data(), text.size()});
    ASSERT_EQ(raw->size(), trace.size());
    EXPECT_EQ(raw->text({299}), "{\"ph\":\"i\",\"ts\":299,\"name\":\"}{\"}");
  }
}

TEST(RawEvents, OtherFormatsHaveNone) {
  EXPECT_FALSE(raw_of("{\"rocprofiler-sdk-tool\": []}").has_value());
}

}  // namespace
}  // namespace tracelens
