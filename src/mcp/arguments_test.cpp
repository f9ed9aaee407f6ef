#include "mcp/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/json.hpp>

#include "mcp/json.hpp"

namespace tracelens::mcp {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kWords[] = {"a", "b"};
constexpr Argument kInner[] = {{.name = "column", .is_required = true}};
constexpr Argument kArguments[] = {
    {.name = "text", .is_required = true, .most = 5},
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 9, .otherwise = 3},
    {.name = "word", .kind = ArgumentKind::kChoice, .words = kWords},
    {.name = "sort", .kind = ArgumentKind::kObject, .is_list = true, .most = 2, .members = kInner},
};
constexpr ArgumentList kList{kArguments, {}};

std::string complaint(std::string_view json) {
  return complaint_about(*parse_json_value(json), kList).value_or("");
}

TEST(Arguments, WhatFitsIsTaken) {
  EXPECT_EQ(complaint(R"({"text": "x"})"), "");
  EXPECT_EQ(complaint(R"({"text": "x", "limit": 9.0, "word": "b", "sort": [{"column": "c"}]})"),
            "");
}

TEST(Arguments, AComplaintSaysWhatToGiveInstead) {
  EXPECT_THAT(complaint("{}"), HasSubstr("text is missing"));
  EXPECT_THAT(complaint(R"({"text": "toolong"})"), HasSubstr("longer than 5"));
  EXPECT_THAT(complaint(R"({"text": 3})"), HasSubstr("expected a text"));
  EXPECT_THAT(complaint(R"({"text": "x", "limit": 10})"), HasSubstr("1 to 9"));
  EXPECT_THAT(complaint(R"({"text": "x", "limit": 1.5})"), HasSubstr("integer"));
  EXPECT_THAT(complaint(R"({"text": "x", "limt": 1})"), HasSubstr("did you mean limit"));
  EXPECT_THAT(complaint(R"({"text": "x", "word": "c"})"), HasSubstr("one of a, b"));
  EXPECT_THAT(complaint(R"({"text": "x", "sort": [{}]})"), HasSubstr("sort[0].column is missing"));
  EXPECT_THAT(complaint(R"({"text": "x", "sort": [{}, {}, {}]})"), HasSubstr("items"));
}

TEST(Arguments, SentencesAboutFlagsSpeakOfArguments) {
  const auto told = [](std::string_view sentence) {
    return with_arguments_for_flags(sentence, kList);
  };
  EXPECT_EQ(told("--text: --text must be given with --limit"), "text must be given with limit");
  EXPECT_EQ(told("limit: use --column, or --other-flag -- x"),
            "limit: use sort.column, or --other-flag (of the command line) -- x");
  EXPECT_EQ(told("--"), "--");
  EXPECT_EQ(told("run--text.json: no trace"), "run--text.json: no trace");
}

TEST(Arguments, TheSchemaIsMadeOfTheSameRows) {
  const Value schema = input_schema(kList);
  EXPECT_EQ(compact_json(schema),
            R"({"type":"object","properties":{"text":{"type":"string","maxLength":5},)"
            R"("limit":{"type":"integer","minimum":1,"maximum":9},"word":{"enum":["a","b"]},)"
            R"("sort":{"type":"array","items":{"type":"object","properties":{"column":)"
            R"({"type":"string"}},"required":["column"]},"maxItems":2}},"required":["text"],)"
            R"("additionalProperties":false})");
}

}  // namespace
}  // namespace tracelens::mcp
