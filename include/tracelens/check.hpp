// check.hpp: is this trace good enough to analyse, and what is missing? In src/analysis/inspect.
//   const TraceCheck check = check_trace(trace, build_tree(trace));
//   return check.verdict == Verdict::kFail ? 1 : 0;
#pragma once

#include <cstdint>
#include <tracelens/table.hpp>
#include <tracelens/trace.hpp>
#include <tracelens/tree.hpp>

namespace tracelens {

// The worst finding decides.
enum class Verdict : std::uint8_t {
  kOk,    // everything the reports need is there
  kWarn,  // usable, but some tables will be poorer
  kFail,  // GPU time cannot be analysed
};

struct TraceCheck {
  Table findings;  // check: level, what, detail, how to fix
  Verdict verdict = Verdict::kOk;
};

// Takes any trace; never fails.
[[nodiscard]] TraceCheck check_trace(const Trace& trace, const Tree& tree);

}  // namespace tracelens
