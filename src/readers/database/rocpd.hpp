// rocpd.hpp: the databases that rocprofv3 writes since ROCm 7, and rocprof-sys.
#pragma once

#include "readers/database/connection.hpp"
#include "readers/database/job.hpp"

namespace tracelens {

[[nodiscard]] bool is_rocpd(const DatabaseFile& file);
// All processes in it: `rocpd merge` puts many into one file. `seen` has the names of those that were
// read before, of other files.
void read_rocpd(const DatabaseFile& file, Job& job, int threads, std::set<std::string>& seen);

}  // namespace tracelens
