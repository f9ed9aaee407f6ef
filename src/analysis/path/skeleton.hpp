// skeleton.hpp: only those points of a graph at which lanes meet, so that a run can be simulated many
// times: between them the lags of a lane just add up.
//   const PathSkeleton skeleton{graph, active, window.start};
//   skeleton.simulate(lags).all_ns
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/path/changes.hpp"
#include "analysis/path/graph.hpp"
#include "analysis/path/lags.hpp"

namespace tracelens {

class PathSkeleton {
 public:
  PathSkeleton(const PathGraph& graph, const ActivePoints& active);

  struct Lengths {
    std::int64_t all_ns = 0;   // from the start to the last point
    std::int64_t host_ns = 0;  // to the host's last, if the host waited for no GPU event
  };
  [[nodiscard]] Lengths simulate(const PathLags& lags) const;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  // A point at which something else is waited for or waits, with those of its lane before it.
  struct Joint {
    PathPoint first = 0, point = 0;          // the lags of first..point add up
    std::uint32_t extra = 0, extra_end = 0;  // its further predecessors
    bool continues = false;                  // the joint before it is its predecessor
    bool is_head = false;                    // it has no predecessor in its lane
  };

  std::vector<Joint> joints_;  // those of a lane side by side
  std::uint32_t host_joints_ = 0;
  std::vector<std::uint32_t> order_;  // of joints
  std::vector<std::uint32_t> from_;   // by number of the extra edge: a joint; kNone: not simulated
  std::vector<bool> is_sync_;         // the same: the host waits for a GPU event
};

}  // namespace tracelens
