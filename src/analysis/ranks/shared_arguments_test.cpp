#include "analysis/ranks/shared_arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/trace_builder.hpp>

namespace tracelens {
namespace {

// Events with these arguments.
Trace with_arguments(const std::vector<std::string>& texts) {
  TraceBuilder builder;
  for (const std::string& text : texts) {
    const EventId event = builder.append({.name = builder.intern("kernel")});
    builder.set_details(event, builder.intern(text));
  }
  return std::move(builder).finish();
}

std::vector<std::int64_t> sequences(const std::vector<std::string>& texts) {
  const Trace trace = with_arguments(texts);
  SharedArguments arguments{trace};
  std::vector<std::int64_t> found;
  for (const EventId event : trace.all_events()) found.push_back(arguments.of(event).sequence);
  return found;
}

TEST(SharedArguments, TextsThatDifferInTheSequenceNumberAreReadOnce) {
  const Trace trace = with_arguments({R"({"a": 1, "Seq": 7})", R"({"a": 1, "Seq": 8})",
                                      R"({"a": 2, "Seq": 9})", R"({"a": 1, "Seq": 1000})"});
  SharedArguments arguments{trace};
  const auto first = arguments.of({0}), second = arguments.of({1}), third = arguments.of({2}),
             fourth = arguments.of({3});
  EXPECT_EQ(first.arguments, second.arguments);
  EXPECT_EQ(first.number, fourth.number);
  EXPECT_NE(first.number, third.number);
  EXPECT_EQ(first.sequence, 7);
  EXPECT_EQ(second.sequence, 8);
  EXPECT_EQ(third.sequence, 9);
  EXPECT_EQ(fourth.sequence, 1000);
  EXPECT_EQ(third.arguments->find("a")->as_int(), 2);
}

TEST(SharedArguments, OnlyTheNumberOfTheEventItselfCounts) {
  // Of an inner object, of a text, of two, no whole number, none.
  EXPECT_THAT(sequences({R"({"in": {"Seq": 1}})", R"({"in": {"Seq": 2}})"}),
              testing::Each(kAbsent));
  EXPECT_THAT(sequences({R"({"a": "x\"Seq\": 5", "b": 1})", R"({"a": "x\"Seq\": 6", "b": 1})"}),
              testing::Each(kAbsent));
  EXPECT_THAT(sequences({R"({"in": {"Seq": 4}, "Seq": 4})", R"({"in": {"Seq": 5}, "Seq": 4})"}),
              testing::Each(4));
  EXPECT_THAT(sequences({R"({"Seq": 1.5})", R"({"Seq": "1"})", R"({"Seq": null})", R"({"b": 1})"}),
              testing::Each(kAbsent));
  EXPECT_THAT(sequences({R"({"Seq": -3})", R"({"Seq" : 12 })", R"({"Seq":0})"}),
              testing::ElementsAre(-3, 12, 0));
}

}  // namespace
}  // namespace tracelens
