// environment.hpp: the place of a process in its job, as its launcher wrote it into the environment.
//   const JobPlace place = place_in_job(R"({"RANK":"3","WORLD_SIZE":"8"})");      // 3 of 8
// Only the keys of launchers are looked at: an environment holds passwords too.
#pragma once

#include <cstdint>
#include <string_view>
#include <tracelens/trace.hpp>

namespace tracelens {

struct JobPlace {
  std::int64_t rank = kAbsent, world_size = kAbsent;
};
// `environment`: a JSON object, a JSON list of "KEY=value", or lines of that kind.
[[nodiscard]] JobPlace place_in_job(std::string_view environment);

}  // namespace tracelens
