// template.hpp: data/replay/replay.py, embedded at build time.
#pragma once

#include <string_view>

namespace tracelens {

[[nodiscard]] std::string_view replay_template();

}  // namespace tracelens
