#include "mcp/tool.hpp"

namespace tracelens::mcp {

// In the order in which clients list them.
static constexpr const Tool* kTools[] = {
    &kListTracesTool, &kSummaryTool, &kTablesTool, &kTableTool, &kTreeTool, &kQueryTool,
};

std::span<const Tool* const> all_tools() { return kTools; }

}  // namespace tracelens::mcp
