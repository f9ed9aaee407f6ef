// database_events.hpp: the events of a database trace, as its tables need them: which call launched
// which GPU event, and which ranges of the program were around the call.
//   const DatabaseEvents events{trace};
//   for (const GpuJobRow& job : events.gpu()) if (job.call.valid()) ...
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

namespace tracelens {

inline constexpr std::uint32_t kNoRange = 0xffffffff;

class DatabaseEvents {
 public:
  explicit DatabaseEvents(const Trace& trace);

  [[nodiscard]] const Trace& trace() const { return trace_; }

  enum class Work : std::uint8_t { kKernel, kGraph, kCopy, kFill };
  struct GpuEvent {
    EventId event;
    EventId call;                    // that launched it; invalid: not in the trace
    std::uint32_t range = kNoRange;  // the innermost one around that call
    std::int64_t start_ns = 0, end_ns = 0;
    Work work = Work::kKernel;
    [[nodiscard]] std::int64_t ns() const { return end_ns - start_ns; }
  };
  [[nodiscard]] const std::vector<GpuEvent>& gpu() const { return gpu_; }  // in file order
  [[nodiscard]] const std::vector<EventId>& calls() const { return calls_; }

  // Ranges nest on their thread. Beyond a depth that no program reaches they hang on the last one; so they do
  // beyond a smaller one where there are so many that walking up from each would take too long.
  struct Range {
    EventId event;
    std::uint32_t parent = kNoRange;
    bool is_op = false;
  };
  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }

  // The range in which the node of a captured graph came to be that a GPU event ran, by the number it
  // carries: that of the node it is a copy of, when it is one. kNoRange: in none, or not recorded.
  [[nodiscard]] std::uint32_t range_of_node(const GpuEvent& event, std::int64_t node) const;
  [[nodiscard]] bool has_nodes() const { return !nodes_.empty(); }

  // The machine a GPU is in, and its number there.
  struct Place {
    std::string node;
    std::int64_t index = 0;
  };
  [[nodiscard]] Place place_of(std::int64_t gpu) const;
  // The machine of the process whose GPU event it is.
  [[nodiscard]] std::string host_of(EventId gpu_event) const;
  // "node-a/4101"
  [[nodiscard]] std::string process_name(std::int64_t number) const;

 private:
  // `weights`: GPU events by call, each of which walks up the ranges around it.
  void nest_ranges(std::vector<std::uint32_t>& range_of_call,
                   const std::vector<std::uint32_t>& weights);
  void link();
  struct Node {
    std::int64_t original = kAbsent;
    std::uint32_t range = kNoRange;
  };

  const Trace& trace_;
  std::vector<GpuEvent> gpu_;
  std::vector<EventId> calls_;
  std::vector<Range> ranges_;
  std::vector<EventId> node_events_;
  std::map<std::pair<std::int64_t, std::int64_t>, Node> nodes_;  // by process and number
};

}  // namespace tracelens
