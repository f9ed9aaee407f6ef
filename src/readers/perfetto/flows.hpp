// flows.hpp: flows, which lead from slice to slice.
//   FlowLog flows;
//   flows.add(flow_id, is_last, mark);               // the begin of a slice the flow touches
//   for (const Flow& flow : flows.connect(is_wanted)) ...
// Nearly every slice of a GPU trace is touched by a flow, and few of these flows become events.
// Points are therefore packed, and connected a part of the flows at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "readers/perfetto/marks.hpp"

namespace tracelens::perfetto {

// Where a flow touches a slice: at its begin.
struct FlowPoint {
  std::uint64_t flow = 0;
  bool is_last = false;  // the flow ends here
  std::int64_t ts_ns = 0;
  std::uint64_t order = 0;  // of the slice in the file
  std::uint32_t track = 0, name = kNone, category = kNone;
};

// One step of a flow, between two slices. Steps are numbered from 0 by the time of the slice they
// lead to, the wanted and the others.
struct Flow {
  std::int64_t number = 0;
  std::int64_t from_ns = 0, to_ns = 0;
  std::uint32_t from_track = 0, to_track = 0;
  std::uint32_t name = kNone, category = kNone;  // of the slice it leaves
};

class FlowLog {
 public:
  void add(std::uint64_t flow, bool is_last, const Mark& begin);

  // The steps between wanted tracks, by number. `is_wanted` is by track. The points are gone then.
  [[nodiscard]] std::vector<Flow> connect(const std::vector<bool>& is_wanted);
  // How many steps there are in all. After connect().
  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  struct Step {
    FlowPoint from, to;
  };
  // The points of some of the flows.
  struct Part {
    std::vector<std::string> blocks;
    std::size_t points = 0;
    FlowPoint last = {};  // that was added: the next tells what differs
  };
  static void read_points(const Part& part, std::vector<FlowPoint>& points);
  template <class Visit>
  void for_each_step(Visit&& visit) const;
  // Steps by the time of the slice they lead to; those to one slice by flow.
  [[nodiscard]] static bool is_before(const Step& a, const Step& b);
  // The numbers of `wanted`, which is sorted, among all steps.
  [[nodiscard]] std::vector<std::int64_t> numbers_of(const std::vector<Step>& wanted,
                                                     const std::vector<bool>& is_wanted) const;

  std::array<Part, 16> parts_;
  std::int64_t steps_ = 0;
};

}  // namespace tracelens::perfetto
