// rocprof.hpp: rocprofv3's results (`*_results.json`, rocprofiler-sdk).
//   if (is_rocprof(in.peek(4096))) return read_rocprof(in, options);
// Kernel dispatches, copies and API calls become the events a Kineto trace has for them, with the
// categories, arguments and names rocprofv3 gives them in its Perfetto traces ("hip_api",
// "kernel_dispatch", args "agent", "copy_bytes", ...), so that all tables work for both.
#pragma once

#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>

#include "io/stream.hpp"

namespace tracelens {

// Whether a JSON object begins that has the tool's name as a key.
[[nodiscard]] bool is_rocprof(std::string_view head);

// Throws Error when the file holds no process or no records. Of several processes all are read,
// their events one process after the other, numbered as RocprofRun says; the metadata "processes"
// tells which events are whose. The text is read once, element by element: only the agents, the
// symbols and the names of functions of a process are kept in memory besides the columns, and the
// hardware counters it measured until it ends.
[[nodiscard]] Trace read_rocprof(io::Stream& in, const ReadOptions& options);

}  // namespace tracelens
