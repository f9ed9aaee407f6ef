#include "io/numbers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

namespace tracelens::io {
namespace {

constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
constexpr auto kMin = std::numeric_limits<std::int64_t>::min();

TEST(AppendInteger, TheLongestOnesToo) {
  std::string text;
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-7}, kMin, kMax}) {
    append_integer(text, value);
    text += ' ';
  }
  append_integer(text, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(text, "0 -7 -9223372036854775808 9223372036854775807 18446744073709551615");
}

TEST(ParseUsAsNs, MicrosecondsBecomeThousandNanoseconds) {
  EXPECT_EQ(parse_us_as_ns("0"), 0);
  EXPECT_EQ(parse_us_as_ns("7"), 7'000);
  EXPECT_EQ(parse_us_as_ns("1724.062"), 1'724'062);
  EXPECT_EQ(parse_us_as_ns("1.5"), 1'500);
  EXPECT_EQ(parse_us_as_ns("1712345678901234.567"), 1'712'345'678'901'234'567);
  EXPECT_EQ(parse_us_as_ns("-3.25"), -3'250);
  EXPECT_EQ(parse_us_as_ns("+3.25"), 3'250);
  EXPECT_EQ(parse_us_as_ns(".5"), 500);
  EXPECT_EQ(parse_us_as_ns("5."), 5'000);
  EXPECT_EQ(parse_us_as_ns("0007"), 7'000);
}

TEST(ParseUsAsNs, HalfANanosecondRoundsToTheEvenNeighbour) {
  EXPECT_EQ(parse_us_as_ns("0.0005"), 0);
  EXPECT_EQ(parse_us_as_ns("0.0015"), 2);
  EXPECT_EQ(parse_us_as_ns("0.0025"), 2);
  EXPECT_EQ(parse_us_as_ns("-0.0035"), -4);
  EXPECT_EQ(parse_us_as_ns("1.0005000000"), 1'000);
  EXPECT_EQ(parse_us_as_ns("1.00050000000000000000000000000001"), 1'001);
  EXPECT_EQ(parse_us_as_ns("1.0004999999999999999999999999999"), 1'000);
  EXPECT_EQ(parse_us_as_ns("9.9996"), 10'000);
  EXPECT_EQ(parse_us_as_ns("5e-4"), 0);
  EXPECT_EQ(parse_us_as_ns("51e-5"), 1);
  EXPECT_EQ(parse_us_as_ns("9e-5"), 0);
}

TEST(ParseUsAsNs, ExponentsMoveThePointExactly) {
  EXPECT_EQ(parse_us_as_ns("1.25e3"), 1'250'000);
  EXPECT_EQ(parse_us_as_ns("1.25E+3"), 1'250'000);
  EXPECT_EQ(parse_us_as_ns("1250e-3"), 1'250);
  EXPECT_EQ(parse_us_as_ns("0.000000001e9"), 1'000);
  EXPECT_EQ(parse_us_as_ns("0e999999999999999999999999"), 0);
  EXPECT_EQ(parse_us_as_ns("1e-999999999999999999999999"), 0);
  EXPECT_EQ(parse_us_as_ns("1" + std::string(5000, '0') + "e-5000"), 1'000);
  EXPECT_EQ(parse_us_as_ns("0." + std::string(5000, '0') + "1e5001"), 1'000);
}

TEST(ParseUsAsNs, WhatDoesNotFitHasNoValue) {
  EXPECT_EQ(parse_us_as_ns("9223372036854775.807"), kMax);
  EXPECT_EQ(parse_us_as_ns("9223372036854775.8074"), kMax);
  EXPECT_EQ(parse_us_as_ns("9223372036854775.8075"), std::nullopt);
  EXPECT_EQ(parse_us_as_ns("9223372036854775.808"), std::nullopt);
  EXPECT_EQ(parse_us_as_ns("-9223372036854775.808"), kMin);
  EXPECT_EQ(parse_us_as_ns("-9223372036854775.809"), std::nullopt);
  EXPECT_EQ(parse_us_as_ns("18446744073709551.6155"), std::nullopt);
  EXPECT_EQ(parse_us_as_ns("1e16"), std::nullopt);
  EXPECT_EQ(parse_us_as_ns("1e999999999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_us_as_ns(std::string(100'000, '9')), std::nullopt);
}

TEST(ParseUsAsNs, WhatIsNotOneNumberHasNoValue) {
  for (const char* text :
       {"",    "-",  "+",  ".",   "-.",  "e5",       "1e",        "1e+",  "1e5x", "1.2.3", "--1",
        "+-1", "1 ", " 1", "NaN", "nan", "Infinity", "-Infinity", "0x10", "1,5",  "1e5.0"})
    EXPECT_EQ(parse_us_as_ns(text), std::nullopt) << text;
}

// The fast path on the whole of `text`; no value when it declines or stops before the end.
std::optional<std::int64_t> fast(const std::string& text) {
  std::int64_t ns = -1;
  const char* stop = parse_us_fast(text.data(), text.data() + text.size(), ns);
  if (stop != text.data() + text.size()) return std::nullopt;
  return ns;
}

TEST(ParseUsFast, TakesTheUsualFormsAndStopsBehindThem) {
  EXPECT_EQ(fast("0"), 0);
  EXPECT_EQ(fast("1712345678901234.567"), 1'712'345'678'901'234'567);
  EXPECT_EQ(fast("12345678"), 12'345'678'000);
  EXPECT_EQ(fast("12345678.5"), 12'345'678'500);
  EXPECT_EQ(fast("1234567890123456"), 1'234'567'890'123'456'000);
  const std::string json = "81.25,\"dur\":3}";
  std::int64_t ns = 0;
  EXPECT_EQ(parse_us_fast(json.data(), json.data() + json.size(), ns), json.data() + 5);
  EXPECT_EQ(ns, 81'250);
}

TEST(ParseUsFast, LeavesEverythingElseToTheExactParser) {
  for (const char* text : {"", "-1", "+1", ".5", "5.", "5.,", "1.2345", "1e5", "1.5E3", "x", "/",
                           ":", "9223372036854775", "99999999999999999999", "1234567890123456789"})
    EXPECT_EQ(fast(text), std::nullopt) << text;
}

TEST(ParseUsFast, AgreesWithTheExactParserWhereverItGivesAValue) {
  std::mt19937_64 random{20240611};
  const std::string alphabet = "0123456789012345678901234567890123456789.....eE-+,/:";
  int taken = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string text(1 + random() % 24, ' ');
    for (char& c : text) c = alphabet[random() % (round % 2 == 0 ? 41 : alphabet.size())];
    std::int64_t ns = -1;
    const char* stop = parse_us_fast(text.data(), text.data() + text.size(), ns);
    if (stop == nullptr) continue;
    ++taken;
    const std::string_view number{text.data(), static_cast<std::size_t>(stop - text.data())};
    ASSERT_EQ(parse_us_as_ns(number), ns) << text;
  }
  EXPECT_GT(taken, 20'000);
}

TEST(ParseInt64, TakesTheWholeRangeAndNothingElse) {
  EXPECT_EQ(parse_int64("0"), 0);
  EXPECT_EQ(parse_int64("+42"), 42);
  EXPECT_EQ(parse_int64("9223372036854775807"), kMax);
  EXPECT_EQ(parse_int64("-9223372036854775808"), kMin);
  for (const char* text :
       {"", "+", "-", "+-1", "++1", "1.0", "1 ", " 1", "0x1", "9223372036854775808"})
    EXPECT_EQ(parse_int64(text), std::nullopt) << text;
}

TEST(ShortestDouble, PrintsAsPythonDoes) {
  EXPECT_EQ(shortest_double(0.0), "0.0");
  EXPECT_EQ(shortest_double(-0.0), "-0.0");
  EXPECT_EQ(shortest_double(0.1), "0.1");
  EXPECT_EQ(shortest_double(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(shortest_double(100), "100.0");
  EXPECT_EQ(shortest_double(-2.5), "-2.5");
  EXPECT_EQ(shortest_double(1e-4), "0.0001");
  EXPECT_EQ(shortest_double(1e-5), "1e-05");
  EXPECT_EQ(shortest_double(9.9999e-5), "9.9999e-05");
  EXPECT_EQ(shortest_double(1e15), "1000000000000000.0");
  EXPECT_EQ(shortest_double(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(shortest_double(1e16), "1e+16");
  EXPECT_EQ(shortest_double(1.5e16), "1.5e+16");
  EXPECT_EQ(shortest_double(-1e100), "-1e+100");
  EXPECT_EQ(shortest_double(5e-324), "5e-324");
  EXPECT_EQ(shortest_double(1.7976931348623157e308), "1.7976931348623157e+308");
  EXPECT_EQ(shortest_double(std::nan("")), "nan");
  EXPECT_EQ(shortest_double(-std::nan("")), "nan");
  EXPECT_EQ(shortest_double(INFINITY), "inf");
  EXPECT_EQ(shortest_double(-INFINITY), "-inf");
}

TEST(ParseDouble, TakesOneNumberAndNothingElse) {
  EXPECT_EQ(parse_double("1.5e3"), 1500.0);
  EXPECT_EQ(parse_double("-0.25"), -0.25);
  EXPECT_EQ(parse_double("-inf"), -INFINITY);
  EXPECT_TRUE(std::isnan(parse_double("NaN").value_or(0)));
  for (const char* text : {"", "1,5", "1.5 ", " 1", "0x10", "1e", "one"})
    EXPECT_EQ(parse_double(text), std::nullopt) << text;
}

TEST(ParseDouble, TooLargeIsInfiniteAndTooSmallIsZero) {
  EXPECT_EQ(parse_double("1e999"), INFINITY);
  EXPECT_EQ(parse_double("-1e999"), -INFINITY);
  EXPECT_EQ(parse_double("1e-999"), 0.0);
  EXPECT_EQ(parse_double("1" + std::string(400, '0')), INFINITY);
  EXPECT_EQ(parse_double("0." + std::string(400, '0') + "1"), 0.0);
}

TEST(ShortestDouble, ReadsBackAsTheSameValue) {
  std::mt19937_64 random{7};
  for (int round = 0; round < 20'000; ++round) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(std::strtod(shortest_double(value).c_str(), nullptr), value);
  }
}

}  // namespace
}  // namespace tracelens::io
