#include "analysis/diff/align.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>

namespace tracelens {
namespace {

std::vector<std::uint32_t> letters(std::string_view text) { return {text.begin(), text.end()}; }

// "M0,0 D1 I1"
std::string script(std::string_view first, std::string_view second) {
  std::string text;
  for (const EditStep& step : edit_script(letters(first), letters(second))) {
    if (!text.empty()) text += " ";
    if (step.is_match())
      text += "M" + std::to_string(step.first) + "," + std::to_string(step.second);
    else
      text +=
          step.is_removal() ? "D" + std::to_string(step.first) : "I" + std::to_string(step.second);
  }
  return text;
}

// The table in full, walked back by the same rules.
std::vector<EditStep> plain_script(const std::vector<std::uint32_t>& a,
                                   const std::vector<std::uint32_t>& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j)
      d[i][j] = i == 0   ? j
                : j == 0 ? i
                         : std::min({d[i - 1][j] + 1, d[i][j - 1] + 1,
                                     d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
  std::vector<EditStep> steps;
  for (std::size_t i = a.size(), j = b.size(); i > 0 || j > 0;) {
    if (i > 0 && j > 0 && a[i - 1] == b[j - 1]) {
      --i, --j;
      steps.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
    } else if (i > 0 && (j == 0 || d[i][j] == d[i - 1][j] + 1)) {
      steps.push_back({static_cast<std::uint32_t>(--i), EditStep::kNowhere});
    } else {
      steps.push_back({EditStep::kNowhere, static_cast<std::uint32_t>(--j)});
    }
  }
  std::ranges::reverse(steps);
  return steps;
}

TEST(EditScript, PrefersLaterMatchesAndRemovalsBeforeInsertions) {
  EXPECT_EQ(script("ab", "cd"), "D0 I0 D1 I1");
  EXPECT_EQ(script("ab", "ac"), "M0,0 D1 I1");
  EXPECT_EQ(script("aab", "ab"), "D0 M1,0 M2,1");
  EXPECT_EQ(script("abc", "bcd"), "D0 M1,0 M2,1 I2");
  EXPECT_EQ(script("ax", "xa"), "I0 M0,1 D1");
  EXPECT_EQ(script("abcd", "bd"), "D0 M1,0 D2 M3,1");
  EXPECT_EQ(script("", "ab"), "I0 I1");
  EXPECT_EQ(script("kk", "k"), "D0 M1,0");
  EXPECT_EQ(script("k", "kk"), "I0 M0,1");
  EXPECT_EQ(script("abab", "ba"), "D0 M1,0 M2,1 D3");
}

TEST(EditScript, BitsGiveTheSameStepsAsTheFullTable) {
  std::mt19937 random{7};
  for (int round = 0; round < 300; ++round) {
    const auto list = [&](std::size_t most) {
      std::vector<std::uint32_t> names(random() % (most + 1));
      const auto kinds = 1 + random() % 12;
      for (std::uint32_t& name : names) name = static_cast<std::uint32_t>(random() % kinds);
      return names;
    };
    const auto a = list(200), b = list(200);
    ASSERT_EQ(edit_script(a, b), plain_script(a, b)) << "round " << round;
  }
}

TEST(EditScript, TwentyThousandEqualNamesAndOneMoreTakeNoTime) {
  const std::vector<std::uint32_t> a(20'000, 1);
  std::vector<std::uint32_t> b(20'001, 1);
  b.back() = 2;
  const std::vector<EditStep> steps = edit_script(a, b);
  EXPECT_EQ(std::ranges::count_if(steps, &EditStep::is_match), 20'000);
}

}  // namespace
}  // namespace tracelens
