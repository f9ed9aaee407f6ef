// run.hpp: one numbering for all processes of a rocprofv3 file.
//   RocprofRun run{builder};
//   run.begin_process();                                  // then the records of the process
//   run.gpu_number({.host = "n1", .node = 4}, 0)          // 2: another process has its GPU 2 there
//   run.end_process(process); ... run.finish();
// Handles and ids mean something inside their process only. The first process keeps its numbers;
// of those after it a number is changed where it would be taken for something else:
//   GPUs       one GPU when machine and node agree, else the number is the next free one
//   streams    those of another process on the same GPU get the next free number of that GPU
//   launches   correlation ids go on behind the largest one of the processes before
//   processes  a pid that is taken already gets the next free number, with a warning
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tracelens/value.hpp>
#include <utility>
#include <vector>

#include <tracelens/trace_builder.hpp>

namespace tracelens {

// Where a GPU is, as the table of agents tells it.
struct GpuPlace {
  std::string host;             // text that is equal for processes of one machine
  std::int64_t node = kAbsent;  // of the machine; absent: the table does not tell the GPU apart
  std::int64_t driver_id = kAbsent;  // of the driver, where the table has it
  auto operator<=>(const GpuPlace&) const = default;
};

struct RocprofProcess {
  std::int64_t pid = 0;  // as given by RocprofRun::pid
  Value hostname, command, init_time, fini_time;
  std::string host;               // as in GpuPlace
  std::int64_t only_counted = 0;  // its last dispatches, which only the hardware counters tell of
};

class RocprofRun {
 public:
  explicit RocprofRun(TraceBuilder& builder) : builder_{builder} {}

  // --- around the records of each process ---
  void begin_process();
  void end_process(const RocprofProcess& process);
  // After the last one: what was learnt of GPUs, processes and counters goes into the trace.
  void finish();

  // --- numbers in the whole trace ---
  std::int64_t pid(std::int64_t own, std::uint64_t byte);
  // The number of a GPU in its own process is `wanted`, or absent when it has none.
  std::int64_t gpu_number(const GpuPlace& place, std::int64_t wanted);
  // Ask once for each GPU and stream of a process.
  std::int64_t stream_number(std::int64_t gpu, std::int64_t own);
  std::int64_t correlation(std::int64_t own, std::uint64_t byte);

  // --- for finish() ---
  void add_gpu(std::int64_t number, Value properties);  // the first of a number stays
  void change_details(EventId event, StringId details) { details_.emplace_back(event, details); }

  [[nodiscard]] bool is_first() const { return processes_.empty(); }

 private:
  TraceBuilder& builder_;
  std::size_t first_event_ = 0;  // of the process at hand
  std::set<std::int64_t> pids_;
  // GPUs of the processes before; those of the process at hand join them when it ends.
  std::map<GpuPlace, std::int64_t> gpus_;
  std::set<std::int64_t> gpu_numbers_;
  std::vector<std::pair<GpuPlace, std::int64_t>> own_gpus_;
  std::int64_t next_gpu_ = 0;
  std::set<std::pair<std::int64_t, std::int64_t>> streams_;  // GPU and number
  std::map<std::int64_t, std::int64_t> next_stream_;         // by GPU
  std::int64_t first_correlation_ = 0, last_correlation_ = -1;
  std::vector<Value> devices_, processes_;
  std::set<std::int64_t> device_ids_;
  std::set<std::string> hosts_;
  std::vector<std::pair<EventId, StringId>> details_;
};

}  // namespace tracelens
