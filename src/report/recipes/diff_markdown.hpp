// diff_markdown.hpp: the parts that all performance notes share, as Markdown.
//   std::string note = "# Performance note: what changed\n";
//   note += runs_section(runs, {{"steps", {"8", "8"}}}) + timeline_section(timeline);
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "analysis/compare/times.hpp"
#include "facts/trace_facts.hpp"

namespace tracelens {

inline constexpr std::size_t kEvidenceRows = 10;  // of each table of a note

struct ComparedRuns {
  const TraceFacts &first, &second;
};

// A name as code, also inside a table row.
[[nodiscard]] std::string quoted(const std::string& name);
// "+3.1%"; "new" when there was nothing before.
[[nodiscard]] std::string percent_text(double difference, double before);

// Time of one row of a timeline of two runs; 0 when it has none.
[[nodiscard]] double timeline_ms(const TimedSheet& timeline, const std::string& row,
                                 std::size_t run);

// What is known about the two runs, and where they differ; `more` are rows at the end.
using RunProperty = std::pair<std::string, std::array<std::string, 2>>;
[[nodiscard]] std::string runs_section(const ComparedRuns& runs, std::span<const RunProperty> more);

// Where the time of a run goes.
[[nodiscard]] std::string bottleneck(const TimedSheet& timeline, std::size_t run);

[[nodiscard]] std::string timeline_section(const TimedSheet& timeline);

// The rows of a sheet that differ, the largest difference first; empty when none does.
[[nodiscard]] std::string changes_section(const std::string& title, const TimedSheet& sheet);

}  // namespace tracelens
