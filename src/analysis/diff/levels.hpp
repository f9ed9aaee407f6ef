// levels.hpp: two traces by something coarser than ops: nn.Modules, or what was annotated.
//   const LevelDiff diff = diff_by_level(trace1, trace2);
//   if (diff.level != DiffLevel::kNone) tables.push_back(level_diff_table(diff));
// For runs whose ops differ: a compiled model calls other ops than an eager one, but its modules,
// annotations and steps keep their names.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <vector>

namespace tracelens {

enum class DiffLevel : std::uint8_t {
  kNone,        // nothing that both traces have
  kModule,      // needs Python stacks in both
  kAnnotation,  // record_function() and steps
};

// GPU time below all modules, or inside all annotations, of one name: nested ones count in each.
struct LevelChange {
  std::string name = {};
  std::array<std::int64_t, 2> calls = {}, ns = {};
  [[nodiscard]] bool is_in_both() const { return calls[0] > 0 && calls[1] > 0; }
  [[nodiscard]] std::int64_t difference_ns() const { return ns[1] - ns[0]; }
};

struct LevelDiff {
  DiffLevel level = DiffLevel::kNone;
  std::vector<LevelChange> changes = {};  // those of both traces first, the largest change first
};

// Modules when both traces have one of the same name, else annotations, else nothing.
[[nodiscard]] LevelDiff diff_by_level(const Trace& trace1, const Trace& trace2);

// GPU time by annotation. A number at the end of a name is left out: "ProfilerStep#3" is one of
// the ProfilerSteps. Work belongs to an annotation by the time of its launch, on whatever thread:
// autograd launches the backward pass from threads of its own. The changes have one side.
[[nodiscard]] std::vector<LevelChange> time_by_annotation(const Trace& trace);

// modules_diff or annotations_diff.
[[nodiscard]] Table level_diff_table(const LevelDiff& diff);

}  // namespace tracelens
