// convert.hpp: any trace as Chrome trace JSON, which Perfetto and chrome://tracing open,
// and which TraceLens reads back with the same events, times and arguments.
//   const ChromeJsonCounts counts = write_chrome_json(trace, "run.json.gz");
// Packed when the name ends in .gz. Written event by event: memory does not grow with the text. In
// src/report/convert.
#pragma once

#include <cstdint>
#include <string>
#include <tracelens/trace.hpp>

namespace tracelens {

struct ChromeJsonCounts {
  std::uint64_t written = 0;
  std::uint64_t left_out = 0;  // damaged events, and those of which the trace keeps only that they
                               // were there: counters, unpaired begins and ends
};

// Throws Error when the file cannot be written; it is replaced only when the new one is complete.
ChromeJsonCounts write_chrome_json(const Trace& trace, const std::string& output);

}  // namespace tracelens
