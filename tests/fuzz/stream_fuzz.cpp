// stream_fuzz.cpp: any bytes can be opened, and the text does not depend on how it is read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>

#include "io/check.hpp"
#include "io/stream.hpp"

namespace {

constexpr std::size_t kMostText = 16 << 20;  // a small input may unpack to terabytes

// The text (its first 16 MiB) and whether it was sound, or the message of the Error: anything else
// is a bug. Where damage was noticed is left out: the unpackers look ahead by different amounts.
std::string dump(std::string_view bytes, std::size_t block_bytes) {
  try {
    auto in = tracelens::io::Stream::over("input", bytes);
    std::string text, block(block_bytes, '\0');
    bool ended = false;
    while (!ended && text.size() < kMostText) {
      const std::size_t got = in.read(block);
      text.append(block, 0, got);
      ended = got == 0;
    }
    text.resize(std::min(text.size(), kMostText));
    return ended ? text + "\n" + in.packing() + (in.damage().empty() ? "" : " damaged") : text;
  } catch (const tracelens::Error& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  TL_CHECK(dump(bytes, 100'000) == dump(bytes, 61));
  return 0;
}
