// host_threads.hpp: the threads that made the API calls of a ROCm timeline.
//   return with_own_threads(read_perfetto(in, options));
// rocprofv3 writes its Perfetto trace from one thread at the end of the run, and has a track of its own
// for each other thread that made calls. Perfetto tells what lies on such a track to be of the thread
// that wrote it, and so does the JSON that its converter makes: then a thread that waits seems to make
// the calls of one that works. Which thread it was, the argument "tid" of a call says.
#pragma once

#include <tracelens/trace.hpp>

namespace tracelens {

// Calls and markers of a process are told to be of one thread, and name others: each moves to the
// thread it names, which keeps what was told as a label (kToldTid). All other traces stay as they are.
[[nodiscard]] Trace with_own_threads(Trace trace);

}  // namespace tracelens
