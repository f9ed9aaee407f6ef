#include "readers/perfetto/batches.hpp"

#include <algorithm>
#include <string_view>

#include "perfetto.pb.h"

namespace tracelens::perfetto {
namespace {

// Parsed, this is about a megabyte: as much as a core has at hand. Smaller batches are handed over so
// often that it shows.
constexpr std::size_t kMostBytes = std::size_t{192} << 10;
constexpr std::size_t kMostPackets = 4096;
// Of a file whose packets are mostly parsed by libprotobuf, which takes more room.
constexpr std::size_t kMostBytesOfMessages = std::size_t{64} << 10;
constexpr std::size_t kMostMessages = 1024, kFewMessages = 256;
// A parsed packet can take fifty times its bytes. Larger ones are left to the decoder, which has
// one at a time, and only the memory of small ones is kept for the packets that follow.
constexpr std::size_t kLargePacket = std::size_t{16} << 10;
constexpr std::size_t kSmallPacket = std::size_t{1} << 10;

}  // namespace

// All room at once: what is freed while it grows stays with the thread.
PacketBatch::PacketBatch() {
  constexpr std::size_t kLeastBytesPerArg = 8;
  bytes_.reserve(kMostBytes + kLargePacket);
  entries_.reserve(kMostPackets);
  events_.reserve(kMostPackets, kMostBytes / kLeastBytesPerArg);
}
PacketBatch::~PacketBatch() = default;
PacketBatch::PacketBatch(PacketBatch&&) noexcept = default;

bool PacketBatch::take(PacketStream& packets, std::size_t bytes) {
  // A packet of unusual length must not keep its room for the rest of the file.
  if (bytes_.capacity() > 4 * kMostBytes) std::string{}.swap(bytes_);
  bytes_.clear();
  entries_.clear();
  const bool has_messages = packets_.size() > kFewMessages;
  const std::size_t most_packets = has_messages ? kMostMessages : kMostPackets;
  bytes = std::min(bytes, has_messages ? kMostBytesOfMessages : kMostBytes);
  while (entries_.size() < most_packets && bytes_.size() < bytes) {
    const auto packet = packets.next();
    if (!packet) break;
    entries_.push_back({bytes_.size(), packet->bytes.size(), packet->byte});
    bytes_ += packet->bytes;
  }
  bytes_read_ = packets.bytes_read();
  return !entries_.empty();
}

void PacketBatch::parse() {
  events_.clear();
  std::size_t parsed = 0;
  for (Entry& entry : entries_) {
    const std::string_view bytes = std::string_view{bytes_}.substr(entry.begin, entry.size);
    entry.state = Entry::State::kBytes;
    if (events_.add(bytes)) {
      entry.state = Entry::State::kEvent;
    } else if (bytes.size() <= kLargePacket) {
      if (parsed == packets_.size()) packets_.push_back(std::make_unique<proto::TracePacket>());
      if (packets_[parsed]->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        entry.state = Entry::State::kPacket;
        ++parsed;
      }
    }
  }
}

void PacketBatch::hand_to(PacketDecoder& decoder) {
  const EventPacket* event = events_.all().data();
  std::size_t packet = 0;
  for (const Entry& entry : entries_) switch (entry.state) {
      case Entry::State::kEvent:
        decoder.decode(events_, *event++, entry.byte);
        break;
      case Entry::State::kPacket:
        decoder.decode(*packets_[packet], entry.byte);
        if (entry.size > kSmallPacket) packets_[packet] = std::make_unique<proto::TracePacket>();
        ++packet;
        break;
      case Entry::State::kBytes:
        decoder.decode(std::string_view{bytes_}.substr(entry.begin, entry.size), entry.byte);
        break;
    }
  if (packets_.size() > kMostMessages) packets_.resize(kMostMessages);
}

}  // namespace tracelens::perfetto
