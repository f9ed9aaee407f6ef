// rpd.hpp: the databases of rpd_tracer (ROCm/rocmProfileData), schema 2 and 3.
#pragma once

#include "readers/database/connection.hpp"
#include "readers/database/job.hpp"

namespace tracelens {

[[nodiscard]] bool is_rpd(const DatabaseFile& file);
// `seen` tells the recordings that were read before.
void read_rpd(const DatabaseFile& file, Job& job, int threads, std::set<std::string>& seen);

}  // namespace tracelens
