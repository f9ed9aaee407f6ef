// rank_trace.hpp: what the analysis of many ranks keeps of one rank's trace.
//   const RankTrace rank = summarize_rank(read_trace("rank0_trace.json.gz"), {});
// A trace is read, summarized and dropped: its communication kernels, its GPU times per step and
// what it was computing when are some hundred kilobytes, so that a thousand ranks fit in memory and
// travel between machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tracelens/edition.hpp>
#include <tracelens/page.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/ranks/message.hpp"
#include "analysis/ranks/rank_activity.hpp"
#include "analysis/ranks/rank_runs.hpp"
#include "analysis/ranks/rank_steps.hpp"

namespace tracelens {

struct CollectiveKernel {
  std::int64_t ts_ns = 0, dur_ns = 0;
  std::int64_t exposed_ns = 0;      // the part of it in which this rank computed nothing
  std::int64_t sequence = kAbsent;  // the group's own count, where the profiler wrote it
  std::int64_t peer = kAbsent;      // the other rank of a send or receive
  std::uint32_t message = 0;        // RankTrace::messages
  std::uint32_t op = kNoOp;         // RankTrace::ops

  static constexpr std::uint32_t kNoOp = 0xffffffff;
};

// A process group as listed in the head of a trace: its members in full.
struct GroupMembers {
  std::string name;
  RankRuns ranks;
};

// What the GPUs of a rank did, for a page. Names of slices and runs are places in `names`.
struct RankLane {
  enum Work : std::uint8_t { kComputing, kCommunicating, kCopying, kFilling };
  std::int64_t origin_ns = 0;  // what the times of the lane count from
  PageLane lane = {};          // the kind of a slice is a Work
  std::vector<std::string> names = {};
};

struct RankTrace {
  std::int64_t rank = 0;
  std::string file;
  std::uint32_t source = 0;                // the place of the file in the list of files
  std::uint32_t part = 0;                  // which one of the ranks in that file
  std::optional<std::int64_t> gpu = {};    // where a file has several ranks: its GPU, from 0
  std::string format = {};                 // of the file, as in Trace::source
  std::string problem = {};                // why the file could not be read; empty: it was
  std::vector<std::string> warnings = {};  // what was wrong inside the file
  // What the head of the file says about the job.
  std::optional<std::int64_t> declared_rank = {}, world_size = {}, device_count = {};
  std::string device_name = {};    // of its GPU; "": unknown
  std::int64_t base_ns = kAbsent;  // what its times count from
  std::vector<GroupMembers> groups = {};
  std::uint64_t events = 0, text_bytes = 0;  // events: those that could be read

  std::vector<CollectiveMessage> messages = {};
  std::vector<CollectiveKernel> kernels = {};  // in file order
  std::vector<std::string> ops = {};           // of XLA: "jit_step/all-gather.12"
  // Communication kernels that are not in there: without correlation and external id nobody
  // launched them.
  std::uint64_t unlinked_kernels = 0;
  RankActivity activity = {};
  std::vector<RankStep> steps = {};  // the whole trace first, then each marked step
  RankLane lane = {};                // with RankSummaryOptions::lane_slices

  [[nodiscard]] const CollectiveMessage& message(const CollectiveKernel& kernel) const {
    return messages[kernel.message];
  }
};

// A kernel whose name matches is a collective of this name, whatever library it belongs to.
struct CollectivePattern {
  std::string regex;       // RE2, found anywhere in the kernel's name, in any case
  std::string collective;  // "allreduce"
};

struct RankSummaryOptions {
  Edition edition = Edition::kExtended;
  std::vector<CollectivePattern> patterns = {};  // asked before the built-in ones
  bool activity = true;  // false: only the kernels, without steps, activity and exposed times
  std::size_t lane_slices = 0;  // of a page, for each rank; 0: no lane
};

// `rank` of the result is what the trace declares, else 0. Throws Error when a pattern is not a
// regular expression.
[[nodiscard]] RankTrace summarize_rank(const Trace& trace, const RankSummaryOptions& options);

// The same for every rank of the trace: of a JAX profile one per GPU, by number. The groups of
// XLA's collectives are those of the HLO until resolve_device_groups() (device_groups.hpp). The
// reference edition knows one rank per trace.
[[nodiscard]] std::vector<RankTrace> summarize_ranks(const Trace& trace,
                                                     const RankSummaryOptions& options);

// Moves everything the rank did by `ns`: another clock.
void shift_times(RankTrace& rank, std::int64_t ns);
// The same, but for what it was doing when: RankTrace::activity.
void shift_kernels(RankTrace& rank, std::int64_t ns);

}  // namespace tracelens
