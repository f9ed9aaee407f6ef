#include "readers/perfetto/packets.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/stream.hpp"
#include "readers/perfetto/unpack.hpp"

namespace tracelens::perfetto {
namespace {

using namespace std::string_literals;

struct Read {
  std::vector<std::string> packets;
  std::string damage;
  std::uint64_t damage_byte = 0, skipped = 0;
};

Read read(std::string_view bytes, std::size_t block_bytes = 1 << 16) {
  io::Stream in = io::Stream::over("inline", bytes);
  PacketStream stream{in, block_bytes};
  Read result;
  while (const auto packet = stream.next()) result.packets.emplace_back(packet->bytes);
  if (stream.damage()) {
    result.damage = stream.damage()->what;
    result.damage_byte = stream.damage()->byte;
  }
  result.skipped = stream.skipped_packets();
  return result;
}

TEST(PacketStream, GivesPacketsAndSkipsOtherFieldsOfEveryKind) {
  const Read found = read(
      "\x0a\x03"
      "abc"           // packet
      "\x10\xff\x01"  // varint
      "\x19"
      "12345678"    // eight bytes
      "\x22\x02zz"  // bytes
      "\x2d"
      "1234"      // four bytes
      "\x0a\x00"  // an empty packet
      "\x0a\x01Z"s);
  EXPECT_EQ(found.packets, (std::vector<std::string>{"abc", "", "Z"}));
  EXPECT_EQ(found.damage, "");
}

TEST(PacketStream, DoesNotDependOnTheSizeOfItsBlocks) {
  std::string bytes;
  std::vector<std::string> expected;
  for (int i = 0; i < 200; ++i) {
    expected.emplace_back(static_cast<std::size_t>(i % 120), static_cast<char>('a' + i % 26));
    bytes += "\x0a";
    bytes += static_cast<char>(expected.back().size());
    bytes += expected.back();
  }
  for (const std::size_t block : {1U, 20U, 33U, 1024U})
    EXPECT_EQ(read(bytes, block).packets, expected);
}

TEST(PacketStream, EndsWhereAPacketIsCutOrTheBytesAreNoPacket) {
  const Read cut = read(
      "\x0a\x01Z\x0a\x05"
      "abc");
  EXPECT_EQ(cut.packets.size(), 1U);
  EXPECT_EQ(cut.damage, "file ends inside a packet");
  EXPECT_EQ(cut.damage_byte, 3U);
  EXPECT_EQ(read("\x0a\x01Z\x0a").damage, "file ends inside a packet");
  EXPECT_EQ(read("\x0a\x01Z\x0f").damage, "bytes that are no packet; nothing after them was read");
  EXPECT_EQ(read("\x0a\x01Z\x02"s).damage_byte, 3U);  // field number 0
  EXPECT_EQ(read(std::string(30, '\xff')).damage,
            "bytes that are no packet; nothing after them was read");
}

TEST(PacketStream, CountsAllBytesAlsoBehindTheDamage) {
  const std::string bytes = "\x0a\x01Z\x0f" + std::string(500, 'x');
  for (const std::size_t block : {1U, 1024U}) {
    io::Stream in = io::Stream::over("inline", bytes);
    PacketStream stream{in, block};
    while (stream.next()) {
    }
    EXPECT_EQ(stream.bytes_read(), bytes.size());
  }
}

TEST(PacketStream, PassesOverAPacketThatIsTooLong) {
  std::string bytes = "\x0a\x81\x80\x80\x04";  // 8 MiB + 1
  bytes.append(kLongestPacket + 1, 'x');
  bytes += "\x0a\x01Z";
  const Read found = read(bytes);
  EXPECT_EQ(found.packets, std::vector<std::string>{"Z"});
  EXPECT_EQ(found.skipped, 1U);
  EXPECT_EQ(found.damage, "");
}

TEST(PacketStream, ALengthWithoutItsBytesTakesNoMemory) {
  const Read found = read(
      "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"
      "abc");
  EXPECT_TRUE(found.packets.empty());
  EXPECT_EQ(found.damage, "file ends inside a packet");
}

TEST(UnpackPackets, RefusesDamagedData) {
  EXPECT_FALSE(inflate_packets("no zlib data"));
  EXPECT_FALSE(inflate_packets(""));
  EXPECT_FALSE(unpack_zstd_packets("no zstd data"));
  EXPECT_FALSE(unpack_zstd_packets(""));
}

}  // namespace
}  // namespace tracelens::perfetto
