// window.hpp: which part of a trace an answer about its steps is about: the steps of the loop, without
// those that warm up.
//   const RunWindow window = choose_window(facts, "steady");
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/intervals.hpp>
#include <vector>

#include "facts/trace_facts.hpp"

namespace tracelens {

struct DroppedStep {
  std::string name, why;  // "94.2 ms, 2.1 times the others"
};

struct RunWindow {
  std::optional<Interval> time = {};  // in times of the trace; none: all of it
  std::vector<Step> steps = {};       // in it; none: no steps are marked or found
  std::vector<DroppedStep> dropped = {};
  // "left out as warm-up: ProfilerStep#3 (94.2 ms where the others take 45 ms)"; empty: none are.
  [[nodiscard]] std::string left_out() const;
};

// `choice`: "steady", "all", or "A-B": steps by their number, or by their place where names have
// none. Throws Error when there are no such steps.
[[nodiscard]] RunWindow choose_window(const TraceFacts& facts, std::string_view choice);

// The step a time lies in: a place in `steps`, which follow each other; none: in no step.
[[nodiscard]] std::optional<std::size_t> step_at(std::span<const Step> steps, std::int64_t ts_ns);

}  // namespace tracelens
