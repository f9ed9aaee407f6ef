// holes.hpp: where an event list goes on behind text that was lost. A page that never reached the
// disk holds NUL bytes; what follows it may be the middle of a string or of nested arguments.
//   const AfterHole next = find_event_after_hole(text, behind_a_nul);
//   if (!next.found) read more behind text.substr(next.at), and ask again from there
#pragma once

#include <cstddef>
#include <string_view>

namespace tracelens {

// The first NUL byte of [begin, end); nullptr when there is none.
[[nodiscard]] const char* find_nul(const char* begin, const char* end);

struct AfterHole {
  std::size_t at = 0;  // where the event begins; else what must be kept until there is more text
  bool found = false;
};
// `from` is at or behind a NUL byte. `text` has json::kPadding readable bytes behind it. What is
// found does not depend on how much text follows.
[[nodiscard]] AfterHole find_event_after_hole(std::string_view text, std::size_t from);

// At the end of the file, when there is no such event: the position behind the ']' that closes the
// list; npos when that is lost as well.
[[nodiscard]] std::size_t find_list_end_after_hole(std::string_view text);

}  // namespace tracelens
