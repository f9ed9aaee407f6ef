// long_events.hpp: how much text a reader waits for when an element of the event list does not end.
//   std::size_t patience = kLongEvent;
//   if (unended.size() > patience && !may_still_end(unended, patience)) give_up();
// A string without its closing quote swallows all that follows, and an event may truly be long.
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

// Whether `unended`, the beginning of an element, can still become a whole one; sets the size at
// which to ask again, so that all the questions about one element cost linear time.
[[nodiscard]] inline bool may_still_end(std::string_view unended, std::size_t& patience) {
  patience = std::min(2 * unended.size(), kLongestEvent);
  return unended.size() < kLongestEvent && json::begins_strict_json(unended);
}

}  // namespace tracelens
