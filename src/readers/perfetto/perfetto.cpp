#include "readers/perfetto/perfetto.hpp"

#include <algorithm>
#include <utility>

#include "io/threads.hpp"
#include "readers/kit/ordered_work.hpp"
#include "readers/kit/source.hpp"
#include "readers/perfetto/batches.hpp"
#include "readers/perfetto/decoder.hpp"
#include "readers/perfetto/events.hpp"
#include "readers/perfetto/packets.hpp"

namespace tracelens {
namespace {

constexpr std::uint64_t kBatchesPerReport = 64;
// Parsing is the smaller part, and the rest goes from packet to packet: more threads would wait.
constexpr int kMostThreads = 3;

// Fields of a packet that tell it from other protobuf files: XPlane files begin with the same byte,
// but their messages have no fields beyond 6, and a field 3 with a length.
struct PacketField {
  std::uint64_t number;
  bool has_length;
};
constexpr PacketField kPacketFields[] = {
    {3, false},  {8, false},  {10, false}, {13, false}, {41, false}, {42, false},
    {58, false}, {79, false}, {87, false}, {11, true},  {12, true},  {33, true},
    {35, true},  {36, true},  {43, true},  {44, true},  {45, true},  {50, true},
    {59, true},  {60, true},  {69, true},  {89, true},  {133, true}};

bool is_packet_field(const perfetto::FieldHead& field) {
  return std::ranges::any_of(kPacketFields, [&](const PacketField& known) {
    return known.number == field.number && known.has_length == field.has_length;
  });
}

// Calls `visit` for the fields of `message` as far as it goes. False when it is no message; one
// that is_cut may end anywhere.
template <class Visit>
bool walk_fields(std::string_view message, bool is_cut, Visit&& visit) {
  while (!message.empty()) {
    perfetto::FieldHead field;
    const auto state = perfetto::read_field_head(message, field);
    if (state == perfetto::HeadState::kCut) return is_cut;
    if (state == perfetto::HeadState::kDamaged) return false;
    message.remove_prefix(field.head_bytes);
    const bool is_whole = field.body_bytes <= message.size();
    if (!is_whole && !is_cut) return false;
    const auto size = is_whole ? static_cast<std::size_t>(field.body_bytes) : message.size();
    if (!visit(field, message.substr(0, size), !is_whole)) return false;
    message.remove_prefix(size);
  }
  return true;
}

}  // namespace

bool is_perfetto(std::string_view head) {
  bool is_found = false;
  walk_fields(head, true, [&](const perfetto::FieldHead& packet, std::string_view body, bool cut) {
    bool has_telling_field = false;
    const bool is_sound = packet.is_packet() &&
                          walk_fields(body, cut, [&](const auto& field, std::string_view, bool) {
                            has_telling_field |= is_packet_field(field);
                            return true;
                          });
    is_found = is_sound && has_telling_field;
    return is_sound && !is_found;  // look at the next packet
  });
  return is_found;
}

Trace read_perfetto(io::Stream& in, const ReadOptions& options) {
  TraceBuilder builder;
  perfetto::PacketDecoder decoder{builder};
  perfetto::PacketStream packets{in, options.block_bytes};
  struct Worker {
    perfetto::PacketBatch batch;
    double fraction = 0;
  };
  std::uint64_t count = 0;
  OrderedWork work{
      [&](Worker& worker) {
        const bool has_packets = worker.batch.take(packets, options.block_bytes);
        worker.fraction = in.progress();
        return has_packets;
      },
      [](Worker& worker) { worker.batch.parse(); },
      [&](Worker& worker) {
        worker.batch.hand_to(decoder);
        if (++count % kBatchesPerReport == 0 && options.on_progress)
          options.on_progress({worker.fraction, worker.batch.bytes_read(), decoder.slices()});
      }};
  const int threads = io::thread_count(options.threads);
  work.run(std::min(in.threads_left_of(threads), kMostThreads), [] { return Worker{}; });
  decoder.finish();
  builder.source().text_bytes = packets.bytes_read();
  if (packets.skipped_packets() > 0)
    builder.warnings().add("packet of more than 8 MiB, which is not read",
                           packets.first_skipped_byte(), packets.skipped_packets());
  if (const auto& damage = packets.damage()) {
    builder.warnings().add(damage->what, damage->byte);
    builder.source().cut_short = true;
  }
  perfetto::export_events(decoder, builder, threads);
  describe_source(builder, in, Recorder::kPerfetto, "perfetto");
  return std::move(builder).finish();
}

}  // namespace tracelens
