// pftrace_events.hpp: what the events of a ROCm timeline say beyond time and name: which GPU, which
// launch configuration, which copy.
//   const PftraceEvents events{trace};
//   events.gpu_of(event)                     // 0 for the first agent of the file; absent: host
//   work events.args(event).grid_size
// Arguments are read as leniently as their producers write them (see to_integer), each distinct
// text once. The trace must outlive this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/edition.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

// An integer however it was written: 7, 7.9 (towards zero), true, " 7 ", "1_000". None for "0x10",
// "1e3", "", null, lists.
[[nodiscard]] std::optional<std::int64_t> to_integer(const Value& value);

struct PftraceArgs {
  Value agent;              // the GPU; null for host work (and for agent 0, which is a CPU)
  std::string kernel_name;  // when it is not the name of the event
  std::optional<std::int64_t> device;  // number of the GPU as its producer counts
  std::optional<std::int64_t> tid, operation;
  std::optional<std::int64_t> grid_size, workgroup_size, vgpr, accum_vgpr, sgpr, lds, scratch;
  std::optional<std::int64_t> copy_bytes;
  Value src_agent, dst_agent;
};

class PftraceEvents {
 public:
  // Tables number GPUs by the number in the agent's name, as the devices of the trace are, or by
  // order where the names do not tell. Reference: from 0, in the order in which they first appear.
  explicit PftraceEvents(const Trace& trace, Edition edition = Edition::kExtended);

  [[nodiscard]] const PftraceArgs& args(EventId event) const { return args_[args_ids_[event.row]]; }
  // Its place among the GPUs in the order in which they first appear in the trace.
  [[nodiscard]] std::optional<std::uint32_t> gpu_of(EventId event) const;
  // What tables call the GPU with this place in the order.
  [[nodiscard]] std::int64_t gpu_number(std::uint32_t gpu) const { return gpu_numbers_[gpu]; }
  // The same for an event. Numbered by agent, an event that names none (a copy of rocprofv3) has
  // the number of the GPU it is on.
  [[nodiscard]] std::optional<std::int64_t> gpu_number_of(EventId event) const;
  // Their names, in that order: "Agent-2", or the number an old rocprofv3 gave them.
  [[nodiscard]] std::span<const std::string> gpus() const { return gpus_; }

  // Of the track; absent when it is no number. Reference: the thread that the file tells (kToldTid).
  [[nodiscard]] std::optional<std::int64_t> pid(EventId event) const {
    return track_numbers_[trace_.tracks()[event.row].row].pid;
  }
  [[nodiscard]] std::optional<std::int64_t> tid(EventId event) const {
    return track_numbers_[trace_.tracks()[event.row].row].tid;
  }

  [[nodiscard]] const Trace& trace() const { return trace_; }

 private:
  void find_gpus();
  void number_gpus(Edition edition);
  void number_tracks(Edition edition);

  struct TrackNumbers {
    std::optional<std::int64_t> pid, tid;
  };

  const Trace& trace_;
  std::vector<TrackNumbers> track_numbers_;  // by track
  std::vector<PftraceArgs> args_;            // [0]: of events without arguments
  std::vector<std::uint32_t> args_ids_;      // by event row
  std::vector<std::uint32_t> gpu_ids_;       // by args id
  std::vector<std::string> gpus_;
  std::vector<std::int64_t> gpu_numbers_;  // by GPU
  bool is_by_agent_ = false;
};

// The number in an agent's name: 2 of "Agent-2", "GPU-2", "2" and 2.
[[nodiscard]] std::optional<std::int64_t> agent_number(const Value& agent);

}  // namespace tracelens
