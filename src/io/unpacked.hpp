// unpacked.hpp: what an Inflater and zlib make of packed bytes, for tests and fuzzers that compare them.
//   EXPECT_EQ(unpacked_in_pieces(packed, 7, 5'000).text, unpacked_by_zlib(packed).text);
#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/check.hpp"
#include "io/inflate_parts.hpp"
#include "io/inflater.hpp"
#include "io/text_piece.hpp"

namespace tracelens::io {

struct Unpacked {
  std::string text;
  Inflater::Stop stop = Inflater::Stop::kInput;
  std::size_t taken = 0;
  bool operator==(const Unpacked&) const = default;
};

// With so many packed bytes offered at a time, and so much room; it ends when there is `most_text`.
inline Unpacked unpacked_in_pieces(std::string_view packed, std::size_t offer, std::size_t room,
                                   std::size_t most_text = std::string::npos) {
  const auto inflater = std::make_unique<Inflater>();
  Unpacked result;
  std::vector<char> into(room);
  std::size_t made = 0, offered = offer;
  while (true) {
    // Memory of its own, so that reading beyond it shows.
    const std::string_view part = packed.substr(result.taken, offered);
    const std::vector<char> next(part.begin(), part.end());
    const bool is_all = result.taken + next.size() == packed.size();
    const Inflater::Progress got = inflater->run(next, into, made);
    result.taken += got.taken;
    made += got.made;
    offered = got.stop == Inflater::Stop::kInput ? next.size() - got.taken + offer : offer;
    if (got.stop == Inflater::Stop::kInput && !is_all) continue;
    result.text.append(into.data(), made);
    inflater->keep(std::span{into}.first(made));
    made = 0;
    result.stop = got.stop;
    if (got.stop != Inflater::Stop::kRoom || result.text.size() >= most_text) return result;
  }
}

// The text of the blocks that tokens can be read of, behind a text of so many bytes to refer back to.
inline std::string unpacked_by_tokens(std::string_view packed, std::string_view before,
                                      std::size_t room) {
  inflating::BlockTokens tokens;
  tokens.read(packed, 0, 8 * std::uint64_t{packed.size()});
  const auto inflater = std::make_unique<Inflater>();
  inflater->keep(before);
  TL_CHECK(inflater->may_copy(0));
  std::string text;
  std::vector<char> into(room);
  for (inflating::TokenPlace place{tokens}; !inflater->has_copied(place);) {
    const std::size_t made = inflater->copy(place, into, 0);
    text.append(into.data(), made);
    inflater->keep(std::span{into}.first(made));
  }
  return text;
}

// The same text by parts that each have at least so many bytes.
inline std::string unpacked_by_parts(std::string_view packed, std::string_view before,
                                     std::size_t part_bytes) {
  const auto tokens = std::make_shared<inflating::BlockTokens>();
  tokens->read(packed, 0, 8 * std::uint64_t{packed.size()});
  const auto origin = std::make_shared<TextPiece::Origin>();
  TL_CHECK(before.size() == origin->before.size());
  std::ranges::copy(before, origin->before.begin());
  origin->owner = tokens;
  inflating::TokenParts divided = inflating::divide(*tokens, part_bytes);
  divided.window_after.apply(origin->before, origin->after);
  std::string text{before};
  for (std::size_t i = 0; i < divided.parts.size(); ++i) {
    const bool is_last = i + 1 == divided.parts.size();
    TextPiece piece{origin, std::move(divided.parts[i]),
                    is_last ? TextPiece::Follows::kOther : TextPiece::Follows::kPiece};
    TL_CHECK(piece.size() >= part_bytes || is_last);
    const std::size_t so_far = text.size();
    text.resize(so_far + piece.size());
    piece.write(std::span{text}.subspan(so_far), piece.before());
    TL_CHECK(text.ends_with(piece.end()) && piece.end().empty() != is_last);
  }
  TL_CHECK(text.ends_with(std::string_view{origin->after.data(), origin->after.size()}));
  return text.erase(0, before.size());
}

// It ends when there is more than `most_text`, for want of room.
inline Unpacked unpacked_by_zlib(std::string_view packed, std::size_t most_text = std::string::npos,
                                 std::string_view before = {}) {
  z_stream z{};
  TL_CHECK(inflateInit2(&z, -15) == Z_OK);
  if (!before.empty())
    TL_CHECK(inflateSetDictionary(&z, reinterpret_cast<const Bytef*>(before.data()),
                                  static_cast<uInt>(before.size())) == Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  Unpacked result;
  std::string into(1 << 16, '\0');
  int status = Z_OK;
  while (status == Z_OK && result.text.size() <= most_text) {
    z.next_out = reinterpret_cast<Bytef*>(into.data());
    z.avail_out = static_cast<uInt>(into.size());
    status = inflate(&z, Z_NO_FLUSH);
    result.text.append(into, 0, into.size() - z.avail_out);
  }
  result.stop = status == Z_STREAM_END  ? Inflater::Stop::kEnd
                : status == Z_BUF_ERROR ? Inflater::Stop::kInput
                : status == Z_OK        ? Inflater::Stop::kRoom
                                        : Inflater::Stop::kDamage;
  result.taken = z.total_in;
  inflateEnd(&z);
  return result;
}

}  // namespace tracelens::io
