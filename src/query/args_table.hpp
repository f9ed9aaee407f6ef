// args_table.hpp: the arguments of events as rows, as Perfetto makes them from JSON.
#pragma once

#include <memory>
#include <string_view>
#include <tracelens/table.hpp>

#include "query/trace_view.hpp"
#include "query/virtual_table.hpp"

namespace tracelens::query {

inline constexpr std::string_view kArgsDescription =
    "Arguments of events, as far as they are kept (as Perfetto)";
[[nodiscard]] Table args_description();  // without rows
[[nodiscard]] std::unique_ptr<VirtualTable> args_table(std::shared_ptr<TraceView> view);

// All arguments of one event, in the order of their slots.
void collect_args(TraceView& view, std::uint32_t event, std::vector<ArgLeaf>& out);
[[nodiscard]] std::string_view value_type(const Value& value);  // int, string, real, bool, null

}  // namespace tracelens::query
