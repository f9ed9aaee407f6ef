// rocprof_processes.hpp: the processes of a rocprofv3 profile and what each of them ran.
//   for (const ProfiledProcess& process : profiled_processes(trace)) ... process.first_row
// The events of a process stand together, one process after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct ProfiledProcess {
  std::optional<std::int64_t> pid;  // as in the tracks of its threads
  std::string host, command;
  std::int64_t init_ns = 0, fini_ns = 0;  // when it began and ended; 0 when the file does not say
  std::uint32_t first_row = 0, end_row = 0;
  // From here on: dispatches that are in no list of the file but that of the hardware counters.
  std::uint32_t counted_row = 0;
};

// In file order, at least one. A trace that does not tell its processes is one process.
[[nodiscard]] std::vector<ProfiledProcess> profiled_processes(const Trace& trace);

// One row per process; none when the trace does not tell its processes.
[[nodiscard]] std::optional<Table> processes_table(const Trace& trace);

}  // namespace tracelens
