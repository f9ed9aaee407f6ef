// events.hpp: slices become the events that Perfetto's own JSON converter would write, in
// its order, so that a .pftrace and its JSON give the same tables. Times stay exact nanoseconds
// (the JSON has whole microseconds), slices outside threads keep their length, and what the
// converter leaves out is here too: slices without a category and slices of a whole process.
#pragma once

#include <tracelens/trace_builder.hpp>

#include "readers/perfetto/decoder.hpp"

namespace tracelens::perfetto {

// After decoder.finish(). The trace then has, in this order: names of threads and processes; slices
// of threads and of processes (tid 0), by begin; flows between them; the slices of all other
// tracks, each followed in time by an event for its end. More than two threads make no difference.
void export_events(PacketDecoder& decoder, TraceBuilder& builder, int threads);

}  // namespace tracelens::perfetto
