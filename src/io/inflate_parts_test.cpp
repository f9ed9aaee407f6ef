#include "io/inflate_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/packing_samples.hpp"
#include "io/parallel.hpp"
#include "io/stream.hpp"
#include "io/stream_samples.hpp"
#include "io/text_piece.hpp"
#include "io/unpacked.hpp"

namespace tracelens::io {
namespace {

enum class Asks { kBeforeWriting, kAfterWriting };

// Others write the pieces, the last one first.
struct InPieces {
  Got got;
  std::size_t bytes_in_pieces = 0;
};
InPieces read_in_pieces(std::string_view packed, Asks asks = Asks::kAfterWriting,
                        std::size_t packed_piece = kPieceBytes) {
  struct Part {
    std::string text;
    std::shared_ptr<TextPiece> piece;
  };
  std::vector<Part> parts;
  InPieces all;
  {
    Stream in = Stream::over("sample", packed);
    in.use_threads(16, packed_piece);
    in.hand_out_pieces(16, 1);
    while (true) {
      if (auto piece = in.next_piece()) {
        all.bytes_in_pieces += piece->size();
        parts.push_back({std::string(piece->size(), '\0'), std::move(piece)});
        continue;
      }
      std::string text(100'000, '\0');
      const std::size_t got = in.read(text);
      const bool is_over = got < text.size() && !in.is_piece_next();
      text.resize(got);
      parts.push_back({std::move(text), nullptr});
      if (is_over) break;
    }
    if (asks == Asks::kBeforeWriting) all.got.damage = in.damage();
    for_each_part(3, parts.size(), [&](std::size_t i) {
      Part& part = parts[parts.size() - 1 - i];
      if (part.piece) part.piece->write(part.text, part.piece->before());
    });
    if (asks == Asks::kAfterWriting) all.got.damage = in.damage();
    EXPECT_EQ(in.damage(), all.got.damage);  // and again
  }
  for (const Part& part : parts) {
    all.got.text += part.text;
    EXPECT_TRUE(!part.piece || part.text.ends_with(part.piece->end()));
  }
  return all;
}

TEST(TextPieces, TheTextIsTheSameHoweverItIsPacked) {
  const std::string random = random_bytes(300'000);
  const std::string mixed =
      large_text().substr(0, 2'000'000) + random + large_text().substr(2'500'000);
  for (const Packer& how :
       {Packer{0}, Packer{1}, Packer{6, Z_DEFAULT_STRATEGY, 5}, Packer{9}, Packer{6, Z_FIXED},
        Packer{6, Z_HUFFMAN_ONLY, 3}, Packer{6, Z_RLE, 3}, Packer{9, Z_DEFAULT_STRATEGY, 1},
        Packer{6, Z_DEFAULT_STRATEGY, 4, 20'000}})
    for (const std::string* text : {&large_text(), &mixed})
      for (const Asks asks : {Asks::kBeforeWriting, Asks::kAfterWriting})
        ASSERT_EQ(read_in_pieces(gzip(*text, how), asks).got, (Got{*text, ""}))
            << "level " << how.level << ", strategy " << how.strategy << ", memory " << how.memory;
}

TEST(TextPieces, AreMostOfATrace) {
  const std::string packed = gzip(large_text(), {.level = 6, .memory = 5});
  // The first 256 KB are read before there are helpers.
  EXPECT_GT(read_in_pieces(packed).bytes_in_pieces, large_text().size() * 4 / 10);
  // Long ones are several.
  const std::string text = sample_text(12'000'000);
  const InPieces in_pieces =
      read_in_pieces(gzip(text, {.level = 6}), Asks::kAfterWriting, 256 << 10);
  EXPECT_EQ(in_pieces.got, (Got{text, ""}));
  EXPECT_GT(in_pieces.bytes_in_pieces, text.size() * 7 / 10);
}

TEST(TextPieces, MembersFollowEachOther) {
  std::string packed, all;
  for (const std::size_t size : {1'000'000U, 10U, 2'900'000U, 0U, 2'000'000U, 40'000U}) {
    packed += gzip(std::string_view{large_text()}.substr(0, size), {.level = 6, .memory = 4});
    all += large_text().substr(0, size);
  }
  EXPECT_EQ(read_in_pieces(packed).got, (Got{all, ""}));
  EXPECT_EQ(read_in_pieces(packed + "more").got, unpack(packed + "more", 1));
  EXPECT_EQ(read_in_pieces(packed + "more").got.text, all);
}

// Whoever takes them then makes sums of texts that are being written, and reads on into what the tokens of others
// were in.
TEST(TextPieces, AreWrittenWhileMoreOfThemAreTaken) {
  const std::string member = gzip(large_text(), {.level = 6, .memory = 4});
  std::string packed, all;
  for (int i = 0; i < 6; ++i) packed += member, all += large_text();
  Stream in = Stream::over("sample", packed);
  in.use_threads(16, kPieceBytes);
  in.hand_out_pieces(16, 1);
  std::mutex taking;
  std::map<std::size_t, std::string> texts;  // by where they begin
  std::size_t taken = 0;
  bool is_over = false;
  for_each_part(4, 4, [&](std::size_t) {
    while (true) {
      std::shared_ptr<TextPiece> piece;
      std::string* text = nullptr;
      {
        const std::lock_guard lock{taking};
        if (is_over) return;
        piece = in.next_piece();
        text = &texts[taken];
        text->resize(piece ? piece->size() : 100'000);
        if (!piece) {
          const std::size_t got = in.read(*text);
          is_over = got < text->size() && !in.is_piece_next();
          text->resize(got);
        }
        taken += text->size();
      }
      if (piece) piece->write(*text, piece->before());
    }
  });
  std::string whole;
  for (const auto& [begin, text] : texts) whole += text;
  EXPECT_EQ((Got{whole, in.damage()}), (Got{all, ""}));
}

TEST(TextPieces, WrongSumsAreToldOfAnyMember) {
  const std::string member = gzip(large_text(), {.level = 6, .memory = 4});
  for (const std::size_t from_end : {8U, 1U}) {  // checksum, size
    std::string wrong = member;
    wrong[wrong.size() - from_end] = static_cast<char>(wrong[wrong.size() - from_end] ^ 4);
    for (const std::string& packed : {wrong, wrong + member, member + wrong})
      for (const Asks asks : {Asks::kBeforeWriting, Asks::kAfterWriting}) {
        const Got one = unpack(packed, 1);
        EXPECT_THAT(one.damage, testing::HasSubstr("checksum (CRC) mismatch"));
        EXPECT_EQ(read_in_pieces(packed, asks).got, one);
      }
  }
}

TEST(TextPieces, CutAndDamagedDataEndLikeThatOfOneThread) {
  const std::string packed = gzip(large_text(), {.level = 6, .memory = 4});
  std::mt19937 generator{11};
  for (int i = 0; i < 40; ++i) {
    const std::size_t at = generator() % packed.size();
    const std::string cut = packed.substr(0, at);
    ASSERT_EQ(read_in_pieces(cut).got, unpack(cut, 1)) << "cut at " << at;
    std::string turned = packed;
    turned[at] = static_cast<char>(turned[at] ^ 1 << generator() % 8);
    ASSERT_EQ(read_in_pieces(turned).got, unpack(turned, 1)) << "turned at " << at;
  }
}

// Their text refers to the window before them, whatever their size.
TEST(TokenParts, WindowsFollowFromEachOther) {
  for (const Packer& how : {Packer{6, Z_DEFAULT_STRATEGY, 5}, Packer{6, Z_RLE, 5}, Packer{1}})
    for (const std::size_t part_bytes : {5'000U, 40'000U, 200'000U}) {
      const std::string text = large_text().substr(0, 400'000);
      const std::string packed = deflated(text, how);
      const std::string made =
          unpacked_by_parts(packed, std::string(inflating::kWindow, '?'), part_bytes);
      EXPECT_GT(made.size(), 100'000U);  // the last block is none of the tokens
      EXPECT_TRUE(text.starts_with(made));
    }
}

}  // namespace
}  // namespace tracelens::io
