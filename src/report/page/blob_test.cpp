#include "report/page/blob.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "io/check.hpp"
#include "report/page/testing.hpp"

namespace tracelens {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kLargest = (std::int64_t{1} << 53) - 1;

TEST(PageBlob, NumbersComeBack) {
  PageBlob blob;
  blob.add_numbers("plain", std::vector<std::int64_t>{0, 1, 127, 128, 300, kLargest});
  blob.add_numbers("signed", std::vector<std::int64_t>{0, -1, 1, -64, 64, -kLargest},
                   PageBlob::Sign::kSigned);
  blob.add_numbers("rising", std::vector<std::int64_t>{5, 9, kLargest}, PageBlob::Sign::kUnsigned,
                   PageBlob::Delta::kDifferences);
  blob.add_numbers("back", std::vector<std::int64_t>{100, 7, 8}, PageBlob::Sign::kSigned,
                   PageBlob::Delta::kDifferences);
  const auto columns = testing::columns_of(blob.bytes());
  EXPECT_THAT(columns.at("plain").numbers, ElementsAre(0, 1, 127, 128, 300, kLargest));
  EXPECT_THAT(columns.at("signed").numbers, ElementsAre(0, -1, 1, -64, 64, -kLargest));
  EXPECT_THAT(columns.at("rising").numbers, ElementsAre(5, 9, kLargest));
  EXPECT_THAT(columns.at("back").numbers, ElementsAre(100, 7, 8));
}

TEST(PageBlob, BytesRealsAndTextsComeBack) {
  PageBlob blob;
  blob.add_bytes("b", std::vector<std::uint8_t>{0, 255});
  blob.add_reals("r", std::vector<double>{1.5, -0.1, std::numeric_limits<double>::infinity()});
  blob.add_texts("t", std::vector<std::string>{"", "aé", "\0x", std::string(300, 'y')});
  const auto columns = testing::columns_of(blob.bytes());
  EXPECT_THAT(columns.at("b").numbers, ElementsAre(0, 255));
  EXPECT_THAT(columns.at("r").reals,
              ElementsAre(1.5, -0.1, std::numeric_limits<double>::infinity()));
  EXPECT_THAT(columns.at("t").texts, ElementsAre("", "aé", "\0x", std::string(300, 'y')));
}

TEST(PageBlob, UnsignedColumnsTakeNoNegativeNumbers) {
  PageBlob blob;
  EXPECT_THROW(blob.add_numbers("x", std::vector<std::int64_t>{-1}), InternalError);
}

TEST(PageTexts, EveryTextStandsOnce) {
  PageTexts texts;
  EXPECT_EQ(texts.add(""), 0);
  const std::int64_t a = texts.add("a");
  EXPECT_EQ(texts.add("b"), a + 1);
  EXPECT_EQ(texts.add("a"), a);
  EXPECT_THAT(texts.all(), ElementsAre("", "a", "b"));
}

TEST(PageTexts, BrokenTextsAreRepairedAndHugeOnesShortened) {
  PageTexts texts;
  EXPECT_EQ(texts.all()[static_cast<std::size_t>(texts.add("\xff"))], "\ufffd");
  EXPECT_EQ(texts.shortened(), 0u);
  const auto huge = static_cast<std::size_t>(texts.add(std::string(1'000'000, 'x')));
  EXPECT_LT(texts.all()[huge].size(), 20'000u);
  EXPECT_EQ(texts.shortened(), 1u);
}

TEST(Base64, EveryLengthOfBytes) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string bytes(size, '\xa5');
    EXPECT_EQ(testing::from_base64(base64(bytes)), bytes);
  }
}

TEST(ZlibPacked, Unpacks) {
  const std::string bytes = std::string(10'000, 'a') + "end";
  EXPECT_EQ(testing::unpacked(zlib_packed(bytes), bytes.size()), bytes);
}

}  // namespace
}  // namespace tracelens
