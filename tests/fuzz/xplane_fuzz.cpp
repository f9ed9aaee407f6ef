// Any bytes are either read as a profile or refused with an Error, the same each time; and an event
// walked over by hand is what libprotobuf makes of it.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/error.hpp>

#include "io/check.hpp"
#include "io/stream.hpp"
#include "readers/kit/dump.hpp"
#include "readers/xplane/plane.hpp"
#include "readers/xplane/xplane.hpp"
#include "xplane.pb.h"

namespace {

using tracelens::xplane::Stat;

std::string text_of(const Stat& stat) {
  using Kind = Stat::Kind;
  std::string text = std::to_string(stat.metadata_id) + ":";
  if (stat.kind == Kind::kNone) return text;
  text += std::to_string(static_cast<int>(stat.kind)) + "=";
  const bool has_bytes = stat.kind == Kind::kText || stat.kind == Kind::kBytes;
  return text + (has_bytes ? std::string{stat.bytes} : std::to_string(stat.bits));
}

std::string text_of(const tracelens::xplane_proto::Stat& stat) {
  using Proto = tracelens::xplane_proto::Stat;
  const std::string id = std::to_string(stat.metadata_id()) + ":";
  switch (stat.value_case()) {
    case Proto::kDoubleValue:
      return id + "1=" + std::to_string(std::bit_cast<std::uint64_t>(stat.double_value()));
    case Proto::kUint64Value:
      return id + "2=" + std::to_string(stat.uint64_value());
    case Proto::kInt64Value:
      return id + "3=" + std::to_string(static_cast<std::uint64_t>(stat.int64_value()));
    case Proto::kStrValue:
      return id + "4=" + stat.str_value();
    case Proto::kBytesValue:
      return id + "5=" + stat.bytes_value();
    case Proto::kRefValue:
      return id + "6=" + std::to_string(stat.ref_value());
    case Proto::VALUE_NOT_SET:
      break;
  }
  return id;
}

// Where libprotobuf reads an event, so do we, and to the same values. (It also takes what we call
// damaged, such as groups; profiles have none.)
void compare_event(std::string_view bytes) {
  tracelens::xplane_proto::Event judge;
  tracelens::xplane::Event event;
  const bool is_sound = decode_event(bytes, event);
  if (!is_sound || !judge.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  TL_CHECK(event.metadata_id == judge.metadata_id());
  TL_CHECK(event.offset_ps == judge.offset_ps());
  TL_CHECK(event.duration_ps == judge.duration_ps());
  TL_CHECK(event.stats.size() == static_cast<std::size_t>(judge.stats_size()));
  for (std::size_t i = 0; i < event.stats.size(); ++i)
    TL_CHECK(text_of(event.stats[i]) == text_of(judge.stats(static_cast<int>(i))));
}

std::string read(std::string_view bytes) {
  try {
    auto in = tracelens::io::Stream::over("input", bytes);
    return tracelens::dump(tracelens::read_xplane(in, {}));
  } catch (const tracelens::Error& error) {
    return error.what();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  compare_event(bytes);
  const std::string once = read(bytes);
  TL_CHECK(once == read(bytes));
  return 0;
}
