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

// As split has them: what stands behind the list is a '\0' and any bytes.
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

TEST(StrictJson, TheBeginningOfAValueMayGoOn) {
  const std::string value = R"({"a": [1.5, "x\ud83d\ude00\n", true], "b": {"c": null}, "d": "é"})";
  for (std::size_t size = 0; size < value.size(); ++size)
    EXPECT_TRUE(json::begins_strict_json(value.substr(0, size))) << size;
  // A quote is missing: what follows is taken for strings, and soon is no JSON.
  EXPECT_FALSE(json::begins_strict_json(R"({"a": "b, "c": "d", "e": "f", "g": "h")"));
}

}  // namespace
}  // namespace tracelens::json
