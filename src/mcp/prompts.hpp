// prompts.hpp: plans of tool calls that a person can choose in a client.
#pragma once

#include <string>
#include <tracelens/value.hpp>
#include <variant>

namespace tracelens::mcp {

[[nodiscard]] Value prompt_list();
// The result of prompts/get, or what is wrong with the request.
[[nodiscard]] std::variant<Value, std::string> prompt_messages(const std::string& name,
                                                               const Value& arguments);

}  // namespace tracelens::mcp
