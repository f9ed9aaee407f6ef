#include "io/inflate_ahead.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>
#include <vector>

#include "io/inflater.hpp"
#include "io/packing_samples.hpp"
#include "io/stream.hpp"
#include "io/stream_samples.hpp"
#include "io/unpacked.hpp"

namespace tracelens::io {
namespace {

// Of whoever unpacks a gzip file with a plain header and asks at each block, how many bytes came from tokens, and all.
struct Copied {
  std::size_t known = 0, all = 0;
};
Copied copied_of(std::string_view packed, int helpers) {
  InflateAhead ahead{memory_source(packed), 0, helpers, kPieceBytes};
  std::string bytes(packed.size(), '\0');
  std::size_t given = 0;
  const auto inflater = std::make_unique<Inflater>();
  inflater->stop_between_blocks();
  Copied copied;
  std::string room(100'000, '\0');
  std::size_t at = 10;
  while (true) {
    const auto keep = [&](std::size_t made) {
      inflater->keep(std::span{room}.first(made));
      copied.all += made;
    };
    const std::size_t wanted = std::min(packed.size(), at + (64 << 10)) - given;
    if (wanted > 0) given += ahead.read(std::span{bytes}.subspan(given, wanted));
    if (inflater->may_copy(0)) {
      if (const auto* const tokens = ahead.tokens_from(8 * at - inflater->unused_bits())) {
        inflating::TokenPlace place{*tokens};
        while (!inflater->has_copied(place)) {
          const std::size_t made = inflater->copy(place, room, 0);
          keep(made);
          copied.known += made;
        }
        const std::uint64_t end = ahead.end_of_tokens();
        at = (end + 7) / 8;
        given += ahead.read(std::span{bytes}.subspan(given, std::max(at, given) - given));
        inflater->go_on_behind(bytes[at - 1], (8 - end % 8) % 8);
        continue;
      }
    }
    const Inflater::Progress got = inflater->run(std::span{bytes}.subspan(at, given - at), room, 0);
    at += got.taken;
    keep(got.made);
    if (got.stop != Inflater::Stop::kBlock && got.stop != Inflater::Stop::kRoom) return copied;
  }
}

TEST(InflateAhead, MostOfATraceIsCopiedFromWhatOthersHaveRead) {
  // Packers with several threads flush; there is an empty block then that is not packed.
  for (const int flush_every : {0, 131'072, 20'000})
    for (const int helpers : {1, 3}) {
      const std::string packed =
          gzip(large_text(), {.level = 6, .memory = 5, .flush_every = flush_every});
      ASSERT_GT(packed.size(), 20 * kPieceBytes);
      const Copied copied = copied_of(packed, helpers);
      EXPECT_EQ(copied.all, large_text().size());
      EXPECT_GT(copied.known, large_text().size() * 9 / 10)
          << helpers << " helpers, flushed every " << flush_every;
    }
}

TEST(InflateAhead, TheTextIsTheSameHoweverItIsPacked) {
  const std::string random = random_bytes(300'000);
  const std::string mixed =
      large_text().substr(0, 2'000'000) + random + large_text().substr(2'500'000);
  for (const Packer& how :
       {Packer{0}, Packer{1}, Packer{6, Z_DEFAULT_STRATEGY, 5}, Packer{9}, Packer{6, Z_FIXED},
        Packer{6, Z_HUFFMAN_ONLY, 3}, Packer{9, Z_DEFAULT_STRATEGY, 1},
        Packer{6, Z_DEFAULT_STRATEGY, 4, 20'000}})
    for (const std::string* text : {&large_text(), &mixed}) {
      const std::string packed = gzip(*text, how);
      for (const auto& [threads, block] : {std::pair{4, 1U << 20}, {8, 77'777U}, {16, 3'000U}})
        ASSERT_EQ(unpack(packed, threads, block), (Got{*text, ""}))
            << "level " << how.level << ", strategy " << how.strategy << ", memory " << how.memory
            << ", " << threads << " threads";
    }
}

TEST(InflateAhead, MembersFollowEachOther) {
  const std::string& text = large_text();
  std::string packed, all;
  for (const std::size_t size : {1'000'000U, 10U, 2'900'000U, 0U, 2'000'000U, 40'000U}) {
    packed += gzip(std::string_view{text}.substr(0, size), {.level = 6, .memory = 4});
    all += text.substr(0, size);
  }
  EXPECT_EQ(unpack(packed, 8), (Got{all, ""}));
  EXPECT_EQ(unpack(packed + "more", 8), unpack(packed + "more", 1));
}

TEST(InflateAhead, ZipMembersAreReadAheadToo) {
  EXPECT_EQ(unpack(zip({{"trace.json", large_text()}}), 8), (Got{large_text(), ""}));
}

TEST(InflateAhead, CutAndDamagedDataEndLikeThatOfOneThread) {
  const std::string packed = gzip(large_text(), {.level = 6, .memory = 4});
  std::mt19937 generator{11};
  int damaged = 0;
  for (int i = 0; i < 40; ++i) {
    // Behind what is read before there are helpers.
    const std::size_t at = (300 << 10) + generator() % (packed.size() - (300 << 10));
    const std::string cut = packed.substr(0, at);
    ASSERT_EQ(unpack(cut, 8), unpack(cut, 1)) << "cut at " << at;
    std::string turned = packed;
    turned[at] = static_cast<char>(turned[at] ^ 1 << generator() % 8);
    const Got one = unpack(turned, 1);
    ASSERT_EQ(unpack(turned, 8), one) << "turned at " << at;
    damaged += !one.damage.empty();
  }
  EXPECT_EQ(damaged, 40);
}

// Helpers read further than the unpacker comes: what they find there is not told.
TEST(InflateAhead, DamageOfAPackingWithinAPackingIsToldInItsOrder) {
  const std::string inner = gzip(sample_text(12'000'000), {.level = 6});
  constexpr std::size_t kFromEnd = 600'000;  // with pieces of 256 KB helpers have been there
  ASSERT_GT(inner.size(), 3 * kFromEnd);
  std::string archive = zip({{"trace.json.gz", inner}}, ZIP_CM_STORE);
  const std::size_t begin = archive.find(inner.substr(0, 100));
  ASSERT_NE(begin, std::string::npos);
  const std::size_t at = begin + inner.size() - kFromEnd;
  archive.replace(at, 100'000, random_bytes(100'000));
  const Got one = unpack(archive, 1);
  EXPECT_THAT(one.damage, testing::StartsWith("gzip data is damaged near packed byte"));
  EXPECT_EQ(unpack(archive, 8, 100'000, 256 << 10), one);
}

// All of a packed archive is there before its member is unpacked, and with it what is wrong with that packing.
TEST(InflateAhead, DamageAroundAnArchiveLeavesItsMemberWhole) {
  for (const std::size_t size : {1'000u, 3'000'000u}) {
    const std::string archive = zip({{"trace.json", sample_text(size)}});
    std::string wrong_sum = gzip(archive);
    wrong_sum[wrong_sum.size() - 8] ^= 1;
    for (const std::string& packed : {gzip(archive) + "more", zstd(archive) + "more", wrong_sum}) {
      const Got one = unpack(packed, 1);
      EXPECT_EQ(one.text.size(), size);
      EXPECT_NE(one.damage, "");
      for (const int threads : {4, 16}) EXPECT_EQ(unpack(packed, threads), one) << threads;
    }
  }
}

// Like a file on a disk with a fault.
class FailingSource final : public ByteSource {
 public:
  explicit FailingSource(std::string_view bytes) : bytes_{bytes} {}
  [[nodiscard]] std::uint64_t packed_bytes() const override { return bytes_.size(); }
  [[nodiscard]] double progress() const override { return 0; }
  [[nodiscard]] const std::string& damage() const override { return none_; }

 private:
  std::size_t produce(std::span<char> into) override {
    if (into.size() > bytes_.size()) throw Error{"sample", "cannot be read"};
    std::ranges::copy(bytes_.substr(0, into.size()), into.begin());
    bytes_.remove_prefix(into.size());
    return into.size();
  }
  std::string_view bytes_;
  std::string none_;
};

TEST(InflateAhead, WhatCannotBeReadFailsWhenTheUnpackerComesToIt) {
  const std::string packed = gzip(large_text(), {.level = 6, .memory = 5});
  const auto text_before = [&](int threads) {
    const auto in = unpack_gzip(std::make_unique<FailingSource>(packed));
    if (threads > 1) in->use_threads(threads, kPieceBytes);
    std::string text, block(10'000, '\0');
    EXPECT_THROW(while (const std::size_t count = in->read(block)) text.append(block, 0, count),
                 Error);
    EXPECT_THROW((void)in->read(block), Error);  // and again
    return text.size();
  };
  const std::size_t alone = text_before(1);
  EXPECT_GT(alone, large_text().size() / 4);
  EXPECT_GE(text_before(8), alone);
}

// Whoever reads need not read to the end.
TEST(InflateAhead, HelpersGoWithTheStream) {
  const std::string packed = gzip(large_text(), {.level = 6, .memory = 4});
  for (std::size_t bytes = 1; bytes < large_text().size(); bytes = bytes * 3 + 1) {
    Stream in = Stream::over("sample", packed);
    in.use_threads(8, kPieceBytes);
    std::string block(bytes, '\0');
    ASSERT_EQ(in.read(block), bytes);
    ASSERT_EQ(block, large_text().substr(0, bytes));
  }
}

TEST(BlockTokens, ABlockIsFoundWhereOneBegins) {
  const std::string packed = deflated(large_text(), {.level = 6, .memory = 4});
  // Where they really begin: one after the other.
  std::vector<std::uint64_t> begins;
  inflating::BlockTokens tokens;
  for (std::uint64_t bit = 0;;) {
    begins.push_back(bit);
    tokens.read(packed, bit, bit + 1);
    if (tokens.end() == bit) break;  // the last one
    bit = tokens.end();
  }
  ASSERT_GT(begins.size(), 100U);
  for (std::size_t i = 1; i + 1 < begins.size(); ++i) {
    const std::uint64_t all = 8 * packed.size();
    EXPECT_EQ(inflating::find_block(packed, begins[i - 1] + 1, all), begins[i]);
    EXPECT_EQ(inflating::find_block(packed, begins[i], all), begins[i]);
    EXPECT_EQ(inflating::find_block(packed, begins[i - 1] + 1, begins[i]), std::nullopt);
  }
  EXPECT_EQ(inflating::find_block({}, 0, 8), std::nullopt);
}

// There is text that looks like codes every two bytes, and would take minutes.
TEST(BlockTokens, TheSearchGivesUpWhereEverythingLooksLikeABlock) {
  std::string packed;
  while (packed.size() < 100'000) packed += "P\b";
  const std::size_t real = packed.size();
  packed += deflated(large_text(), {.level = 6, .memory = 4});
  const std::uint64_t all = 8 * packed.size();
  EXPECT_EQ(inflating::find_block(packed, 8 * (real - 100), all), 8 * real);
  EXPECT_EQ(inflating::find_block(packed, 0, all), std::nullopt);
}

TEST(BlockTokens, WhatIsNotPackedIsLiterals) {
  const std::string text = large_text().substr(0, 200'000);
  const std::string packed = deflated(text, {.level = 0}) + deflated(text, {.level = 6});
  inflating::BlockTokens tokens;
  tokens.read(packed, 0, 8 * packed.size());
  EXPECT_TRUE(tokens.tokens().empty());
  const std::string_view literals{tokens.literals().data(), tokens.literals().size()};
  EXPECT_GT(literals.size(), 100'000U);  // the last block is left
  EXPECT_TRUE(text.starts_with(literals));
}

TEST(BlockTokens, BlocksWithoutRoomAreLeft) {
  for (const Packer& how :
       {Packer{6, Z_DEFAULT_STRATEGY, 5}, Packer{6, Z_HUFFMAN_ONLY, 5}, Packer{0}}) {
    const std::string packed = deflated(large_text(), how);
    const std::string before(32 << 10, ' ');
    const std::string text = unpacked_by_tokens(packed, before, 100'000);
    EXPECT_GT(text.size(), 200'000U);
    EXPECT_LT(text.size(), large_text().size());
    EXPECT_TRUE(large_text().starts_with(text));
  }
}

TEST(BlockTokens, LongRunsOfLiteralsHaveTokensOfTheirOwn) {
  std::string text(100'000, '\0');
  std::mt19937 generator{3};
  for (char& byte : text) byte = static_cast<char>(generator() % 200);
  for (std::size_t at = 700; at < text.size(); at += 5'000) text.replace(at, 50, 50, 'x');
  const std::string packed = deflated(text + text, {.strategy = Z_RLE, .memory = 9});
  inflating::BlockTokens tokens;
  tokens.read(packed, 0, 8 * packed.size());
  std::size_t without_match = 0, literals = 0, length = 0;
  for (const inflating::Token token : tokens.tokens()) {
    without_match += !token.has_match();
    literals += token.literals();
    length += token.literals() + (token.has_match() ? token.length() : 0);
  }
  length += tokens.literals().size() - literals;
  EXPECT_GT(without_match, 0U);
  EXPECT_GT(length, text.size());
}

}  // namespace
}  // namespace tracelens::io
