// progress.hpp: how a long read tells how far it is; drawing a bar is the caller's business.
//   read_trace(path, {.progress = [](double fraction, std::uint64_t bytes) { … }});
#pragma once

#include <cstdint>
#include <functional>

namespace tracelens::io {

// `fraction` is 0..1 of the stored bytes, 0 when the size is unknown (a pipe); `bytes` is the
// unpacked text so far. Called from the thread that reads, a few times a second at most.
using ProgressFn = std::function<void(double fraction, std::uint64_t bytes)>;

}  // namespace tracelens::io
