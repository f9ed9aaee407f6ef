// dump.hpp: a trace as text, every column of every event; for tests and fuzzers that compare two
// ways to the same answer.
//   TL_CHECK(dump_read(text, {.threads = 1}) == dump_read(text, {.threads = 7}));
#pragma once

#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>

namespace tracelens {

// One line per event, then tables and warnings; ids are spelled out, so that numbering is ignored.
[[nodiscard]] std::string dump(const Trace& trace);

// The dump of what read_trace_bytes gives, or the message of its Error.
[[nodiscard]] std::string dump_read(std::string_view bytes, const ReadOptions& options);

}  // namespace tracelens
