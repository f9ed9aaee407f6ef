// text_limits.hpp: how much text is looked at where a trace is odd; tests have lower limits than others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "readers/chrome/long_events.hpp"

namespace tracelens {

struct TextLimits {
  EventLimits events;
  // Text behind the event list is kept whole, up to this.
  std::size_t tail = std::size_t{64} << 20;
  // Every attempt to go on after an element without an end looks at all text of it. A file made of such
  // elements is given up when the attempts have looked at this much.
  std::uint64_t retry_bytes = std::uint64_t{1} << 27;
};

}  // namespace tracelens
