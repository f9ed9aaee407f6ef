#include "trace/json_value.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace tracelens {
namespace {

Value parse(std::string_view text) {
  const auto value = parse_json_value(text);
  EXPECT_TRUE(value) << text;
  return value.value_or("not parsed");
}

TEST(JsonValue, ReadsShapesAsTuples) {
  EXPECT_EQ(parse(" [[8, 4],\n [] ] "), Value::tuple({Value::tuple({8, 4}), Value::tuple({})}));
}

TEST(JsonValue, ReadsEveryKindOfScalar) {
  EXPECT_EQ(parse("null"), Value{});
  EXPECT_EQ(parse("true"), Value{true});
  EXPECT_EQ(parse("-12"), Value{-12});
  EXPECT_EQ(parse("1.5e3"), Value{1500.0});
  EXPECT_EQ(parse("\"a\""), Value{"a"});
  EXPECT_EQ(parse("9223372036854775808"), Value{9223372036854775808.0});
  EXPECT_EQ(parse("1e999").as_real(), std::numeric_limits<double>::infinity());
}

TEST(JsonValue, AcceptsWhatKinetoVersionsHaveWrittenForNotANumber) {
  for (const auto text : {"NaN", "nan", "-nan"}) EXPECT_TRUE(std::isnan(parse(text).as_real()));
  for (const auto text : {"Infinity", "inf"}) EXPECT_TRUE(std::isinf(parse(text).as_real()));
  EXPECT_LT(parse("-Infinity").as_real(), 0);
}

TEST(JsonValue, OfManyKeysTheLastOfEqualOnesWinsLikewise) {
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += fmt::format("\"{}\": {}, ", i % 40, i);
  const auto value = parse_json_value(text + "\"last\": {\"a\": 1, \"a\": 2}}");
  ASSERT_TRUE(value);
  ASSERT_EQ(value->keys().size(), 41U);
  EXPECT_EQ(value->keys()[0], "0");
  EXPECT_EQ(value->keys()[39], "39");
  EXPECT_EQ(value->items()[19], Value{99});
  EXPECT_EQ(value->items()[20], Value{60});
  EXPECT_EQ(value->items()[40].items().size(), 1U);
}

TEST(JsonValue, LetsTheLastOfEqualKeysWinAtItsFirstPlace) {
  EXPECT_EQ(parse(R"({"a": 1, "b": 2, "a": 3})"), Value::dict({"a", "b"}, {3, 2}));
}

TEST(JsonValue, KeepsTheKeysAndItemsOfNestedContainersApart) {
  EXPECT_EQ(parse(R"({"a": {"a": [1, {"b": 2}], "c": {}, "a": 4}, "b": [[], [5]], "c": []})"),
            Value::dict({"a", "b", "c"},
                        {Value::dict({"a", "c"}, {4, Value::dict({}, {})}),
                         Value::tuple({Value::tuple({}), Value::tuple({5})}), Value::tuple({})}));
}

TEST(JsonValue, ReadsMoreTextsThanItComparesWith) {
  EXPECT_EQ(parse(R"(["a", "b", "a", "c", "d", "e", "f", "g", "h", "i", "i", "a"])"),
            Value::tuple({"a", "b", "a", "c", "d", "e", "f", "g", "h", "i", "i", "a"}));
}

TEST(JsonValue, ForgivesATrailingComma) {
  EXPECT_EQ(parse("[1, 2,]"), Value::tuple({1, 2}));
  EXPECT_EQ(parse(R"({"a": 1,})"), Value::dict({"a"}, {1}));
}

TEST(JsonValue, RefusesWhatIsNotOneValue) {
  for (const auto text : {"", "[", "[1", "]", "{", "{\"a\"}", "{\"a\":}", "[1 2]", "1 2", "\"a",
                          "nope", "[1}", "{1: 2}", ",", "--1", "\"\\", "[,"})
    EXPECT_FALSE(parse_json_value(text)) << text;
}

TEST(JsonValue, LimitsDepthInsteadOfTheStack) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(parse_json_value(nested(kMaxJsonDepth)));
  EXPECT_FALSE(parse_json_value(nested(kMaxJsonDepth + 1)));
  EXPECT_FALSE(parse_json_value(std::string(10'000'000, '[')));
}

TEST(UnescapeJson, ResolvesEscapesAndReplacesBrokenText) {
  EXPECT_EQ(unescape_json(R"(a\"b\\c\/d\n\t\u0041)"), "a\"b\\c/d\n\tA");
  EXPECT_EQ(unescape_json(R"(\u00b5s \ud83d\ude00)"), "\xC2\xB5s \xF0\x9F\x98\x80");
  EXPECT_EQ(unescape_json(R"(\ud83d!)"), "\xEF\xBF\xBD!");  // half a pair
  EXPECT_EQ(unescape_json("\xFF|\xC3|\xC0\x80"),
            "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(unescape_json(R"(\x\u12)"), "xu12");  // unknown escapes stand for themselves
  EXPECT_EQ(unescape_json("\\"), "");
}

TEST(IsPlainJsonText, HoldsExactlyWhenUnescapingChangesNothing) {
  for (const auto text : {"", "plain", "\xC2\xB5s", "\\n", "\xFF", "a\\", "\xED\xA0\x80"})
    EXPECT_EQ(is_plain_json_text(text), unescape_json(text) == text) << text;
}

}  // namespace
}  // namespace tracelens
