// redact.hpp: a trace that can be shown to people outside: what tells of the program is replaced.
//   const Trace shown = redacted(read_trace("rank0.json.gz"));
// Names of modules, of one's own ranges, ops and functions, of files, threads, processes and hosts
// become numbered ones ("Module 17"), the same for the same name; call stacks go. Kernels, ops of the
// framework, shapes and all times stay, so that every figure of a report is the same. In
// src/report/convert.
#pragma once

#include <tracelens/trace.hpp>

namespace tracelens {

[[nodiscard]] Trace redacted(const Trace& trace);

}  // namespace tracelens
