#include "readers/chrome/event_texts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>

namespace tracelens {
namespace {

using testing::ElementsAre;

struct Texts {
  std::vector<std::string> events;
  std::uint64_t skipped = 0;
  bool is_cut = false;
  std::optional<Value> version;
};

Texts texts_of(const std::string& file) {
  io::Stream in = io::Stream::over("test.json", file);
  EventTexts events{in};
  Texts out;
  while (const auto text = events.next()) out.events.emplace_back(*text);
  out.skipped = events.skipped();
  out.is_cut = events.is_cut();
  if (const Value* const version = events.head("schemaVersion")) out.version = *version;
  return out;
}

TEST(EventTexts, AreTheObjectsOfTheListAsWritten) {
  const Texts texts = texts_of(R"({"schemaVersion": 1, "traceEvents": [{"a": "]}{"}, {"b":1}]})");
  EXPECT_THAT(texts.events, ElementsAre(R"({"a": "]}{"})", R"({"b":1})"));
  EXPECT_EQ(texts.version, Value{1});
  EXPECT_FALSE(texts.is_cut);
}

TEST(EventTexts, MembersBehindTheListAreReadToo) {
  const Texts texts = texts_of(R"({"traceEvents": [], "schemaVersion": 2})");
  EXPECT_THAT(texts.events, ElementsAre());
  EXPECT_EQ(texts.version, Value{2});
}

TEST(EventTexts, WhatIsNoObjectIsCounted) {
  const Texts texts = texts_of(R"([1, "x", {"a": 1}, [2],, null])");
  EXPECT_THAT(texts.events, ElementsAre(R"({"a": 1})"));
  EXPECT_EQ(texts.skipped, 4u);
}

TEST(EventTexts, ACutFileGivesTheEventsBeforeTheCut) {
  const std::string whole = R"([{"a": 1}, {"b": "x"}])";
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const Texts texts = texts_of(whole.substr(0, size));
    EXPECT_TRUE(texts.is_cut) << size;
    EXPECT_EQ(texts.events.size(), size < 9 ? 0u : size < 21 ? 1u : 2u) << size;
  }
}

TEST(EventTexts, AreIndependentOfTheBlocksTheyAreReadIn) {
  std::string file = "[";
  for (int i = 0; i < 60'000; ++i)
    file += (i > 0 ? "," : "") + std::string{R"({"name": "event )"} + std::to_string(i) +
            std::string(static_cast<std::size_t>(i % 97), 'x') + "\"}";
  file += "]";
  const Texts texts = texts_of(file);  // more than two blocks of text
  ASSERT_EQ(texts.events.size(), 60'000u);
  std::string joined = "[";
  for (const std::string& event : texts.events) joined += (joined.size() > 1 ? "," : "") + event;
  EXPECT_EQ(joined + "]", file);
}

TEST(EventTexts, WhatIsNoTraceIsRefused) {
  EXPECT_THROW(texts_of(R"({"a": 1})"), Error);
  EXPECT_THROW(texts_of("hello"), Error);
}

TEST(SplitObject, GivesKeysAndValuesAsWritten) {
  std::vector<RawMember> members;
  const std::string text = R"({"a": {"b": [1, 2]}, "c" : "d\"e"})" + std::string(32, '\0');
  ASSERT_TRUE(split_object(std::string_view{text}.substr(0, text.size() - 32), members));
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(members[0].value, R"({"b": [1, 2]})");
  EXPECT_EQ(members[1].key, "c");
  EXPECT_EQ(members[1].value, R"("d\"e")");
}

TEST(EventTexts, NulBytesAreToldAndWhatTheyJoinIsNoEvent) {
  using namespace std::string_literals;
  const std::string file = "[{\"a\":1},\0{\"ph\":2},{\"c\":\"\0\0\"},{\"ph\":4}]\n\0"s;
  io::Stream in = io::Stream::over("test.json", file);
  EventTexts events{in};
  std::vector<std::string> texts;
  while (const auto text = events.next()) texts.emplace_back(*text);
  EXPECT_THAT(texts, ElementsAre(R"({"a":1})", R"({"ph":2})", R"({"ph":4})"));
  EXPECT_EQ(events.skipped(), 1u);
  ASSERT_FALSE(events.warnings().empty());
  EXPECT_EQ(events.warnings()[0].count, 4u);
  EXPECT_EQ(events.warnings()[0].first_byte, 9u);
}

TEST(EventTexts, APageOfNulBytesCostsOnlyTheEventsItStandsIn) {
  const std::string event = R"({"ph": "X", "name": "a, {b}", "args": {"x": [[1], {"y": 2}]}})";
  const std::string file =
      "{\"traceEvents\": [" + event + ", " + event + ", " + event + "], \"schemaVersion\": 3}";
  const std::size_t first = file.find('[') + 1, period = event.size() + 2;
  for (const std::size_t page : {1u, 20u, 90u})
    for (std::size_t at = first; at + page <= first + 3 * period - 2; ++at) {
      std::string holed = file;
      holed.replace(at, page, page, '\0');
      std::size_t whole = 0;
      for (std::size_t i = 0; i < 3; ++i)
        whole += first + i * period >= at + page || first + i * period + event.size() <= at;
      const Texts texts = texts_of(holed);
      ASSERT_THAT(texts.events, testing::AllOf(testing::SizeIs(whole), testing::Each(event)))
          << page << ' ' << at;
      ASSERT_FALSE(texts.is_cut) << page << ' ' << at;
      ASSERT_EQ(texts.version, Value{3}) << page << ' ' << at;
    }
}

TEST(EventTexts, AnEventOfManyMegabytesIsRead) {
  const std::string filler(std::size_t{70} << 20, 'x');
  const Texts texts = texts_of(R"([{"a": ")" + filler + R"("}, {"b": 1}])");
  EXPECT_EQ(texts.events.size(), 2u);
  EXPECT_FALSE(texts.is_cut);
}

}  // namespace
}  // namespace tracelens
