// overview.hpp: a report on one screen: where the time went, why, and what to do next.
//   const Report report = make_report(read_trace("rank0.json.gz"));
//   if (report.overview) std::cout << overview_text(*report.overview, {.width = 80});
// Implemented in src/report/recipes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracelens {

struct Overview {
  // A part of a whole: of the GPU's time, or of its idle time. The parts add up to the whole.
  struct Part {
    std::string name;  // "compute", "idle"; "op dispatch", "Python"
    std::int64_t ns = 0;
    double percent = 0;  // of the GPU's time, for causes of idle time as well
  };
  // What the busy time went to, the costliest first.
  struct Cost {
    std::string name;  // "GEMM"
    std::int64_t ns = 0;
    double percent = 0;                       // of all kernels' time
    std::optional<double> roof_percent = {};  // reached of the roof, where models know
    std::string costliest = {};               // its costliest shape, op or kernel; may be empty
  };

  // What a diagnosis found: something to mend, and what that saves.
  struct Cause {
    std::string id, title;       // "OPT-1", "Optimizer not fused"
    std::int64_t saving_ns = 0;  // of a step; of all the time where there are no steps
    double percent = 0;          // of the time without the profiler
    std::string remedy = {};     // what to try first
  };

  std::string run;      // "NVIDIA H200 · 3 steps of 23.2 ms"
  std::string bound;    // "host", "compute", "memory", "communication", ...; may be empty
  std::string verdict;  // "Host-bound: the GPU idles 62.1% of the time, mostly for op dispatch."
  std::vector<Cause> causes = {};  // the costliest, in the order in which they are best mended
  std::string causes_title = {};   // "mend first, by 5 of 36 steps"
  bool causes_per_step = false;    // what they save is of a step; else of the run
  std::string nothing_found = {};  // a sentence: why there are none
  std::vector<Part> split;
  std::vector<Part> idle_causes;
  std::string costs_title = {};  // "costliest kinds of op"
  std::string costliest_title = "costliest";
  std::vector<Cost> costs;
  std::vector<std::string> advice;  // sentences, the most rewarding first
  std::size_t caveats = 0;  // of them at the beginning: what a reader of the figures has to know
  std::vector<std::string> commands;  // "tracelens tree trace.json.gz --modules"
};

struct OverviewStyle {
  std::size_t width = 80;  // columns of the terminal; 0: as wide as it gets
  bool colour = false;
};
// At most 24 lines at a width of 80, each ended by "\n".
[[nodiscard]] std::string overview_text(const Overview& overview, const OverviewStyle& style = {});

}  // namespace tracelens
