// batches.hpp: packets of a file, some at a time, so that several threads can parse them.
//   PacketBatch batch;
//   while (batch.take(packets, block_bytes)) {
//     batch.parse();
//     batch.hand_to(decoder);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "readers/perfetto/decoder.hpp"
#include "readers/perfetto/event_packets.hpp"
#include "readers/perfetto/packets.hpp"

namespace tracelens::perfetto {

class PacketBatch {
 public:
  PacketBatch();
  ~PacketBatch();
  PacketBatch(PacketBatch&&) noexcept;
  PacketBatch& operator=(PacketBatch&&) = delete;

  // The next packets, instead of those it has: about so many bytes of them, or less. False when
  // there are none.
  bool take(PacketStream& packets, std::size_t bytes);
  void parse();
  void hand_to(PacketDecoder& decoder);

  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }  // of the file so far

 private:
  struct Entry {
    std::size_t begin = 0, size = 0;  // in bytes_
    std::uint64_t byte = 0;           // in the file
    // Where it is after parse(): among events_ or packets_, or left to the decoder.
    enum class State : std::uint8_t { kBytes, kEvent, kPacket } state = State::kBytes;
  };

  std::string bytes_;
  std::vector<Entry> entries_;
  EventPackets events_;
  std::vector<std::unique_ptr<proto::TracePacket>> packets_;  // their memory is kept
  std::uint64_t bytes_read_ = 0;
};

}  // namespace tracelens::perfetto
