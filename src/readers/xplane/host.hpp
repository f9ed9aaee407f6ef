// host.hpp: the host plane of a profile: Python frames, runtime internals, steps, launches.
//   const HostHints hints = scan_host(plane, pages, threads);   // before the GPUs: what they lean on
//   read_host(plane, pages, hints, {701, "vm /host:CPU"}, builder, threads);   // after them: rows
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/trace_builder.hpp>
#include <utility>
#include <vector>

#include "readers/xplane/plane.hpp"

namespace tracelens::xplane {

// What the host says about the work of the GPUs.
class HostHints {
 public:
  // Which run of the module the launch with this correlation id belongs to, as a number; 0 when the
  // host does not say, or says it of several threads at once.
  [[nodiscard]] std::uint32_t run_of(std::string_view module, std::int64_t correlation) const;
  // Events that only tell what the host was doing; above a limit they are left out.
  [[nodiscard]] bool keeps_background() const { return background_ <= kMostBackground; }
  [[nodiscard]] std::uint64_t events() const { return events_; }  // that read_host() will append

 private:
  friend HostHints scan_host(const Plane& plane, const Pages& pages, int threads);
  // At 38 bytes a row they would take twice their room in the file.
  static constexpr std::uint64_t kMostBackground = 1'000'000;

  struct Run {
    std::int64_t start_ns = 0, end_ns = 0;
    std::uint32_t number = 0;  // 0: overlaps another run of the module
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> launches_;  // correlation id -> start
  std::map<std::string, std::vector<Run>, std::less<>> runs_;    // by module; by start
  std::uint64_t background_ = 0, events_ = 0;
};

[[nodiscard]] HostHints scan_host(const Plane& plane, const Pages& pages, int threads);

struct Process {
  std::int64_t pid = 0;
  std::string name;
};

// One row per event, thread by thread. Launches are runtime calls, frames Python functions, steps
// annotations that carry their number, all else ops. Events of the memory allocator and of tf.data
// pipelines, which profile viewers hide as well, are left out.
void read_host(const Plane& plane, const Pages& pages, const HostHints& hints,
               const Process& process, TraceBuilder& builder, int threads);

// When an event ran, in nanoseconds; nothing when that is beyond 64 bits.
struct Span {
  std::int64_t start_ns = 0, dur_ns = 0;
};
[[nodiscard]] std::optional<Span> span_of(const Line& line, const Event& event);

// "/device:GPU:0", "Stream #14(Compute)": the labels of a plane's process and a line's thread.
void add_labels(const std::string& process, const Line& line, const Track& track,
                TraceBuilder& builder);

}  // namespace tracelens::xplane
