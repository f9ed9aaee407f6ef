// tool_result.hpp: the results of a tool that has nothing but a sentence to say.
#pragma once

#include <stdexcept>
#include <string>
#include <tracelens/value.hpp>

#include "mcp/json.hpp"

namespace tracelens::mcp {

// What a model can mend: the sentence says how.
struct ToolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[nodiscard]] inline Value text_block(std::string text) {
  return array(std::vector<Value>{object({{"type", "text"}, {"text", std::move(text)}})});
}

[[nodiscard]] inline Value tool_error(std::string sentence) {
  return object({{"content", text_block(std::move(sentence))}, {"isError", true}});
}

}  // namespace tracelens::mcp
