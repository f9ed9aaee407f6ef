// machine.hpp: what of the machine this process may use: all of it, or less in a container. In src/io.
//   options.threads = usable_cpus() / 2;
#pragma once

#include <cstdint>

namespace tracelens {

// The CPUs that this process may run on (taskset and container CPU sets count), but no more than its container
// gets the time of: a quota of 1.5 CPUs is 2. Never less than 1. It is what `threads = 0` stands for.
[[nodiscard]] int usable_cpus();

// Bytes of memory: the machine's, or the container's when that is less.
[[nodiscard]] std::uint64_t usable_memory();

}  // namespace tracelens
