#include "readers/xplane/plane.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tracelens::xplane {
namespace {

struct KnownKey {
  std::string_view name;
  Key key;
};
constexpr std::array<KnownKey, 10> kKeys = {{
    {"correlation_id", Key::kCorrelationId},
    {"kernel_details", Key::kKernelDetails},
    {"memcpy_details", Key::kMemcpyDetails},
    {"Memset_details", Key::kMemsetDetails},
    {"hlo_op", Key::kHloOp},
    {"hlo_module", Key::kHloModule},
    {"program_id", Key::kProgramId},
    {"Hlo Proto", Key::kHloProto},
    {"step_num", Key::kStepNumber},
    {"_r", Key::kRoot},
}};

Key key_of(std::string_view name) {
  const auto* const found = std::ranges::find(kKeys, name, &KnownKey::name);
  return found == kKeys.end() ? Key::kUnknown : found->key;
}

// The two halves of an entry of a protobuf map.
struct MapEntry {
  std::int64_t key = 0;
  std::string_view value;
};
MapEntry decode_entry(std::string_view bytes) {
  MapEntry entry;
  Wire wire{bytes};
  for (WireField field; wire.next(field);) {
    if (field.number == 1 && field.is_integer) entry.key = field.as_signed();
    if (field.number == 2 && field.has_bytes) entry.value = field.bytes;
  }
  return entry;
}

const EventKind kNoKind;

struct Times {
  std::int64_t offset_ps = 0, duration_ps = 0;
};
Times times_of(std::string_view event) {
  Times times;
  Wire wire{event};
  for (WireField field; wire.next(field);) {
    if (field.number == 2 && field.is_integer) times.offset_ps = field.as_signed();
    if (field.number == 3 && field.is_integer) times.duration_ps = field.as_signed();
    if (field.number == 4) break;  // values come last
  }
  return times;
}
bool is_before(const Times& a, const Times& b) {
  return std::pair{a.offset_ps, b.duration_ps} < std::pair{b.offset_ps, a.duration_ps};
}

}  // namespace

std::optional<std::int64_t> Stat::integer() const {
  if (kind == Kind::kSigned || kind == Kind::kUnsigned) return static_cast<std::int64_t>(bits);
  return std::nullopt;
}

Stat decode_stat(std::string_view bytes) {
  constexpr std::array<Stat::Kind, 8> kKinds = {
      Stat::Kind::kNone,   Stat::Kind::kNone, Stat::Kind::kDouble, Stat::Kind::kUnsigned,
      Stat::Kind::kSigned, Stat::Kind::kText, Stat::Kind::kBytes,  Stat::Kind::kReference};
  Stat stat;
  SmallMessage small;
  if (read_small_message(bytes, small) &&
      (small.tag == SmallMessage::varint(3) || small.tag == SmallMessage::varint(4) ||
       small.tag == SmallMessage::varint(7))) {
    stat.metadata_id = small.id;
    stat.kind = kKinds[small.tag >> 3];
    stat.bits = small.number;
    return stat;
  }
  Wire wire{bytes};
  for (WireField field; wire.next(field);) {
    if (field.number == 1 && field.is_integer) stat.metadata_id = field.as_signed();
    if (field.number < 2 || field.number > 7) continue;
    const Stat::Kind kind = kKinds[field.number];
    const bool is_text = kind == Stat::Kind::kText || kind == Stat::Kind::kBytes;
    const bool is_right = is_text                       ? field.has_bytes
                          : kind == Stat::Kind::kDouble ? field.is_double
                                                        : field.is_integer;
    if (!is_right) continue;  // not the type this field has
    stat.kind = kind;
    stat.bits = field.has_bytes ? 0 : field.integer;
    stat.bytes = field.has_bytes ? field.bytes : std::string_view{};
  }
  return stat;
}

bool decode_event(std::string_view bytes, Event& event) {
  event.metadata_id = event.offset_ps = event.duration_ps = 0;
  event.stats.clear();
  Wire wire{bytes};
  for (WireField field; wire.next(field);) {
    if (field.number == 4 && field.has_bytes) event.stats.push_back(decode_stat(field.bytes));
    if (!field.is_integer) continue;
    if (field.number == 1) event.metadata_id = field.as_signed();
    if (field.number == 2) event.offset_ps = field.as_signed();
    if (field.number == 3) event.duration_ps = field.as_signed();
  }
  return !wire.is_damaged();
}

Plane::Plane(std::string_view bytes, const Pages& pages) {
  Wire wire{bytes};
  for (WireField field; wire.next(field);) {
    if (field.number == 1 && field.is_integer) id_ = field.as_signed();
    if (!field.has_bytes) continue;
    if (field.number == 2) name_ = field.bytes;
    if (field.number == 3) add_line(field.bytes, pages);
    if (field.number == 4) add_kind(field.bytes);
    if (field.number == 5) add_stat_name(field.bytes);
    if (field.number == 6) stats_.push_back(decode_stat(field.bytes));
  }
  kind_index_.finish();
  stat_index_.finish();
  is_damaged_ = wire.is_damaged();
  // A plane that was cut off has its lines, but not the names that would have come behind them.
  if (is_damaged_ && !wire.cut().empty()) add_line(wire.cut(), pages);
  std::ranges::stable_sort(lines_, {}, &Line::tid);
}

void Plane::add_line(std::string_view bytes, const Pages& pages) {
  Line line;
  line.bytes = bytes;
  std::string_view display_name, name;
  std::int64_t display_id = 0;
  Times last{std::numeric_limits<std::int64_t>::min(), 0};
  Wire wire{bytes};
  PageTrail trail{pages, bytes};
  for (WireField field; wire.next(field);) {
    if (field.number == 4 && field.has_bytes) {
      ++line.events;
      const Times times = times_of(field.bytes);
      line.is_in_order = line.is_in_order && !is_before(times, last);
      last = times;
      trail.reach(field.bytes.data());
    }
    if (field.number == 1 && field.is_integer) line.id = field.as_signed();
    if (field.number == 2 && field.has_bytes) name = field.bytes;
    if (field.number == 3 && field.is_integer) line.timestamp_ns = field.as_signed();
    if (field.number == 10 && field.is_integer) display_id = field.as_signed();
    if (field.number == 11 && field.has_bytes) display_name = field.bytes;
  }
  if (display_id != 0) line.id = display_id;
  line.name = display_name.empty() ? name : display_name;
  lines_.push_back(std::move(line));
}

void Plane::add_kind(std::string_view bytes) {
  const auto [key, value] = decode_entry(bytes);
  EventKind kind;
  std::string_view display_name;
  Wire wire{value};
  for (WireField field; wire.next(field);) {
    if (!field.has_bytes) continue;
    if (field.number == 2) kind.name = field.bytes;
    if (field.number == 4) display_name = field.bytes;
    if (field.number == 5) kind.stats.push_back(decode_stat(field.bytes));
  }
  if (!display_name.empty()) kind.name = display_name;
  kind_index_.add(key);
  kinds_.emplace_back(key, std::move(kind));
}

void Plane::add_stat_name(std::string_view bytes) {
  const auto [key, value] = decode_entry(bytes);
  StatName name;
  Wire wire{value};
  for (WireField field; wire.next(field);)
    if (field.number == 2 && field.has_bytes) name.text = field.bytes;
  name.key = key_of(name.text);
  constexpr std::int64_t kSmall = 1 << 10;
  if (key >= 0 && key < kSmall) {
    keys_.resize(kSmall, Key::kUnknown);
    keys_[static_cast<std::size_t>(key)] = name.key;
  }
  stat_index_.add(key);
  stat_names_.push_back(std::move(name));
}

void Plane::Positions::finish() {
  // Hardly larger than what it is for: a plane of a few bytes may name any id.
  const std::size_t most = 2 * ids_.size() + 64;
  for (std::size_t position = 0; position < ids_.size(); ++position) {
    const auto id = static_cast<std::uint64_t>(ids_[position]);
    if (id >= most) {
      others_[ids_[position]] = position;
      continue;
    }
    if (id >= small_.size()) small_.resize(std::min<std::size_t>(most, 2 * id + 1), kUnset);
    small_[id] = position;  // the last of equal ids wins, as in any protobuf map
  }
  ids_ = {};
}

std::optional<std::size_t> Plane::Positions::at(std::int64_t id) const {
  if (id >= 0 && static_cast<std::uint64_t>(id) < small_.size()) {
    const std::size_t position = small_[static_cast<std::size_t>(id)];
    return position == kUnset ? std::nullopt : std::optional{position};
  }
  const auto found = others_.find(id);
  return found == others_.end() ? std::nullopt : std::optional{found->second};
}

const EventKind& Plane::kind(std::int64_t metadata_id) const {
  const auto position = kind_index_.at(metadata_id);
  return position ? kinds_[*position].second : kNoKind;
}

const Plane::StatName& Plane::stat_name(std::int64_t id) const {
  static const StatName kNone;
  const auto position = stat_index_.at(id);
  return position ? stat_names_[*position] : kNone;
}

std::string_view Plane::key_name(const Stat& stat) const {
  return stat_name(stat.metadata_id).text;
}

std::string_view Plane::text(const Stat& stat) const {
  if (stat.kind == Stat::Kind::kText) return stat.bytes;
  if (stat.kind != Stat::Kind::kReference) return {};
  return stat_name(static_cast<std::int64_t>(stat.bits)).text;
}

LineEvents::LineEvents(const Line& line, const Pages& pages)
    : wire_{line.bytes}, trail_{pages, line.bytes} {
  if (line.is_in_order) return;
  struct Place {
    Times times;
    std::string_view bytes;
  };
  std::vector<Place> places;
  places.reserve(line.events);
  Wire all{line.bytes};
  for (WireField field; all.next(field);)
    if (field.number == 4 && field.has_bytes)
      places.push_back({times_of(field.bytes), field.bytes});
  std::ranges::stable_sort(places, is_before, &Place::times);
  for (const Place& place : places) sorted_.push_back(place.bytes);
}

bool LineEvents::next_bytes(std::string_view& bytes) {
  if (!sorted_.empty()) {
    if (next_ == sorted_.size()) return false;
    bytes = sorted_[next_++];
    return true;
  }
  for (WireField field; wire_.next(field);) {
    if (field.number != 4 || !field.has_bytes) continue;
    bytes = field.bytes;
    return true;
  }
  return false;
}

void LineEvents::next_bytes(std::size_t most, std::vector<std::string_view>& events) {
  events.clear();
  for (std::string_view bytes; events.size() < most && next_bytes(bytes);) events.push_back(bytes);
}

bool LineEvents::next(Event& event) {
  std::string_view bytes;
  while (next_bytes(bytes)) {
    done_with(bytes);
    if (decode_event(bytes, event)) return true;
    ++damaged_;
  }
  return false;
}

}  // namespace tracelens::xplane
