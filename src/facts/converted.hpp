// converted.hpp: traces of other profilers that `convert` wrote as JSON, which is read like a PyTorch
// profile.
//   options.include_unlinked |= is_converted(trace);
#pragma once

#include <string_view>
#include <tracelens/trace.hpp>

namespace tracelens {

// The member of the file that says what the trace was before: "Nsight Systems (SQLite)".
inline constexpr std::string_view kConvertedFromKey = "convertedFrom";

// A PyTorch profile has the launch of all that its program did: tables leave out the rest. What other
// profilers recorded counts whole, whatever file it came in.
[[nodiscard]] inline bool is_converted(const Trace& trace) {
  return trace.metadata(kConvertedFromKey) != nullptr;
}

}  // namespace tracelens
