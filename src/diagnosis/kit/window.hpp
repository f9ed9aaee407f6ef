// window.hpp: which part of a trace a diagnosis is about: the steps of the loop, without those that
// warm up.
//   const DiagnosisWindow window = choose_window(facts, "steady");
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

struct DiagnosisWindow {
  std::optional<Interval> time = {};  // in times of the trace; none: all of it
  std::vector<Step> steps = {};       // in it; none: no steps are marked or found
  std::vector<DroppedStep> dropped = {};
};

// `choice`: "steady", "all", or "A-B": steps by their number, or by their place where names have
// none. Throws Error when there are no such steps.
[[nodiscard]] DiagnosisWindow choose_window(const TraceFacts& facts, std::string_view choice);

// The step a time lies in: a place in `steps`, which follow each other; none: in no step.
[[nodiscard]] std::optional<std::size_t> step_at(std::span<const Step> steps, std::int64_t ts_ns);

// Throws what choose_window() throws about the text alone.
void check_step_choice(std::string_view choice);

}  // namespace tracelens
