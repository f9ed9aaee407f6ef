// text_hash.hpp: a short hash of a text that is the same on every machine and in every version.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracelens::io {

// FNV-1a, 32 bits.
[[nodiscard]] constexpr std::uint32_t text_hash(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace tracelens::io
