#include "mcp/tool_services.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <tracelens/error.hpp>

#include "mcp/clean_text.hpp"
#include "mcp/prompts.hpp"
#include "mcp/resources.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

Value annotations() {
  return object({{"readOnlyHint", true},
                 {"destructiveHint", false},
                 {"idempotentHint", true},
                 {"openWorldHint", false}});
}

Value description_of(const Tool& tool) {
  return object({{"name", text_value(tool.name)},
                 {"title", text_value(tool.title)},
                 {"description", text_value(tool.description)},
                 {"inputSchema", input_schema(tool.arguments)},
                 {"outputSchema", output_schema(tool.more_output())},
                 {"annotations", annotations()}});
}

const Tool* find_tool(std::string_view name) {
  const auto tools = all_tools();
  const auto found = std::ranges::find(tools, name, [](const Tool* tool) { return tool->name; });
  return found == tools.end() ? nullptr : *found;
}

}  // namespace

std::string_view ToolServices::instructions() const { return server_instructions(); }

Value ToolServices::tools() const {
  std::vector<Value> tools;
  for (const Tool* const tool : all_tools()) tools.push_back(description_of(*tool));
  return array(std::move(tools));
}

Value ToolServices::resources() const { return resource_list(); }
Value ToolServices::resource_templates() const { return resource_template_list(); }
Value ToolServices::prompts() const { return prompt_list(); }
bool ToolServices::has_tool(std::string_view name) const { return find_tool(name) != nullptr; }

Value ToolServices::call(const std::string& tool, const Value& arguments, CallControl& control) {
  const Tool& found = *find_tool(tool);
  if (const auto complaint = complaint_about(arguments, found.arguments))
    return tool_error(*complaint);
  try {
    Call call{found, workshop_, arguments, control};
    return found.run(call);
  } catch (const ToolError& error) {
    return tool_error(error.what());
  } catch (const Error& error) {
    control.check();
    return tool_error(clean_sentence(
        with_arguments_for_flags(workshop_.folders.without_paths(error.what()), found.arguments)));
  } catch (const std::bad_alloc&) {
    return tool_error("not enough memory: ask for less, or start the server with --max-memory");
  }
}

std::optional<Value> ToolServices::read_resource(const std::string& uri) const {
  return resource_contents(uri);
}

std::variant<Value, std::string> ToolServices::prompt(const std::string& name,
                                                      const Value& arguments) const {
  return prompt_messages(name, arguments);
}

}  // namespace tracelens::mcp
