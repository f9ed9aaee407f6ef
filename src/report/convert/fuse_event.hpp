// fuse_event.hpp: one event of one rank, rewritten so that ranks can stand side by side in one
// file.
//   RankEvents events{rank, scales, filter};
//   if (events.rewrite(text, out)) ...                // `out` got the event as JSON
// Process ids, flow ids and the ids that link kernels to launches get the rank in front of their
// digits (rank 3, pid 41137 -> 3041137); the old ones and the rank are noted in the arguments.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/fuse.hpp>
#include <vector>

#include "readers/chrome/event_texts.hpp"
#include "readers/chrome/repaired_json.hpp"

namespace tracelens {

// By how much an id grows per rank; 0: the field holds no numbers anywhere.
struct FuseScales {
  std::int64_t pid = 0, id = 0, link = 0;
  std::string_view link_key = "correlation";  // or "External id"
};

// The largest ids of a file and what else one has to know before writing.
class FuseSurvey {
 public:
  void look_at(std::string_view event);
  void add(const FuseSurvey& other);  // the link key stays as it is

  [[nodiscard]] FuseScales scales() const;
  [[nodiscard]] std::optional<std::int64_t> first_ns() const { return first_ns_; }

 private:
  struct Largest {
    bool is_there = false;
    std::int64_t value = 0;
    void take(std::string_view text);
    void take(const Largest& other);
    [[nodiscard]] std::int64_t scale() const;
  };
  Largest pid_, id_, correlation_, external_id_;
  std::optional<bool> launches_have_correlation_;  // by the first launch
  std::optional<std::int64_t> first_ns_;
  std::vector<RawMember> members_, args_;
};

class RankEvents {
 public:
  struct Times {
    std::int64_t shift_ns = 0;                             // added to every time
    std::optional<std::int64_t> from_ns = {}, to_ns = {};  // events outside are dropped
  };
  RankEvents(std::int64_t rank, const FuseScales& scales, const FuseOptions& options, Times times)
      : rank_{rank}, scales_{scales}, options_{options}, times_{times} {}

  // Appends the event to `out`; false, with `out` as it was, when it is not wanted or is no event.
  // What is appended is strict JSON: values that are none (NaN, 01, broken UTF-8) are repaired.
  bool rewrite(std::string_view event, std::string& out);

  // The processes seen so far: id -> whether GPU work is listed under it.
  [[nodiscard]] const std::map<std::int64_t, bool>& processes() const { return processes_; }
  // Events so far that were no strict JSON: repaired, or left out.
  [[nodiscard]] const JsonRepairs& damage() const { return damage_; }

 private:
  struct Fields;
  [[nodiscard]] bool is_wanted(const Fields& fields) const;
  void append_event(const Fields& fields, std::string& out);
  void repair(Fields& fields);
  void append_args(const Fields& fields, std::string& out);
  void append_id(std::string_view text, std::string& out) const;

  std::int64_t rank_;
  FuseScales scales_;
  const FuseOptions& options_;
  Times times_;
  std::map<std::int64_t, bool> processes_;
  std::vector<RawMember> members_, args_;
  std::deque<std::string> repairs_;  // texts that members look at
  JsonRepairs damage_;
};

}  // namespace tracelens
