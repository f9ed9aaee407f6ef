// told_thread.hpp: how a Trace remembers on which thread its file told calls to be, where the readers
// know better (readers/formats/host_threads.hpp). The Python TraceLens goes by what the file tells.
//   trace.label(track, kToldTid)     // the told tid of the calls on this track; none: the track's own
#pragma once

#include <string_view>

namespace tracelens {

inline constexpr std::string_view kToldTid = "told_tid";

}  // namespace tracelens
