// split.hpp: the trace of a long serving run as small traces of a few steps each. In
// src/report/split.
//   const SplitResult result = split_trace("serve.json.gz", "parts", {.steady_state = true});
// Events are copied as the text they are, with the names of processes and threads and all that
// stands around the event list; every part is a trace of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/edition.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

struct SplitOptions {
  Edition edition = Edition::kExtended;
  // --- which steps ---
  struct Range {
    std::size_t first = 0, end = 0;  // counted from 0
  };
  std::optional<Range> range = {};  // nothing: all
  // --- which parts of them; with none of these: one window after the other ---
  bool each = false;          // every step
  bool steady_state = false;  // a mixed, a decode and a prefill window of the busiest time
  bool phases = false;        // every run of steps of the same phase; goes before steady_state
  std::optional<std::size_t> steps = {};  // of a window; nothing: 32, or all of the range
  // --- what is known of the load, for the choice of the mixed window ---
  std::optional<std::int64_t> concurrency = {};
  std::optional<double> output_tokens = {}, length_ratio = {};
  // --- reading: as in ReadOptions ---
  int threads = 0;
  std::function<void(const ReadProgress&)> on_progress = nullptr;
};

// "all" (nothing), "7" (that step), "4:12" (4 up to 11), "4:" and ":12". Throws Error for others.
[[nodiscard]] std::optional<SplitOptions::Range> parse_step_range(std::string_view text);

struct SplitResult {
  std::size_t steps = 0;                // in the whole trace
  std::vector<std::string> files = {};  // paths of the parts, in the order of the table
  Table parts;
  std::vector<std::string> warnings = {};
};

// Steps are those a serving engine annotated (vLLM, SGLang, ATOM, diffusion), else those the
// profiler marked, else the passes of the loop that Python frames show. A part of steps i to j has
// the host events of all threads that start from the start of step i until that of step j + 1, and
// the GPU work they launched. In the reference edition: of the thread of the annotation, what lies
// within each step, and names and lists as the Python TraceLens writes them.
// The trace is read twice; memory grows with the number of events, not with their text. Files of
// the folder that an earlier run wrote and nobody changed since are replaced by those of this one.
// Throws Error when the trace cannot be read, is no Chrome JSON, or has no such steps.
[[nodiscard]] SplitResult split_trace(const std::string& trace, const std::string& folder,
                                      const SplitOptions& options = {});

}  // namespace tracelens
