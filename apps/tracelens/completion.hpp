// completion.hpp: completion scripts, made from the declared flags, so that they cannot go stale.
#pragma once

#include <string>

#include "flags.hpp"

namespace tracelens::app {

// `shell` is "bash" or "zsh".
[[nodiscard]] std::string completion_script(const Flags& program, const std::string& shell);

}  // namespace tracelens::app
