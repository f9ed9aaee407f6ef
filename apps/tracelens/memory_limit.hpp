// memory_limit.hpp: how much memory the program may take. A run that needs more ends with a sentence,
// rather than by the system, which would take other programs along.
//   limit_memory("4G");     // before the first thread; from here on a failed allocation is thrown
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "flags.hpp"

namespace tracelens::app {

// "4G", "512M", "1.5T" or plain bytes; K is 1024.
[[nodiscard]] Check memory_size();

// As --max-memory says; empty: as the environment (TRACELENS_MAX_MEMORY) says, else half of what
// there is on this machine or, if that is less, for this container. Counts private memory only: a
// mapped file is none. Does nothing in a build with sanitizers, which reserve terabytes. Throws Error
// when the environment's is no size.
void limit_memory(const std::string& size);

[[nodiscard]] std::optional<std::uint64_t> memory_limit();  // in bytes

// Called when memory has run out: what to tell. Lifts the limit, so that there is room to tell it.
[[nodiscard]] std::string out_of_memory();

}  // namespace tracelens::app
