// repaired_json.hpp: events that are copied as text, and are no JSON for everybody.
//   JsonRepairs repairs;
//   const std::string text = repaired_list(events, repairs);   // strict JSON, joined by commas
// Values are kept as our readers understand them, null where they do not: NaN, inf, 01, broken
// escapes, raw control characters, bytes that are no UTF-8.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "readers/chrome/event_texts.hpp"

namespace tracelens {

// Events that were no strict JSON.
struct JsonRepairs {
  std::uint64_t repaired = 0, left_out = 0;
  void add(const JsonRepairs& other) {
    repaired += other.repaired;
    left_out += other.left_out;
  }
  // A warning; empty when there were none.
  [[nodiscard]] std::string sentence() const;
};

// Keys and values that are no strict JSON, put right. `texts` holds what the members then look at.
void repair_members(std::vector<RawMember>& members, std::deque<std::string>& texts);

// The elements of a list without its brackets. Those that are no objects are left out.
[[nodiscard]] std::string repaired_list(std::string_view elements, JsonRepairs& repairs);

}  // namespace tracelens
