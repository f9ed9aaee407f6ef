// perfetto.hpp: Perfetto traces (.pftrace), as rocprofv3 and other programs write them.
//   if (is_perfetto(in.peek(4096))) return read_perfetto(in, options);
// The trace has the events that Perfetto's own converter to JSON would write, in its order; see
// events.hpp. Memory: the columns of the trace and some ten MB, of which the largest part are batches
// of packets, one per thread; no copy of the file.
#pragma once

#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>

#include "io/stream.hpp"

namespace tracelens {

// True when the bytes begin with a packet that has a field only Perfetto's packets have.
[[nodiscard]] bool is_perfetto(std::string_view head);

// See read_trace() for what is forgiven.
[[nodiscard]] Trace read_perfetto(io::Stream& in, const ReadOptions& options);

}  // namespace tracelens
