// windows.hpp: which steps of a serving run go together.
//   const auto regions = steady_regions(steps, 32, Edition::kExtended);
//   for (const Window& window : steady_windows(steps, regions, {.steps = 32})) ...
// Plain functions of what the annotations say; no trace is looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tracelens/edition.hpp>
#include <vector>

#include "facts/step_annotation.hpp"

namespace tracelens {

struct StepDetails {
  std::int64_t batch_size = 1, context_requests = 0, context_sum = 0, generation_requests = 1,
               generation_sum = 1;
  ServingPhase phase = ServingPhase::kDecode;
  [[nodiscard]] std::int64_t requests() const { return context_requests + generation_requests; }
};

// What its name says of a step. One that says nothing (of training, of a loop) decodes one token in
// the reference edition; in ours it is of no phase and has no requests.
[[nodiscard]] StepDetails step_details(std::string_view name, Edition edition);

struct Region {
  std::size_t first = 0, end = 0;
  [[nodiscard]] std::size_t size() const { return end - first; }
};

// Where about as many requests run at a time as ever: within 10% of the most, or 20% in a run of
// less than `window` steps. In the reference edition as its counter has it: scattered steps can
// open a region, the last ones before its end need not be busy, and the last of the run is never
// part of one. In ours a region begins and ends with a busy step, has at least six, and never more
// than five idle ones in a row. Without any: the middle of the run.
[[nodiscard]] std::vector<Region> steady_regions(std::span<const StepDetails> steps,
                                                 std::size_t window, Edition edition);

enum class WindowKind : std::uint8_t {
  kStep,
  kSteps,
  kSteadyMixed,
  kSteadyDecode,
  kSteadyPrefill,
  kPhasePrefill,
  kPhaseMixed,
  kPhaseDecode,
  kPhaseDenoise,
};
struct Window {
  WindowKind kind = WindowKind::kSteps;
  std::vector<std::uint32_t> steps;  // ascending
  std::size_t number = 0;            // among those of its kind
};

struct SteadyOptions {
  std::size_t steps = 32;
  std::optional<std::int64_t> concurrency = {};
  std::optional<double> output_tokens = {}, length_ratio = {};
};
// Up to three windows of the largest region: the one whose share of steps with new requests is most
// like that of all regions, the longest run of steps without, and the longest run with.
[[nodiscard]] std::vector<Window> steady_windows(std::span<const StepDetails> steps,
                                                 std::span<const Region> regions,
                                                 const SteadyOptions& options);

// Runs of steps of the same phase; steps of none are left out. The reference edition knows two,
// with new requests or without, and a run goes on across idle steps and from one region to the
// next.
[[nodiscard]] std::vector<Window> phase_windows(std::span<const StepDetails> steps,
                                                std::span<const Region> regions, Edition edition);

// What a window's steps do, as counts and averages.
struct WindowSummary {
  std::size_t prefill = 0, mixed = 0, decode = 0, other = 0;
  std::int64_t average_batch = 0, average_requests = 0;
};
[[nodiscard]] WindowSummary summarize(std::span<const StepDetails> steps);

}  // namespace tracelens
