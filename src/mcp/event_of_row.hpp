// event_of_row.hpp: the event that a row of a table is about.
//   event_of_row(desk, object({{"table", "kernel_summary"}, {"key", object({{"kernel_name", "..."}})}}), control)
#pragma once

#include <string_view>
#include <tracelens/trace.hpp>
#include <tracelens/value.hpp>

#include "mcp/arguments.hpp"
#include "mcp/control.hpp"
#include "mcp/trace_store.hpp"

namespace tracelens::mcp {

// The arguments of `row`: a table and the cells by which its row is found.
inline constexpr Argument kRowArguments[] = {
    {.name = "table", .is_required = true},
    {.name = "key",
     .kind = ArgumentKind::kObject,
     .description = "column: cell",
     .is_required = true},
};

// The event itself where the row names one; else the longest with the row's kernel, op and shapes.
// Throws ToolError when there is no such row, or it is about no event.
[[nodiscard]] EventId event_of_row(TraceDesk& desk, const Value& row, CallControl& control);

// A row of the trace. Throws ToolError.
[[nodiscard]] EventId checked_event(const Trace& trace, std::int64_t number);

}  // namespace tracelens::mcp
