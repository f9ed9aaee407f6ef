// gates.hpp: limits on what may get slower, for continuous integration.
//   const Gate gate = parse_gate("op:aten::mm > 3% min 0.1ms");
//   const GateOutcome outcome = check_gate(gate, reports);     // outcome.passed, outcome.evidence
// A gate is WHAT > AMOUNT [min TIME]:
//   WHAT    a row of gpu_timeline (total_time, busy_time, idle_time ...), op:NAME, category:NAME,
//           kernel:NAME, or sheet:SHEET/NAME; * in a NAME stands for anything
//   AMOUNT  how much longer is too much: 5%, 0.3ms, 200us, 1s
//   TIME    things that take less than this in every report do not matter
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tracelens/compare.hpp>
#include <vector>

#include "analysis/compare/sheets.hpp"

namespace tracelens {

struct Gate {
  std::string text = {};                 // as the user wrote it
  std::vector<std::string> sheets = {};  // where to look: the first one that all reports have
  std::string name = {};                 // may hold *
  double limit = 0;                      // in percent or ms
  bool is_percent = false;
  double min_ms = 0;
};

// Throws Error that says what was expected: `expected`, or what a comparison understands.
[[nodiscard]] Gate parse_gate(std::string_view text, std::string_view expected = {});

// Whether the text is the pattern, in which each * stands for anything.
[[nodiscard]] bool matches_pattern(std::string_view pattern, std::string_view text);

// Every report but the first is held against the first. Throws Error when a report lacks the sheet
// or its times, or no report has a thing of that name: a limit on nothing would always hold.
[[nodiscard]] GateOutcome check_gate(const Gate& gate, std::span<const ComparedReport> reports);

// The results as documents for CI systems.
[[nodiscard]] std::string junit_xml(std::span<const GateOutcome> results);
[[nodiscard]] std::string gates_json(std::span<const GateOutcome> results);

}  // namespace tracelens
