// reading.hpp: long work of the core while Python stays alive: Ctrl-C is heard, progress is told.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>

namespace tracelens::python {

// Runs `read` on a thread of its own and gives it an on_progress that stops it. The calling thread,
// which must hold the interpreter's lock, waits without it; it looks for signals every 50 ms and
// calls `progress(fraction, events)` when there is news, unless that is None. What either raises
// ends the reading and comes out of here.
[[nodiscard]] Trace read_watched(
    const std::function<Trace(const std::function<void(const ReadProgress&)>& on_progress)>& read,
    const pybind11::object& progress);

}  // namespace tracelens::python
