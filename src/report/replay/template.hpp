// template.hpp: data/replay/replay.py and replay_jax.py, embedded at build time.
#pragma once

#include <string_view>

namespace tracelens {

[[nodiscard]] std::string_view replay_template();
[[nodiscard]] std::string_view replay_jax_template();

}  // namespace tracelens
