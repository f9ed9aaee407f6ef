// track_key.hpp: texts that tell tracks, and what is written about them, apart; for tables by these.
#pragma once

#include <string>
#include <string_view>
#include <tracelens/trace.hpp>

#include "trace/json_value.hpp"

namespace tracelens {

[[nodiscard]] inline std::string track_key(const Track& track) {
  return canonical_text(track.pid) + canonical_text(track.tid);
}
// `what`: "thread_name"
[[nodiscard]] inline std::string label_key(const Track& track, std::string_view what) {
  return track_key(track).append(what);
}

}  // namespace tracelens
