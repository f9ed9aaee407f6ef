// job_processes.hpp: the processes of a job whose databases are one trace, each as a trace of its own.
//   for (const JobProcess& process : job_processes(trace))
//     use(process.name, TraceBuilder::excerpt(trace, process.events));
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

struct JobProcess {
  struct Communicator {
    std::string id;  // as NCCL numbers it: "0x00000000abcd0001"
    std::int64_t size = 0, rank = 0;
  };
  std::int64_t number = 0;  // the pid of its tracks
  std::string name;         // "node-a/4101"
  std::optional<std::int64_t> rank = {}, world_size = {};
  std::string command = {};  // how it was started; empty: not read
  std::optional<std::int64_t> rows_not_events = {},
                              streaming_samples = {};  // where they are counted
  std::vector<Communicator> communicators = {};
  std::vector<EventId> events = {};  // in file order; GPU events of its streams too
};

// In the order of their ranks, as far as these are known, then by name. Empty when the trace is of no
// such job.
[[nodiscard]] std::vector<JobProcess> job_processes(const Trace& trace);

// The machines of a job, by the names of their hosts, whose clocks tell nothing about each other:
// rocprofv3 counts from the start of each. 0 where all times of the trace compare.
[[nodiscard]] std::size_t machines_with_own_clocks(const Trace& trace);

}  // namespace tracelens
