// host_rows.hpp: the host events of a trace, thread by thread.
//   const HostRows host = called_rows(trace, {.python_frames = true});
//   for (const std::uint32_t row : host.of(track)) ...
// For walks over the call stacks that need no Tree: a fraction of its memory.
#pragma once

#include <cstdint>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

struct HostRows {
  std::vector<std::uint32_t> rows;    // grouped by track
  std::vector<std::uint32_t> bounds;  // bounds[t] .. bounds[t + 1] is track t

  [[nodiscard]] std::size_t tracks() const { return bounds.size() - 1; }
  [[nodiscard]] std::span<std::uint32_t> of(std::size_t track) {
    return std::span{rows}.subspan(bounds[track], bounds[track + 1] - bounds[track]);
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t track) const {
    return std::span{rows}.subspan(bounds[track], bounds[track + 1] - bounds[track]);
  }
};

// Every recorded host event that takes part in a call tree, in file order.
[[nodiscard]] HostRows host_rows(const Trace& trace, const TreeOptions& options);

// Those that have a place in the tree, in tree order, which within a thread is order of time.
[[nodiscard]] HostRows called_rows(const Trace& trace, const TreeOptions& options);

}  // namespace tracelens
