// long_events.hpp: how much text a reader waits for when an element of the event list does not end.
//   std::size_t patience = kLongEvent;
//   if (unended.size() > patience && !may_still_end(unended, patience)) give_up();
// A string without its closing quote swallows all that follows, and an event may truly be long. What becomes of
// an element depends on its text alone, not on how much of the text behind it is there when somebody asks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "readers/chrome/strict_json.hpp"

namespace tracelens {

inline constexpr std::size_t kLongEvent = std::size_t{64} << 20;
inline constexpr std::size_t kLongestEvent = std::size_t{1} << 30;
inline constexpr std::string_view kEndlessEvent =
    "event without an end, or of more than 1 GB; nothing after it was read";

struct EventLimits {
  std::size_t is_long = kLongEvent, longest = kLongestEvent;
};

// Whether `unended`, the beginning of an element, can still become a whole one. `patience` is how much of it was
// found fine, and becomes more: all the questions about one element cost linear time.
[[nodiscard]] inline bool may_still_end(std::string_view unended, std::size_t& patience,
                                        const EventLimits& limits = {}) {
  for (; unended.size() > patience; patience = std::min(2 * patience, limits.longest))
    if (patience >= limits.longest || !json::begins_strict_json(unended.substr(0, patience)))
      return false;
  return true;
}

// Whether an element was to be waited for until so much of it was there.
[[nodiscard]] inline bool was_waited_for(std::string_view element, const EventLimits& limits) {
  std::size_t patience = limits.is_long;
  return may_still_end(element, patience, limits);
}

}  // namespace tracelens
