// inflate_fuzz.cpp: any bytes unpack to the text that zlib makes of them, and end for the same reason, however
// they are offered and whatever room there is; and tokens, whole and in parts, tell the beginning of the same text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "io/check.hpp"
#include "io/unpacked.hpp"

namespace {

using tracelens::io::Inflater;
using tracelens::io::Unpacked;
using tracelens::io::unpacked_by_parts;
using tracelens::io::unpacked_by_tokens;
using tracelens::io::unpacked_by_zlib;
using tracelens::io::unpacked_in_pieces;

constexpr std::size_t kMostText = 1 << 20;  // a small input may unpack to a thousand times as much

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const Unpacked judge = unpacked_by_zlib(bytes, kMostText);
  for (const auto& [offer, room] :
       {std::pair<std::size_t, std::size_t>{size + 1, kMostText + 1}, {size + 1, 61}, {7, 5'000}}) {
    const Unpacked got = unpacked_in_pieces(bytes, offer, room, kMostText);
    // That a block has no codes zlib sees when it wants to use them.
    if (got.stop == Inflater::Stop::kDamage && judge.stop == Inflater::Stop::kInput) {
      TL_CHECK(unpacked_by_zlib(std::string{bytes}.append(100, '\0')).stop ==
               Inflater::Stop::kDamage);
      TL_CHECK(got.text == judge.text);
      continue;
    }
    if (judge.text.size() > kMostText) {
      TL_CHECK(judge.text.starts_with(got.text.substr(0, kMostText)));
    } else {
      TL_CHECK(got.text == judge.text && got.stop == judge.stop);
    }
  }
  std::string before(std::size_t{32} << 10, '\0');
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = static_cast<char>(i * 7 + i / 256);
  const Unpacked all = unpacked_by_zlib(bytes, kMostText, before);
  // Each part makes a window of 32 KB: small ones of a long text take long.
  for (const auto& [room, part] :
       {std::pair<std::size_t, std::size_t>{61, 9'000}, {70'000, 50'000}}) {
    const std::string text = unpacked_by_tokens(bytes, before, room);
    const std::size_t both = std::min(text.size(), all.text.size());
    TL_CHECK(text.compare(0, both, all.text, 0, both) == 0);
    TL_CHECK(text.size() <= all.text.size() || all.text.size() > kMostText);
    TL_CHECK(unpacked_by_parts(bytes, before, part) == text);
  }
  (void)tracelens::io::inflating::find_block(bytes, 0, 8 * std::uint64_t{bytes.size()});
  return 0;
}
