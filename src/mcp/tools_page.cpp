// The tools as a page: docs/guide/agents.md holds what this gives.
#include <fmt/format.h>

#include <tracelens/mcp.hpp>

#include "mcp/tool.hpp"

namespace tracelens {

std::string mcp_tools_page() {
  std::string page;
  const auto rows = [&](std::span<const mcp::Argument> arguments) {
    page += "| argument | |\n| --- | --- |\n";
    for (const mcp::Argument& each : arguments)
      page +=
          fmt::format("| `{}`{} | {}{}{} |\n", each.name, each.is_required ? ", required" : "",
                      mcp::usage_of(each), each.description.empty() ? "" : ": ", each.description);
    page += "\n";
  };
  page += "Arguments that most tools have:\n\n";
  rows(mcp::trace_arguments());
  for (const mcp::Tool* const tool : mcp::all_tools()) {
    page += fmt::format("### `{}`\n\n{}\n\n", tool->name, tool->description);
    if (!tool->arguments.own.empty()) rows(tool->arguments.own);
  }
  return page;
}

}  // namespace tracelens
