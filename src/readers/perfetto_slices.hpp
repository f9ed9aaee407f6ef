// perfetto_slices.hpp: begins and ends in file order become slices in time order.
//   SliceStack slices;
//   slices.begin(ts, track, {.name = ..., .category = ...});
//   slices.end(ts, track);
//   const std::vector<std::uint32_t> order = slices.finish(merged_tracks);
// A file may hold its events in any order (rocprofv3 writes one domain after the other), so begins
// and ends can be paired only when all are known: about 80 bytes per slice are kept until then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "readers/perfetto_tracks.hpp"

namespace tracelens::perfetto {

struct Slice {
  static constexpr std::int64_t kOpen = -1;
  std::int64_t ts_ns = 0, dur_ns = kOpen;
  std::uint32_t track = 0;
  std::uint32_t name = kNone, category = kNone;  // in Texts
  std::uint32_t event = kNone;                   // row of the trace builder
  std::uint32_t thread = kNone;                  // that wrote it: whatever the caller counts in
  std::uint32_t end_args = kNone;                // arguments that came with the end: the caller's
};

// Two slices that a flow connects, by index.
struct Flow {
  std::uint32_t from = 0, to = 0;
};

class SliceStack {
 public:
  // A slice whose dur_ns is not kOpen is complete: an instant, or one whose length is written with
  // its begin. Flows that arrive at it follow by add_flow().
  void begin(const Slice& slice);
  void add_flow(std::uint64_t flow, bool is_last);  // at the slice begun last
  // Name, category (kNone: any) and arguments are rarely written with an end.
  void end(std::int64_t ts_ns, std::uint32_t track, std::uint32_t name = kNone,
           std::uint32_t category = kNone, std::uint32_t args = kNone);

  // Pairs ends with begins. `merged` says, by track, on which track its slices are stacked. Gives
  // the indices of all slices by time, those of one time in file order. Call once.
  std::vector<std::uint32_t> finish(std::span<const std::uint32_t> merged);

  [[nodiscard]] std::size_t size() const { return slices_.size(); }
  [[nodiscard]] const Slice& slice(std::uint32_t index) const { return slices_[index]; }
  // In time order of the later slice. After finish().
  [[nodiscard]] const std::vector<Flow>& flows() const { return flows_; }
  [[nodiscard]] std::uint64_t ends_without_begin() const { return ends_without_begin_; }

 private:
  // A begin or an end, 16 bytes: a trace may have many millions.
  struct Mark {
    std::int64_t ts_ns;
    std::uint32_t track;
    std::uint32_t what;  // a slice, kPlainEnd, or kEnd | index into ends_
  };
  static constexpr std::uint32_t kEnd = 0x80000000, kPlainEnd = kNone;
  struct End {
    std::uint32_t name, category, args;
  };
  struct FlowPoint {
    std::uint64_t flow;
    std::uint32_t slice;
    bool is_last;
  };
  void close_topmost(std::vector<std::uint32_t>& stack, const Mark& mark);
  void connect_flows();

  std::vector<Slice> slices_;  // in file order
  std::vector<Mark> marks_;
  std::vector<End> ends_;
  std::vector<FlowPoint> flow_points_;
  std::vector<Flow> flows_;
  std::uint64_t ends_without_begin_ = 0;
};

}  // namespace tracelens::perfetto
