// nsight.hpp: what `nsys export --type sqlite` writes.
#pragma once

#include "readers/database/connection.hpp"
#include "readers/database/job.hpp"

namespace tracelens {

[[nodiscard]] bool is_nsight(const DatabaseFile& file);
// `of_several`: times are moved to the world's clock, on which reports of one job can be compared.
void read_nsight(const DatabaseFile& file, Job& job, int threads, bool of_several,
                 std::set<std::string>& seen);

}  // namespace tracelens
