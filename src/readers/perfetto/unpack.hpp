// unpack.hpp: the packets inside a compressed packet.
//   const auto packets = inflate_packets(packet.compressed_packets());
// No value when the data are damaged, or unpack to more than kLongestUnpacked (a bomb).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tracelens::perfetto {

// The tracing service packs some hundred KiB of packets at a time.
inline constexpr std::size_t kLongestUnpacked = std::size_t{64} << 20;

[[nodiscard]] std::optional<std::string> inflate_packets(std::string_view packed);  // zlib
[[nodiscard]] std::optional<std::string> unpack_zstd_packets(std::string_view packed);

}  // namespace tracelens::perfetto
