#include "io/inflater.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "io/packing_samples.hpp"
#include "io/unpacked.hpp"

namespace tracelens::io {
namespace {

std::string random_bytes(std::size_t size, unsigned seed) {
  std::mt19937 random{seed};
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Runs of every short period, which matches copy from what they are writing.
std::string periods() {
  std::string text;
  std::mt19937 random{5};
  for (std::size_t period = 1; period < 40; ++period)
    for (const std::size_t length : {3U, 10U, 258U, 700U}) {
      const std::string unit = random_bytes(period, static_cast<unsigned>(random()));
      for (std::size_t i = 0; i < length; ++i) text += unit[i % period];
    }
  return text;
}

TEST(Inflater, UnpacksWhatZlibPacked) {
  const std::vector<std::string> texts = {
      "",
      "a",
      sample_text(1'000),
      sample_text(100'000),
      random_bytes(70'000, 1),
      periods(),
      std::string(100'000, 'x'),
      random_bytes(30'000, 2) + sample_text(50'000) + random_bytes(30'000, 2)};
  for (const std::string& text : texts)
    for (const Packer& how :
         {Packer{0}, Packer{1}, Packer{6}, Packer{9}, Packer{6, Z_FIXED}, Packer{6, Z_HUFFMAN_ONLY},
          Packer{6, Z_RLE}, Packer{9, Z_DEFAULT_STRATEGY, 1},
          Packer{6, Z_DEFAULT_STRATEGY, 8, 777}}) {
      const std::string packed = deflated(text, how) + "what follows";
      const Unpacked all{text, Inflater::Stop::kEnd, packed.size() - 12};
      ASSERT_EQ(unpacked_in_pieces(packed, packed.size(), text.size() + 1), all)
          << text.size() << " bytes, level " << how.level << ", strategy " << how.strategy;
      for (const auto& [offer, room] : {std::pair{1U, 1U << 20},
                                        {7U, 1U << 16},
                                        {333U, 1'000U},
                                        {1U << 20, 700U},
                                        {1U << 20, 40'000U},
                                        {4'096U, 37U}})
        ASSERT_EQ(unpacked_in_pieces(packed, offer, room), all)
            << text.size() << " bytes, level " << how.level << ", strategy " << how.strategy
            << ", by " << offer << " into " << room;
    }
}

TEST(Inflater, WaitsForTheRestOfWhatIsCut) {
  const std::string text = sample_text(20'000);
  const std::string packed = deflated(text, {});
  for (std::size_t size = 0; size < packed.size(); size += size < 400 ? 1 : 37) {
    const Unpacked got =
        unpacked_in_pieces(std::string_view{packed}.substr(0, size), 1 << 20, 1 << 20);
    ASSERT_EQ(got.stop, Inflater::Stop::kInput) << size;
    ASSERT_TRUE(text.starts_with(got.text)) << size;
    ASSERT_EQ(got.text, unpacked_by_zlib(std::string_view{packed}.substr(0, size)).text) << size;
  }
}

// One bit after the other is turned: the same text, or the same refusal after the same text.
TEST(Inflater, SeesTheDamageThatZlibSees) {
  const std::string text = sample_text(3'000) + periods().substr(0, 5'000);
  std::size_t damaged = 0;
  for (const Packer& how : {Packer{6}, Packer{6, Z_FIXED}, Packer{0}, Packer{6, Z_HUFFMAN_ONLY}}) {
    const std::string packed = deflated(text, how);
    for (std::size_t bit = 0; bit < std::min<std::size_t>(8 * packed.size(), 3'000); ++bit) {
      std::string other = packed;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ 1 << bit % 8);
      const Unpacked theirs = unpacked_by_zlib(other),
                     ours = unpacked_in_pieces(other, 1 << 20, 1 << 20);
      ASSERT_EQ(ours.stop, theirs.stop) << "bit " << bit << ", strategy " << how.strategy;
      ASSERT_EQ(ours.text, theirs.text) << "bit " << bit << ", strategy " << how.strategy;
      ASSERT_EQ(unpacked_in_pieces(other, 3, 1'000), ours)
          << "bit " << bit << ", strategy " << how.strategy;
      damaged += ours.stop == Inflater::Stop::kDamage;
    }
  }
  EXPECT_GT(damaged, 300U);
}

TEST(Inflater, RefersBackToNothingBeforeTheBeginning) {
  // Fixed codes: 'a', then three bytes from two bytes ago, of which there is but one.
  const std::string packed = {'\x4b', '\x04', '\x22', '\0', '\0', '\0'};
  EXPECT_EQ(unpacked_by_zlib(packed).stop, Inflater::Stop::kDamage);
  EXPECT_EQ(unpacked_in_pieces(packed, 100, 100).stop, Inflater::Stop::kDamage);
  auto inflater = std::make_unique<Inflater>();
  std::string into(100, '\0');
  inflater->keep("earlier");  // forgotten with everything else
  inflater->reset();
  EXPECT_EQ(inflater->run(packed, into, 0).stop, Inflater::Stop::kDamage);
}

}  // namespace
}  // namespace tracelens::io
