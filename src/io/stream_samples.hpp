// stream_samples.hpp: what a Stream makes of packed bytes, for tests that compare it.
//   EXPECT_EQ(unpack(packed, 8), unpack(packed, 1));
#pragma once

#include <cstddef>
#include <ostream>
#include <random>
#include <string>
#include <string_view>

#include "io/packing_samples.hpp"
#include "io/stream.hpp"

namespace tracelens::io {

inline constexpr std::size_t kPieceBytes = 16 << 10;  // of the packed ones

struct Got {
  std::string text, damage;
  bool operator==(const Got&) const = default;
};
inline std::ostream& operator<<(std::ostream& out, const Got& got) {
  return out << got.text.size() << " bytes, damage '" << got.damage << "'";
}

inline Got unpack(std::string_view packed, int threads, std::size_t block_bytes = 100'000,
                  std::size_t piece_bytes = kPieceBytes) {
  Stream in = Stream::over("sample", packed);
  in.use_threads(threads, piece_bytes);
  Got got;
  std::string block(block_bytes, '\0');
  while (const std::size_t count = in.read(block)) got.text.append(block, 0, count);
  got.damage = in.damage();
  return got;
}

inline const std::string& large_text() {
  static const std::string kText = sample_text(3'000'000);
  return kText;
}

inline std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::mt19937 generator{7};
  for (char& byte : bytes) byte = static_cast<char>(generator());
  return bytes;
}

}  // namespace tracelens::io
