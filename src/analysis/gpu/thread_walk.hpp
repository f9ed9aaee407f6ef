// thread_walk.hpp: what one thread did in given stretches of time.
//   walk_thread(trace, {rows, stretches}, State{},
//               [&](const State& caller, EventId event) { return inside(caller, event); },
//               [&](const Stretch& stretch, Interval time, const OpenEvent<State>* innermost) { ... });
// Rows are host events of one thread in tree order (host_rows.hpp), stretches stand in order of time.
// A long walk can be cut into parts for several threads: cut_walk().
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <tracelens/intervals.hpp>
#include <tracelens/trace.hpp>
#include <utility>
#include <vector>

#include "analysis/gpu/busy_time.hpp"

namespace tracelens {

struct Stretch {
  Interval time;
  std::uint32_t gap = 0;  // whatever number the asker knows it by
};

struct ThreadWalk {
  std::span<const std::uint32_t> rows;
  std::span<const Stretch> stretches;
  std::vector<std::uint32_t> open = {};  // when the first row begins, the outermost first
};

// What a part keeps for itself has room for every name: to make that must cost less than to walk the part.
[[nodiscard]] inline std::size_t rows_of_a_part(const Trace& trace) {
  constexpr std::size_t kLeast = std::size_t{1} << 16, kRowsOfAName = 8;
  return std::max(kLeast, kRowsOfAName * trace.string_count());
}

// Parts of about so many rows. Walked one after the other they tell the same as the whole: no stretch
// lies in two of them.
[[nodiscard]] std::vector<ThreadWalk> cut_walk(const Trace& trace, const ThreadWalk& whole,
                                               std::size_t part_rows, int threads = 1);

template <class State>
struct OpenEvent {
  std::int64_t end_ns = 0;
  EventId event;
  State state;  // of the thread while this is the innermost event
};

template <class State, class Enter>
[[nodiscard]] std::vector<OpenEvent<State>> open_events(const Trace& trace,
                                                        std::span<const std::uint32_t> rows,
                                                        const State& outside, Enter&& enter) {
  std::vector<OpenEvent<State>> open;
  for (const std::uint32_t row : rows) {
    State state = enter(open.empty() ? outside : std::as_const(open.back().state), EventId{row});
    open.push_back({interval_of(trace, {row}).end, {row}, std::move(state)});
  }
  return open;
}

// `enter` gives the state inside an event from the state when it begins; `use` is told of every part
// of a stretch in which the innermost event, none: nullptr, stays the same. The parts add up to the
// stretches.
template <class State, class Enter, class Use>
void walk_thread(const Trace& trace, const ThreadWalk& walk, const State& outside, Enter&& enter,
                 Use&& use) {
  const std::span<const Stretch> stretches = walk.stretches;
  std::vector<OpenEvent<State>> open = open_events(trace, walk.open, outside, enter);
  std::size_t next = 0;
  std::int64_t now = std::numeric_limits<std::int64_t>::min();
  const auto pass_until = [&](std::int64_t time) {
    while (next < stretches.size() && stretches[next].time.start < time) {
      const Stretch& stretch = stretches[next];
      const Interval passed{std::max(stretch.time.start, now), std::min(stretch.time.end, time)};
      if (passed.start < passed.end)
        use(stretch, passed, open.empty() ? nullptr : &std::as_const(open.back()));
      if (stretch.time.end > time) break;
      ++next;
    }
    now = std::max(now, time);
  };
  const auto leave = [&] {
    pass_until(open.back().end_ns);
    open.pop_back();
  };
  for (const std::uint32_t row : walk.rows) {
    const Interval time = interval_of(trace, {row});
    while (!open.empty() && open.back().end_ns <= time.start) leave();
    pass_until(time.start);
    State state = enter(open.empty() ? outside : std::as_const(open.back().state), EventId{row});
    open.push_back({time.end, {row}, std::move(state)});
  }
  while (!open.empty()) leave();
  pass_until(std::numeric_limits<std::int64_t>::max());
}

}  // namespace tracelens
