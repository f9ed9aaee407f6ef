// template.hpp: the parts of data/replay, joined and embedded at build time.
#pragma once

#include <string_view>

namespace tracelens {

[[nodiscard]] std::string_view replay_common();  // which the others import
[[nodiscard]] std::string_view replay_template();
[[nodiscard]] std::string_view replay_jax_template();

}  // namespace tracelens
