// crc.hpp: the checksum of gzip and zip.
//   crc = crc_with(crc, block);      // 0 before the first one
#pragma once

#include <isa-l/crc.h>

#include <cstdint>
#include <span>

namespace tracelens::io {

[[nodiscard]] inline std::uint32_t crc_with(std::uint32_t crc, std::span<const char> bytes) {
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace tracelens::io
