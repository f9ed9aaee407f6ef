// testing.hpp: small Perfetto traces for tests, one readable line per packet.
//   TestPackets t;
//   t.thread(100, 101, "worker");
//   t.begin(5'000, "gemm", {.category = "app"});
//   t.end(9'000);
//   const Trace trace = t.read();
// Times are nanoseconds of the boot-time clock. All packets are of sequence 1, whose state is valid
// from the first one on, unless packet() is changed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>

#include "perfetto.pb.h"
#include "readers/perfetto/tracks.hpp"

namespace tracelens::perfetto {

struct Where {
  std::string_view category = "app";
  std::optional<std::uint64_t> track = {};  // none: the thread of the sequence
};

class TestPackets {
 public:
  static constexpr std::uint32_t kSequence = 1;

  TestPackets() {
    proto::TracePacket first = packet();
    first.set_sequence_flags(1);
    add(first);
  }

  [[nodiscard]] static proto::TracePacket packet() {
    proto::TracePacket packet;
    packet.set_trusted_packet_sequence_id(kSequence);
    return packet;
  }
  void add(const proto::TracePacket& packet) { bytes_ += wrapped(packet); }
  void add_bytes(std::string_view bytes) { bytes_ += bytes; }

  // The packet as a field of the file.
  [[nodiscard]] static std::string wrapped(const proto::TracePacket& packet) {
    const std::string body = packet.SerializeAsString();
    std::string bytes{"\x0a"};
    std::size_t length = body.size();
    for (; length > 0x7f; length >>= 7) bytes += static_cast<char>(length | 0x80);
    bytes += static_cast<char>(length);
    return bytes + body;
  }

  // --- descriptors ---
  void process(std::uint64_t uuid, int pid, std::string_view name) {
    proto::TracePacket packet = TestPackets::packet();
    auto& track = *packet.mutable_track_descriptor();
    track.set_uuid(uuid);
    track.mutable_process()->set_pid(pid);
    track.mutable_process()->set_process_name(std::string{name});
    add(packet);
  }
  void thread(int pid, int tid, std::string_view name, std::uint64_t uuid = 0x7ead) {
    proto::TracePacket packet = TestPackets::packet();
    auto& track = *packet.mutable_track_descriptor();
    track.set_uuid(uuid);
    track.mutable_thread()->set_pid(pid);
    track.mutable_thread()->set_tid(tid);
    track.mutable_thread()->set_thread_name(std::string{name});
    add(packet);
  }
  void track(std::uint64_t uuid, std::uint64_t parent, std::string_view name) {
    proto::TracePacket packet = TestPackets::packet();
    auto& track = *packet.mutable_track_descriptor();
    track.set_uuid(uuid);
    track.set_parent_uuid(parent);
    track.set_name(std::string{name});
    add(packet);
  }

  // --- events; change() is called with the packet before it is added ---
  template <class Change>
  void event(proto::TrackEvent::Type type, std::uint64_t ns, std::string_view name,
             const Where& where, Change&& change) {
    proto::TracePacket packet = TestPackets::packet();
    packet.set_timestamp(ns);
    auto& event = *packet.mutable_track_event();
    event.set_type(type);
    if (!name.empty()) event.set_name(std::string{name});
    if (!where.category.empty()) event.add_categories(std::string{where.category});
    if (where.track) event.set_track_uuid(*where.track);
    change(packet);
    add(packet);
  }
  void event(proto::TrackEvent::Type type, std::uint64_t ns, std::string_view name,
             const Where& where) {
    event(type, ns, name, where, [](proto::TracePacket&) {});
  }
  void begin(std::uint64_t ns, std::string_view name, const Where& where = {}) {
    event(proto::TrackEvent::TYPE_SLICE_BEGIN, ns, name, where);
  }
  void end(std::uint64_t ns, std::optional<std::uint64_t> track = {}) {
    event(proto::TrackEvent::TYPE_SLICE_END, ns, {}, {.category = {}, .track = track});
  }
  void instant(std::uint64_t ns, std::string_view name, const Where& where = {}) {
    event(proto::TrackEvent::TYPE_INSTANT, ns, name, where);
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] Trace read() const { return read_trace_bytes("inline.pftrace", bytes_); }

 private:
  std::string bytes_;
};

}  // namespace tracelens::perfetto
