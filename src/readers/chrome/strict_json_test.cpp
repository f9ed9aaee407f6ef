#include "readers/chrome/strict_json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tracelens::json {
namespace {

TEST(StrictJson, TakesWhatTheStandardAllows) {
  for (const std::string text :
       {"{}", "[]", "0", "-0.5e+3", "1E9", "\"\"", " [1 , {\"a\":[ ]} ,null]\n", "true",
        R"("\u00e9\ud83d\ude00\n\/")", "\"\xc3\xa9\"", R"({"a": {"b": [[], {}]}, "a": 1})"})
    EXPECT_TRUE(is_strict_json(text)) << text;
  EXPECT_TRUE(is_strict_json(std::string(512, '[') + std::string(512, ']')));
}

TEST(StrictJson, RefusesWhatOnlySomeReadersTake) {
  for (const std::string text : {"",
                                 "NaN",
                                 "inf",
                                 "-Infinity",
                                 "01",
                                 ".5",
                                 "1.",
                                 "+1",
                                 "1e",
                                 "-",
                                 "{,}",
                                 "[1,]",
                                 "[1 2]",
                                 "{\"a\"}",
                                 "{\"a\":}",
                                 "{a: 1}",
                                 "[}",
                                 "{]",
                                 "[1}",
                                 "1 2",
                                 "nul",
                                 "[",
                                 "\"",
                                 "\"\\q\"",
                                 "\"\\u12\"",
                                 "\"\\u+123\"",
                                 "\"\\ud800\"",
                                 "\"\\ud800\\u0041\"",
                                 "\"\\udc00\"",
                                 "\"\n\"",
                                 "\"\xff\"",
                                 "\"\xc3\"",
                                 "'a'",
                                 "\"\\"})
    EXPECT_FALSE(is_strict_json(text)) << text;
  for (std::size_t at = 1; at <= 40; ++at)
    for (const char bad : {'\x1f', '"', '\\', '\x80'}) {
      std::string text = '"' + std::string(40, '\x7f') + '"';
      EXPECT_TRUE(is_strict_json(text));
      text[at] = bad;
      EXPECT_FALSE(is_strict_json(text)) << at;
    }
  EXPECT_FALSE(is_strict_json(std::string("\"a\0\"", 4)));
  EXPECT_FALSE(is_strict_json(std::string("[1\0]", 4)));
  EXPECT_FALSE(is_strict_json(std::string(600, '[') + std::string(600, ']')));
}

// As split has them: behind the list any bytes may stand.
bool is_list(std::string text) {
  const std::size_t size = text.size();
  text += '\0';
  text += R"("], 1, {"a": 12345678901234567890123456789)";
  return is_strict_list({text.data(), size});
}

TEST(StrictJson, AListHasCommasBetweenItsValues) {
  for (const std::string text :
       {"{}", "1", R"({"a": 1})", "{},{}", R"({"ts": 17.25, "args": {"a": [[1, 2], []]}} ,
                {"b": "c"})",
        "1 , [] \n ", "\t\r\n {}"})
    EXPECT_TRUE(is_list(text)) << text;
  for (const std::string text :
       {"", " ", ",", "{},", ",{}", "{} {}", "{}]", "{}}", "[{}", R"({"a": 1)", R"({"a)",
        R"({"a": "b)", R"({"a": "\ud83d)", "1.", "{}\f,{}", "tru"})
    EXPECT_FALSE(is_list(text)) << text;
  EXPECT_FALSE(is_list(std::string("{},\0{}", 6)));
  for (std::size_t spaces = 0; spaces < 70; ++spaces) {
    const std::string gap(spaces, ' ');
    EXPECT_TRUE(is_list("{" + gap + "}," + gap + "\n" + gap + "{\"a\"" + gap + ":" + gap + "1}"));
    EXPECT_FALSE(is_list("{" + gap + "\v}"));
  }
}

// Events that are like those before them are compared only: all that can be wrong with one is found
// as in an event that stands alone.
TEST(StrictJson, AnEventLikeThoseBeforeIsJudgedAsStrictly) {
  const auto event = [](int i) {
    const std::string number = std::to_string(100 + i);
    return R"({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 10, "ts": 6520618938)" +
           number + R"(.091, "dur": 9.0, "args": {"External id": )" + number +
           R"(, "Input Dims": [[8, 1024], [10]], "at": "\u00e9\n)" + number +
           R"(", "d": {"e": "é", "f": [{"long name of a key": -0.5e10}, null]}}})";
  };
  std::string before;
  for (int i = 0; i < 8; ++i) before += event(i) + ",\n";
  const std::string last = event(8), after = ",\n" + event(9);
  ASSERT_TRUE(is_list(before + last + after));
  for (std::size_t at = 0; at < last.size(); ++at)
    for (const char c : std::string("0159-.eE\"\\{}[]:, \nadu\0\xc3\xa9\x1f", 26)) {
      std::string changed = last;
      changed[at] = c;
      EXPECT_EQ(is_list(before + changed + after), is_strict_json(changed)) << changed;
      EXPECT_EQ(is_list(before + changed), is_strict_json(changed)) << changed;
      changed.insert(at, 1, last[at]);
      EXPECT_EQ(is_list(before + changed + after), is_strict_json(changed)) << changed;
    }
  for (std::size_t size = 0; size < last.size(); ++size)
    EXPECT_FALSE(is_list(before + last.substr(0, size)));
}

TEST(StrictJson, KeysInOtherContainersAreOthers) {
  const std::string members = R"("a key that is long enough": 1, "b": 2, "c": 3)";
  const std::string object = "{" + members + "}";
  EXPECT_TRUE(is_list(object + "," + object + ",[" + object + "],[" + object + "]"));
  EXPECT_FALSE(is_list(object + ",[" + object + ",[" + members + "]]"));
  EXPECT_FALSE(is_list(object + ",[" + object + "," + object));
  EXPECT_FALSE(is_list("[" + object + "]," + object + "]"));
  std::string deep = object;
  for (int i = 0; i < 100; ++i)
    deep = (i % 2 == 0 ? "[" : R"({"d": )") + deep + (i % 2 == 0 ? ']' : '}');
  EXPECT_TRUE(is_list(deep + "," + deep));
  EXPECT_FALSE(is_list(deep + "," + deep + "]"));
}

TEST(StrictJson, TheBeginningOfAValueMayGoOn) {
  const std::string value = R"({"a": [1.5, "x\ud83d\ude00\n", true], "b": {"c": null}, "d": "é"})";
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_TRUE(json::begins_strict_json(value.substr(0, size))) << size;
  // A quote is missing: what follows is taken for strings, and soon is no JSON.
  EXPECT_FALSE(json::begins_strict_json(R"({"a": "b, "c": "d", "e": "f", "g": "h")"));
}

}  // namespace
}  // namespace tracelens::json
