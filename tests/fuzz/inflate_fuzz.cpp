// inflate_fuzz.cpp: any bytes unpack to the text that zlib makes of them, and end for the same reason, however
// they are offered and whatever room there is.
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/check.hpp"
#include "io/inflater.hpp"

namespace {

using tracelens::io::Inflater;

constexpr std::size_t kMostText = 1 << 20;  // a small input may unpack to a thousand times as much

struct Unpacked {
  std::string text;
  Inflater::Stop stop = Inflater::Stop::kInput;
  bool operator==(const Unpacked&) const = default;
};

Unpacked ours(std::string_view packed, std::size_t offer, std::size_t room) {
  const auto inflater = std::make_unique<Inflater>();
  Unpacked result;
  std::vector<char> into(room);
  std::size_t made = 0, offered = offer;
  while (true) {
    // Memory of its own, so that reading beyond it shows.
    const std::string_view part = packed.substr(0, offered);
    const std::vector<char> next(part.begin(), part.end());
    const Inflater::Progress got = inflater->run(next, into, made);
    made += got.made;
    const bool is_all = next.size() == packed.size();
    packed.remove_prefix(got.taken);
    offered = got.stop == Inflater::Stop::kInput ? next.size() - got.taken + offer : offer;
    if (got.stop == Inflater::Stop::kInput && !is_all) continue;
    result.text.append(into.data(), made);
    inflater->keep(std::span{into}.first(made));
    made = 0;
    result.stop = got.stop;
    if (got.stop != Inflater::Stop::kRoom || result.text.size() >= kMostText) return result;
  }
}

Unpacked by_zlib(std::string_view packed) {
  z_stream z{};
  TL_CHECK(inflateInit2(&z, -15) == Z_OK);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  z.avail_in = static_cast<uInt>(packed.size());
  Unpacked result;
  std::string into(kMostText + 1, '\0');
  z.next_out = reinterpret_cast<Bytef*>(into.data());
  z.avail_out = static_cast<uInt>(into.size());
  const int status = inflate(&z, Z_SYNC_FLUSH);
  result.text = into.substr(0, into.size() - z.avail_out);
  result.stop = status == Z_STREAM_END   ? Inflater::Stop::kEnd
                : status == Z_DATA_ERROR ? Inflater::Stop::kDamage
                                         : Inflater::Stop::kInput;
  inflateEnd(&z);
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const Unpacked judge = by_zlib(bytes);
  for (const auto& [offer, room] :
       {std::pair<std::size_t, std::size_t>{size + 1, kMostText + 1}, {size + 1, 61}, {7, 5'000}}) {
    const Unpacked got = ours(bytes, offer, room);
    // That a block has no codes zlib sees when it wants to use them.
    if (got.stop == Inflater::Stop::kDamage && judge.stop == Inflater::Stop::kInput) {
      TL_CHECK(by_zlib(std::string{bytes}.append(100, '\0')).stop == Inflater::Stop::kDamage);
      TL_CHECK(got.text == judge.text);
      continue;
    }
    if (judge.text.size() > kMostText) {
      TL_CHECK(judge.text.starts_with(got.text.substr(0, kMostText)));
    } else {
      TL_CHECK(got == judge);
    }
  }
  return 0;
}
