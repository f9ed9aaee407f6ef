// crc.hpp: the checksum of gzip and zip.
//   crc = crc_with(crc, block);      // 0 before the first one
//   crc = joined_crc(crc, crc_of_next_text, its_bytes);
#pragma once

#include <isa-l/crc.h>
#include <zlib.h>

#include <cstdint>
#include <span>

namespace tracelens::io {

[[nodiscard]] inline std::uint32_t crc_with(std::uint32_t crc, std::span<const char> bytes) {
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

// Of two texts behind each other.
[[nodiscard]] inline std::uint32_t joined_crc(std::uint32_t crc, std::uint32_t next,
                                              std::uint64_t next_bytes) {
  return static_cast<std::uint32_t>(::crc32_combine(crc, next, static_cast<z_off_t>(next_bytes)));
}

}  // namespace tracelens::io
