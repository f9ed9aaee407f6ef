// resources.hpp: texts to read before or beside the tools: how to begin, SQL, tables, GPUs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>

namespace tracelens::mcp {

[[nodiscard]] std::string_view server_instructions();  // 150 words at most
[[nodiscard]] Value resource_list();
[[nodiscard]] Value resource_template_list();
// The list `contents`; nothing when there is no such resource.
[[nodiscard]] std::optional<Value> resource_contents(const std::string& uri);

}  // namespace tracelens::mcp
