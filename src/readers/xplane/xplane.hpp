// xplane.hpp: profiles of JAX (and whatever else writes XSpace protobufs): *.xplane.pb.
//   if (is_xplane(in.peek(4096))) return read_xplane(in, options);
//   read_xplane_folder("/tmp/profile", options);       // plugins/profile/<run>/*.xplane.pb
// What a profile becomes:
//   - GPU planes first, by number: pid 1 + number of the GPU, tid the stream. Each kernel carries
//   the
//     Signature of its HLO instruction; module runs and HLO ops are cpu_op events above their
//     kernels (xplane_device.hpp). Correlation ids are the profiler's.
//   - then the host, pid 701, thread by thread (xplane_host.hpp).
//   - metadata: the compiled modules (trace/hlo.hpp), GPUs, versions of JAX and CUDA, host names.
// Hosts after the first have pids 1000 higher each. Pids and tids are those profile viewers show.
#pragma once

#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace.hpp>

#include "io/stream.hpp"

namespace tracelens {

[[nodiscard]] bool is_xplane(std::string_view head);

// Throws Error when the bytes hold no plane at all. A profile that was cut off gives what came
// before the cut.
[[nodiscard]] Trace read_xplane(io::Stream& in, const ReadOptions& options);

// All hosts of the newest run in the folder (xplane_folder.hpp), as one trace, with the files that
// were read in the metadata ("profile_run"). Throws Error when there is none.
[[nodiscard]] Trace read_xplane_folder(const std::string& folder, const ReadOptions& options);

}  // namespace tracelens
