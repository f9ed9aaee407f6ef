#include "readers/chrome/json_scan.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "readers/chrome/padded_text.hpp"

namespace tracelens {
namespace {

// The plain versions, one byte at a time: the judges of the fast ones.
std::size_t plain_skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); at += text[at] == '\\' ? 2 : 1)
    if (text[at] == '"') return at + 1;
  return std::string_view::npos;
}
std::size_t plain_skip_container(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = plain_skip_string(text, at);
      if (at == std::string_view::npos) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

struct Padded : PaddedText {
  explicit Padded(std::string_view text) { append(text); }
  [[nodiscard]] const char* begin() const { return view().data(); }
  [[nodiscard]] const char* end() const { return begin() + size(); }
  [[nodiscard]] std::size_t offset(const char* p) const {
    return p == nullptr ? std::string_view::npos : static_cast<std::size_t>(p - begin());
  }
};

TEST(JsonScan, SkipsSpaceOfAnyLength) {
  for (std::size_t spaces = 0; spaces < 70; ++spaces) {
    const Padded text{std::string(spaces, spaces % 3 == 0 ? '\n' : ' ') + "x"};
    EXPECT_EQ(text.offset(json::skip_space(text.begin(), text.end())), spaces);
    const Padded blank{std::string(spaces, ' ')};
    EXPECT_EQ(json::skip_space(blank.begin(), blank.end()), blank.end());
  }
}

TEST(JsonScan, FindsTheClosingQuotePastEscapes) {
  for (std::size_t length = 0; length < 70; ++length) {
    const Padded text{'"' + std::string(length, 'x') + R"(\"\\")" + "tail\""};
    EXPECT_EQ(text.offset(json::find_quote(text.begin() + 1, text.end())), length + 5);
  }
  const Padded open{"\"never closed"};
  EXPECT_EQ(json::find_quote(open.begin() + 1, open.end()), nullptr);
  const Padded dangling{"\"ends in a backslash\\"};
  EXPECT_EQ(json::find_quote(dangling.begin() + 1, dangling.end()), nullptr);
}

TEST(JsonScan, AgreesWithThePlainScanOnRandomText) {
  std::mt19937 random{7};
  constexpr std::string_view kLetters = "[]{}\"\\,: ax1\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string raw(1 + random() % 90, ' ');
    for (char& c : raw) c = kLetters[random() % kLetters.size()];
    raw[0] = random() % 2 == 0 ? '[' : '{';
    const Padded text{raw};
    EXPECT_EQ(text.offset(json::skip_container(text.begin(), text.end())),
              plain_skip_container(raw, 0))
        << raw;
    raw[0] = '"';
    const Padded string{raw};
    EXPECT_EQ(string.offset(json::skip_value(string.begin(), string.end())),
              plain_skip_string(raw, 0))
        << raw;
  }
}

TEST(JsonScan, TheStrictScanStopsAtControlCharacters) {
  std::mt19937 random{8};
  constexpr std::string_view kLetters{"[]{}\"\\,: ax1|\n\t\0\x1f", 17};
  const auto has_stray = [](std::string_view value) {
    bool in_string = false;
    for (std::size_t at = 0; at < value.size(); ++at) {
      if (in_string ? json::is_control(value[at]) : json::is_stray_control(value[at])) return true;
      if (in_string && value[at] == '\\') {
        if (json::is_control(value[++at])) return true;
      } else if (value[at] == '"') {
        in_string = !in_string;
      }
    }
    return false;
  };
  int sound = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string raw(1 + random() % 60, ' ');
    // Mostly none of the last four.
    for (char& c : raw) c = kLetters[random() % (kLetters.size() - (random() % 64 == 0 ? 0 : 4))];
    raw[0] = "[{\""[random() % 3];
    const Padded text{raw};
    const std::size_t plain = text.offset(json::skip_value(text.begin(), text.end()));
    const bool stops = plain == std::string::npos || has_stray(raw.substr(0, plain));
    EXPECT_EQ(text.offset(json::skip_value<true>(text.begin(), text.end())),
              stops ? std::string::npos : plain)
        << raw;
    if (!stops) ++sound;
  }
  EXPECT_GT(sound, 1000);
}

TEST(JsonScan, FindsTheEndOfNamesOfAnyLength) {
  for (const std::string name : {"", "s", "ph", "dur", "name", "A_1", "a\\\"b", "External id"}) {
    const Padded text{name + "\": 1"};
    EXPECT_EQ(text.offset(json::find_name_end<true>(text.begin(), text.end())), name.size());
  }
  for (const std::string cut : {"", "p", "ph", "dur", "name", "names", "p\n\"", "pid\t\""}) {
    const Padded text{cut};
    EXPECT_EQ(json::find_name_end<true>(text.begin(), text.end()), nullptr) << cut;
  }
}

TEST(JsonScan, EndsAScalarAtAnyDelimiter) {
  for (const std::string after : {",", "}", "]", " ", "\n", ""}) {
    const Padded text{"-1.5e3" + after};
    EXPECT_EQ(text.offset(json::skip_value(text.begin(), text.end())), 6u);
  }
  const Padded comma{","};
  EXPECT_EQ(json::skip_value(comma.begin(), comma.end()), nullptr);
}

TEST(JsonScan, DigitsOfNumbersOfOneLengthAreAlike) {
  const auto first_unlike = [](std::string a, std::string b) {
    a.resize(17, ' ');
    b.resize(17, ' ');
    const std::uint64_t bits = json::unlike(a.data() + 1, b.data() + 1);
    return bits == 0 ? 16 : json::first_byte(bits);
  };
  EXPECT_EQ(first_unlike(" \"ts\": 1234.5", " \"ts\": 9071.8"), 16);
  EXPECT_EQ(first_unlike(" \"ts\": 1234.5", " \"ts\": 0234.5"), 6);
  EXPECT_EQ(first_unlike(" \"ts\": 0, \"a\"", " \"ts\": 1, \"a\""), 6);
  EXPECT_EQ(first_unlike(" \"ts\": 12,", " \"ts\": 123,"), 8);
  EXPECT_EQ(first_unlike(" [/:", " [0:"), 1);
  EXPECT_EQ(first_unlike(" [9:", " [::"), 1);
  EXPECT_EQ(first_unlike(" \"a\\n\"", " \"a\\n\""), 2);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (const char before : {' ', '/', '0', '9', ':'})
    for (int a = 0; a < 256; ++a)
      for (int b = 0; b < 256; ++b) {
        const char x = static_cast<char>(a), y = static_cast<char>(b);
        const bool may_be_zero = is_digit(before) || (x != '0' && y != '0');
        const bool is_alike = x != '\\' && (x == y || (is_digit(x) && is_digit(y) && may_be_zero));
        const std::string start(1, before);
        ASSERT_EQ(first_unlike(start + x, start + y) > 0, is_alike)
            << before << ' ' << a << ' ' << b;
      }
}

TEST(PaddedText, GrowsErasesAndStaysPadded) {
  PaddedText text;
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string piece(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    text.append(piece);
    expected += piece;
    if (i % 7 == 6) {
      text.erase_front(expected.size() / 2);
      expected.erase(0, expected.size() / 2);
    }
    ASSERT_EQ(text.view(), expected);
    for (std::size_t pad = 0; pad < json::kPadding; ++pad)
      ASSERT_EQ(text.view().data()[expected.size() + pad], '\0');
  }
}

}  // namespace
}  // namespace tracelens
