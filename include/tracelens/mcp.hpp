// mcp.hpp: traces for agents: a server of the Model Context Protocol. Implemented in src/mcp.
//   McpOptions options{.folders = {"traces/"}};
//   options.log = [](const std::string& sentence) { std::cerr << sentence << "\n"; };
//   return serve_mcp(options, STDIN_FILENO, STDOUT_FILENO);       // until its input ends
// Messages are lines of JSON. Tools read traces below the folders and nothing else, and write nothing.
// docs/guide/agents.md has the tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tracelens {

struct McpOptions {
  std::vector<std::string> folders = {"."};                 // whose files may be read
  std::size_t cache_bytes = std::size_t{1} << 30;           // of traces that are kept
  double limit_seconds = 120;                               // for a call
  std::uint64_t limit_text_bytes = std::uint64_t{2} << 30;  // of a trace, unpacked
  std::function<void(const std::string& sentence)> log = nullptr;
};

// Throws Error when a folder cannot be read. The result is whether every call had come to its end when
// the input did, or soon after; where it had not, a thread is still at work, and the process had better
// end.
bool serve_mcp(const McpOptions& options, int input, int output);

// A page about the tools, from the tables that the server itself uses.
[[nodiscard]] std::string mcp_tools_page();

}  // namespace tracelens
