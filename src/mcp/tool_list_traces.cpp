// list_traces: which files there are.
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <tracelens/collectives.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/tool.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr Argument kListTracesArguments[] = {
    {.name = "folder"},
    {.name = "pattern", .description = "such as *rank*.json.gz"},
    {.name = "limit", .kind = ArgumentKind::kInteger, .least = 1, .most = 100, .otherwise = 100},
};

Value run_list_traces(Call& call) {
  std::string below;
  if (const std::string& folder = call.text("folder"); !folder.empty()) {
    const OpenFile opened = call.workshop().folders.open(folder);
    if (!opened.is_folder()) throw ToolError{"folder: this is a file; leave folder out to see all"};
    below = opened.path();
  }
  const std::string& pattern = call.text("pattern");
  Answer answer{.title = "Files that look like traces"};
  answer.grid.columns = {{.name = "path", .from_trace = true},
                         {.name = "bytes", .unit = "bytes"},
                         {.name = "format"},
                         {.name = "rank", .unit = "id"}};
  answer.offset = call.offset();
  std::size_t count = 0;
  for (const auto& file : call.workshop().folders.files(below)) {
    const std::string_view format = format_by_name(file.shown);
    const std::string name = file.shown.substr(file.shown.rfind('/') + 1);
    if (format.empty()) continue;
    if (!pattern.empty() && ::fnmatch(pattern.c_str(), file.shown.c_str(), 0) != 0 &&
        ::fnmatch(pattern.c_str(), name.c_str(), 0) != 0)
      continue;
    if (count++ < answer.offset || answer.grid.rows.size() >= 100) continue;
    const auto rank = rank_in_path(file.shown);
    answer.grid.rows.push_back({file.shown, static_cast<std::int64_t>(file.bytes),
                                text_value(format), rank ? Value{*rank} : Value{}});
  }
  answer.total = count;
  if (count == 0) answer.notes.emplace_back("no traces here: other folders need another server");
  return call.result(std::move(answer));
}

}  // namespace

const Tool kListTracesTool{
    .name = "list_traces",
    .title = "List traces",
    .description =
        "Trace files in the allowed folders: path, size, format, rank. Use it when no file "
        "was named; its paths are what `trace` takes.",
    .arguments = {kListTracesArguments, page_arguments()},
    .more_output = no_more_output,
    .run = run_list_traces};

}  // namespace tracelens::mcp
