// tool_services.hpp: our tools, texts and prompts, as the protocol serves them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "mcp/dispatcher.hpp"
#include "mcp/tool.hpp"

namespace tracelens::mcp {

class ToolServices final : public Services {
 public:
  explicit ToolServices(Workshop workshop) : workshop_{workshop} {}

  [[nodiscard]] std::string_view instructions() const override;
  [[nodiscard]] Value tools() const override;
  [[nodiscard]] Value resources() const override;
  [[nodiscard]] Value resource_templates() const override;
  [[nodiscard]] Value prompts() const override;
  [[nodiscard]] bool has_tool(std::string_view name) const override;
  [[nodiscard]] Value call(const std::string& tool, const Value& arguments,
                           CallControl& control) override;
  [[nodiscard]] std::optional<Value> read_resource(const std::string& uri) const override;
  [[nodiscard]] std::variant<Value, std::string> prompt(const std::string& name,
                                                        const Value& arguments) const override;

 private:
  Workshop workshop_;
};

}  // namespace tracelens::mcp
