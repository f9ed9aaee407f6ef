#include "readers/perfetto_batches.hpp"

#include "perfetto.pb.h"

namespace tracelens::perfetto {
namespace {

// Parsed, this is about a megabyte: as much as a core has at hand.
constexpr std::size_t kBatchBytes = std::size_t{64} << 10;
// Larger packets, and packed ones, could take any amount of memory when parsed. They are left to
// the decoder, which does one after the other.
constexpr std::size_t kLargePacket = std::size_t{16} << 10;

}  // namespace

PacketBatch::PacketBatch() = default;
PacketBatch::~PacketBatch() = default;
PacketBatch::PacketBatch(PacketBatch&&) noexcept = default;

bool PacketBatch::take(PacketStream& packets) {
  bytes_.clear();
  entries_.clear();
  while (bytes_.size() < kBatchBytes) {
    const auto packet = packets.next();
    if (!packet) break;
    entries_.push_back({bytes_.size(), packet->bytes.size(), packet->byte});
    bytes_ += packet->bytes;
  }
  bytes_read_ = packets.bytes_read();
  return !entries_.empty();
}

void PacketBatch::parse() {
  while (packets_.size() < entries_.size())
    packets_.push_back(std::make_unique<proto::TracePacket>());
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    entry.is_parsed =
        entry.size <= kLargePacket &&
        packets_[i]->ParseFromArray(bytes_.data() + entry.begin, static_cast<int>(entry.size));
  }
}

void PacketBatch::hand_to(PacketDecoder& decoder) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    if (entry.is_parsed)
      decoder.decode(*packets_[i], entry.byte);
    else
      decoder.decode(std::string_view{bytes_}.substr(entry.begin, entry.size), entry.byte);
  }
  // One unusual packet must not keep its memory for the rest of the file.
  if (bytes_.capacity() > 4 * kBatchBytes) bytes_ = {};
}

}  // namespace tracelens::perfetto
