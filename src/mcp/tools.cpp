#include "mcp/tool.hpp"

namespace tracelens::mcp {

// In the order in which clients list them.
static constexpr const Tool* kTools[] = {
    &kListTracesTool, &kSummaryTool, &kDiagnoseTool, &kTablesTool, &kTableTool,
    &kTreeTool,       &kQueryTool,   &kCompareTool,  &kDiffTool,   &kCollectivesTool,
    &kRooflineTool,   &kModelTool,   &kReplayTool,
};

std::span<const Tool* const> all_tools() { return kTools; }

}  // namespace tracelens::mcp
