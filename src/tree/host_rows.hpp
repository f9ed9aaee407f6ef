// host_rows.hpp: the host events of a trace, thread by thread.
//   const HostRows host = called_rows(trace, {.python_frames = true});
//   for (const std::uint32_t row : host.of(track)) ...
// For walks over the call stacks that need no Tree: a fraction of its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>
#include <vector>

namespace tracelens {

struct HostRows {
  std::vector<std::uint32_t> rows;    // grouped by track
  std::vector<std::uint32_t> bounds;  // bounds[t] .. bounds[t + 1] is track t
  std::size_t frames = 0;             // of the rows, those of Python frames
  // Events that would be among the rows if they had a length, in file order.
  std::vector<std::uint32_t> without_length = {};

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

// The same, those of a thread in order of time.
[[nodiscard]] HostRows host_rows_by_time(const Trace& trace, const TreeOptions& options);

// Those that have a place in the tree, in tree order, which within a thread is order of time.
[[nodiscard]] HostRows called_rows(const Trace& trace, const TreeOptions& options);
// The same of rows in order of time. None: all of them have a place, as in most traces.
[[nodiscard]] std::optional<HostRows> called_among(const Trace& trace, const HostRows& by_time,
                                                   int threads);

}  // namespace tracelens
