// rank_activity.hpp: what a rank was doing at any time: the op its GPU worked for, or what the host
// was in while the GPU had nothing to do.
//   const RankActivity activity = rank_activity(trace, busy, is_communication);
//   activity.busiest_in({late_from, late_to})          // "aten::mm in Linear_3"
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <vector>

#include "analysis/ranks/rank_steps.hpp"

namespace tracelens {

struct RankActivity {
  struct Stretch {
    std::int64_t start_ns = 0, end_ns = 0;
    std::uint32_t what = 0;  // texts
    bool operator==(const Stretch&) const = default;
  };
  std::vector<Stretch> stretches = {};  // by start; those of different streams may overlap
  std::vector<std::string> texts = {};

  struct Share {
    const std::string* what = nullptr;
    std::int64_t ns = 0;  // of the window
  };
  // What took most of the window; nothing when nothing is known of it.
  [[nodiscard]] std::optional<Share> busiest_in(const Interval& window) const;
};

// Computing and copying by op (and module, when the trace has Python frames), idle gaps by what the
// host was in. Neighbours of one kind are joined; of very long traces the shortest are given up, so
// that the result has a limited size.
[[nodiscard]] RankActivity rank_activity(const Trace& trace, const GpuBusy& busy,
                                         std::span<const std::uint8_t> is_communication);

}  // namespace tracelens
