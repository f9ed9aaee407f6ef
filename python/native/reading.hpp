// reading.hpp: long work of the core while Python stays alive: Ctrl-C is heard, progress is told.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>

namespace tracelens::python {

// Runs `work` on a thread of its own. The calling thread, which must hold the interpreter's lock, waits
// without it; every 50 ms it takes it, looks for signals and calls `look`. When either raises, `stop`
// is called, from this thread and until the work has ended; then the exception comes out of here.
// What the work throws comes out, too.
void run_watched(const std::function<void()>& work, const std::function<void()>& look,
                 const std::function<void()>& stop);

// The same for reading: gives `read` an on_progress that stops it, and calls
// `progress(fraction, events)` when there is news, unless that is None.
[[nodiscard]] Trace read_watched(
    const std::function<Trace(const std::function<void(const ReadProgress&)>& on_progress)>& read,
    const pybind11::object& progress);

}  // namespace tracelens::python
