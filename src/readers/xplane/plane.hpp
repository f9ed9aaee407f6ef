// plane.hpp: one plane of a profile (a GPU, the host, the compiled modules) with the tables
// that give its numbers meaning, and its events one by one.
//   const Plane plane{bytes, pages};
//   for (const Line& line : plane.lines()) {
//     LineEvents events{line, pages};
//     for (Event event; events.next(event);) use(plane.kind(event.metadata_id).name);
//   }
// A plane refers to the bytes it was made from. Every kind of damage leaves what was read before
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/stream.hpp"
#include "readers/kit/wire.hpp"

namespace tracelens::xplane {

// The file a profile lies in. A walk over a mapped file lets go of the pages behind it, so that a
// large file does not count as memory; walking again reads them again.
class Pages {
 public:
  Pages(io::Stream& in, std::string_view bytes) : in_{in}, bytes_{bytes} {}
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  void forget(const char* from, const char* to) const {
    in_.forget_mapped(static_cast<std::size_t>(from - bytes_.data()),
                      static_cast<std::size_t>(to - bytes_.data()));
  }

 private:
  io::Stream& in_;
  std::string_view bytes_;
};

// One walk: call reach() on the way.
class PageTrail {
 public:
  PageTrail(const Pages& pages, std::string_view part) : pages_{pages}, last_{part.data()} {}
  void reach(const char* at) {
    if (at - last_ < kStride) return;
    pages_.forget(last_, at);
    last_ = at;
  }

 private:
  static constexpr std::ptrdiff_t kStride = std::ptrdiff_t{1} << 20;
  const Pages& pages_;
  const char* last_;
};

// The values of events we know what to do with.
enum class Key : std::uint8_t {
  kUnknown,
  kCorrelationId,
  kKernelDetails,
  kMemcpyDetails,
  kMemsetDetails,
  kHloOp,
  kHloModule,
  kProgramId,
  kHloProto,
  kStepNumber,
  kRoot,
};

// One value, still as numbers: what it means stands in the plane's tables.
struct Stat {
  enum class Kind : std::uint8_t { kNone, kDouble, kUnsigned, kSigned, kText, kBytes, kReference };
  std::int64_t metadata_id = 0;
  Kind kind = Kind::kNone;
  std::uint64_t bits = 0;
  std::string_view bytes;
  // Numbers of either sign; absent for the other kinds.
  [[nodiscard]] std::optional<std::int64_t> integer() const;
};
[[nodiscard]] Stat decode_stat(std::string_view bytes);

struct Event {
  std::int64_t metadata_id = 0, offset_ps = 0, duration_ps = 0;
  std::vector<Stat> stats;
};
// False when the bytes are damaged; the event then holds what came before.
bool decode_event(std::string_view bytes, Event& event);

struct Line {
  std::int64_t id = 0, timestamp_ns = 0;
  std::string name;          // the display name, if it has one
  std::string_view bytes;    // the message, with its events
  std::uint64_t events = 0;  // how many
  bool is_in_order = true;   // by start, longer ones first

  // What the profile viewer numbers the thread by.
  [[nodiscard]] std::int64_t tid() const { return static_cast<std::uint32_t>(id); }
};

struct EventKind {
  std::string name;
  std::vector<Stat> stats;  // the same for all events of the kind
};

class Plane {
 public:
  Plane(std::string_view bytes, const Pages& pages);

  [[nodiscard]] std::int64_t id() const { return id_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }  // by tid
  [[nodiscard]] bool is_damaged() const { return is_damaged_; }

  [[nodiscard]] const EventKind& kind(std::int64_t metadata_id) const;
  [[nodiscard]] const std::vector<std::pair<std::int64_t, EventKind>>& kinds() const {
    return kinds_;  // in file order
  }
  [[nodiscard]] Key key(const Stat& stat) const {
    const auto id = static_cast<std::uint64_t>(stat.metadata_id);
    return id < keys_.size() ? keys_[id] : stat_name(stat.metadata_id).key;
  }
  [[nodiscard]] std::string_view key_name(const Stat& stat) const;
  // The text of a text or a reference; empty for the other kinds.
  [[nodiscard]] std::string_view text(const Stat& stat) const;
  [[nodiscard]] const std::vector<Stat>& stats() const { return stats_; }  // of the plane itself

 private:
  struct StatName {
    std::string text;
    Key key = Key::kUnknown;
  };
  [[nodiscard]] const StatName& stat_name(std::int64_t id) const;
  void add_kind(std::string_view bytes);
  void add_stat_name(std::string_view bytes);
  void add_line(std::string_view bytes, const Pages& pages);

  std::int64_t id_ = 0;
  std::string name_;
  std::vector<Line> lines_;
  std::vector<std::pair<std::int64_t, EventKind>> kinds_;
  // From ids to positions. Profilers count ids from 1, so that a list does for nearly all of them.
  class Positions {
   public:
    void add(std::int64_t id) { ids_.push_back(id); }  // that of the next position
    void finish();                                     // all are there: at() knows them now
    [[nodiscard]] std::optional<std::size_t> at(std::int64_t id) const;

   private:
    static constexpr std::size_t kUnset = static_cast<std::size_t>(-1);
    std::vector<std::int64_t> ids_;
    std::vector<std::size_t> small_;
    std::unordered_map<std::int64_t, std::size_t> others_;
  };
  Positions kind_index_, stat_index_;
  std::vector<StatName> stat_names_;
  std::vector<Key> keys_;  // by id, for small ones: asked for every value of every event
  std::vector<Stat> stats_;
  bool is_damaged_ = false;
};

// The events of a line by start, longer ones first. Profilers write them in this order; a line that
// is not gets sorted, which takes memory.
class LineEvents {
 public:
  LineEvents(const Line& line, const Pages& pages);
  // False at the end. `event` is reused from call to call.
  bool next(Event& event);
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  // Or undecoded, up to `most` at once, for other threads to decode; empty at the end.
  void next_bytes(std::size_t most, std::vector<std::string_view>& events);
  // Told when events handed out by next_bytes() are done with, in order.
  void done_with(std::string_view event) {
    if (sorted_.empty()) trail_.reach(event.data());
  }

 private:
  bool next_bytes(std::string_view& bytes);

  Wire wire_;
  PageTrail trail_;
  std::vector<std::string_view> sorted_;  // only when the file is not in order
  std::size_t next_ = 0;
  std::uint64_t damaged_ = 0;
};

}  // namespace tracelens::xplane
