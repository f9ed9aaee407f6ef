// sequence.hpp: what the packets of one sequence have told so far. Packets refer to texts
// by numbers that earlier packets of the sequence defined, and leave out what a default says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "readers/kineto/event.hpp"
#include "readers/perfetto/clocks.hpp"
#include "readers/perfetto/tracks.hpp"

namespace tracelens::perfetto {

// `text` as it stands between the quotes of JSON. Broken UTF-8 is left for whoever reads the JSON.
void append_escaped(std::string& out, std::string_view text);

// All texts of the trace, escaped as in JSON. One table for all sequences.
class Texts {
 public:
  explicit Texts(kineto::EventParser& parser) : parser_{parser} {}
  // Escapes `raw` and gives its id.
  std::uint32_t intern(std::string_view raw);
  // The same for the name of an argument: dots and square brackets become underscores, as they
  // would mean nesting to Perfetto.
  std::uint32_t intern_key(std::string_view raw);
  [[nodiscard]] std::string_view text(std::uint32_t id) const {
    return parser_.strings().text({id});
  }

 private:
  kineto::EventParser& parser_;
  std::string scratch_;
};

// The texts one kind of interned data stands for. Numbers are mostly counted up from 1, so they
// index a list; those that are far ahead of it go into a map, as a file may contain any number.
class InternedTexts {
 public:
  void set(std::uint64_t iid, std::uint32_t text) {
    if (find(iid) != text) ++version_;
    if (iid < kFarAhead + 2 * count_++) {
      if (iid >= dense_.size()) dense_.resize(iid + 1, kNone);
      dense_[iid] = text;
    } else {
      sparse_[iid] = text;
    }
  }
  // kNone when nothing was interned under this number.
  [[nodiscard]] std::uint32_t find(std::uint64_t iid) const {
    if (iid < dense_.size() && dense_[iid] != kNone) return dense_[iid];
    if (sparse_.empty()) return kNone;
    const auto found = sparse_.find(iid);
    return found == sparse_.end() ? kNone : found->second;
  }
  void clear() {
    dense_.clear();
    sparse_.clear();
    count_ = 0;
    ++version_;
  }
  // As long as it stays the same, every number means the same.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  static constexpr std::uint64_t kFarAhead = 64;
  std::uint64_t count_ = 0;  // calls of set(): the list never gets much longer than this
  std::uint64_t version_ = 0;
  std::vector<std::uint32_t> dense_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
};

struct Sequence {
  bool is_valid = false;  // the packets that the numbers depend on were all seen
  InternedTexts categories, names, annotation_names, string_values;
  std::uint32_t default_clock = 0;  // 0: none
  std::optional<std::uint64_t> default_track;
  SequenceClocks clocks;
  std::uint32_t thread_track = kNone;  // of the last thread this sequence described: its writer
  std::int64_t legacy_time_us = 0;     // for events that only tell the difference

  // Forgets what the packets so far have defined. The thread that writes stays the same.
  void clear() {
    for (auto* texts : {&categories, &names, &annotation_names, &string_values}) texts->clear();
    default_clock = 0;
    default_track.reset();
    is_valid = true;
  }
};

}  // namespace tracelens::perfetto
