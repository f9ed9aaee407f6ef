// testing_repack.hpp: a trace whose packets are all read by libprotobuf, beside one that is the same
// but for that.
//   EXPECT_EQ(dump_read(repacked(bytes, kForUs), {}), dump_read(repacked(bytes, kForProtobuf), {}));
#pragma once

#include <string>
#include <string_view>

#include "readers/perfetto/packets.hpp"

namespace tracelens::perfetto {

// A field of a packet that nobody knows, and one that EventPackets leaves to libprotobuf: the state
// of the sequence is not cleared. Both are false, and have the same length.
inline constexpr std::string_view kForUs{"\xc0\x02\x00", 3}, kForProtobuf{"\xc8\x02\x00", 3};

// The packets of `trace`, each with `field` as its first.
inline std::string repacked(std::string_view trace, std::string_view field) {
  std::string bytes;
  for_each_packet(trace, [&](std::string_view packet) {
    bytes += '\x0a';
    std::size_t length = packet.size() + field.size();
    for (; length > 0x7f; length >>= 7) bytes += static_cast<char>(length | 0x80);
    bytes += static_cast<char>(length);
    bytes += field;
    bytes += packet;
  });
  return bytes;
}

}  // namespace tracelens::perfetto
