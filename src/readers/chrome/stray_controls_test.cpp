#include "readers/chrome/stray_controls.hpp"

#include <gtest/gtest.h>

#include <string>

#include "readers/chrome/json_scan.hpp"
#include "readers/chrome/padded_text.hpp"

namespace tracelens {
namespace {

using namespace std::string_literals;

Warnings warnings_of(std::string_view text, StrayControls::Which which) {
  StrayControls controls;
  controls.count(text, 100, which);
  Warnings warnings;
  controls.add_to(warnings);
  return warnings;
}

TEST(StrayControls, WhiteSpaceIsDamageInStringsOnly) {
  const std::string text = "{\n\t\"a\\\"\tb\": \r\n\"c\nd\"}";
  EXPECT_TRUE(warnings_of(text, StrayControls::kNoWhiteSpace).entries().empty());
  const Warnings warnings = warnings_of(text, StrayControls::kInStringsToo);
  ASSERT_EQ(warnings.entries().size(), 1u);
  EXPECT_EQ(warnings.entries()[0].count, 2u);
  EXPECT_EQ(warnings.entries()[0].first_byte, 107u);
}

TEST(StrayControls, NulBytesAreToldApartFromOthers) {
  const Warnings warnings = warnings_of("[1,\0\0 \x1b\0]"s, StrayControls::kNoWhiteSpace);
  ASSERT_EQ(warnings.entries().size(), 2u);
  EXPECT_EQ(warnings.entries()[0].count, 3u);
  EXPECT_EQ(warnings.entries()[0].first_byte, 103u);
  EXPECT_EQ(warnings.entries()[1].count, 1u);
  EXPECT_EQ(warnings.entries()[1].first_byte, 106u);
}

TEST(StrayControls, AreEscapedInStringsAndBlankElsewhere) {
  EXPECT_EQ(with_escaped_controls("{\n\"a\tb\":\x01\"\x1b\"}"), "{\n\"a\\u0009b\": \"\\u001b\"}");
  EXPECT_EQ(with_escaped_controls("\"a\\\nb\\\\\n\""), "\"a\\u000ab\\\\\\u000a\"");
}

TEST(StrayControls, TheFastScanFindsEveryOneAtEveryPlace) {
  for (std::size_t size = 1; size < 140; ++size)
    for (std::size_t at = 0; at < size; ++at) {
      PaddedText text;
      text.append(std::string(size, '\n'));
      const char* const begin = text.view().data();
      const auto has = [&] { return json::has_stray_controls(begin, begin + size); };
      ASSERT_FALSE(has());
      char& byte = const_cast<char&>(begin[at]);
      for (int c = 0; c < 256; ++c) {
        byte = static_cast<char>(c);
        const bool is_stray = c < ' ' && c != '\t' && c != '\n' && c != '\r';
        ASSERT_EQ(has(), is_stray) << size << ' ' << at << ' ' << c;
      }
    }
}

TEST(StrayControls, AStrictScanStopsAtThemInStrings) {
  for (const std::string& bad : {"\"a\nb\""s, "\"a\0b\""s, "\"a\\\tb\""s, "[\"\x1f\"]"s}) {
    PaddedText text;
    text.append(bad);
    const char* const begin = text.view().data();
    EXPECT_EQ(json::skip_value<true>(begin, begin + bad.size()), nullptr);
    EXPECT_EQ(json::skip_value(begin, begin + bad.size()), begin + bad.size());
  }
}

}  // namespace
}  // namespace tracelens
