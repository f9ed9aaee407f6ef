// Any bytes are lines of the protocol: answered the same whether they come at once or byte by byte, each answer one
// line of JSON-RPC.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tracelens/json.hpp>
#include <vector>

#include "io/check.hpp"
#include "mcp/dispatcher.hpp"
#include "mcp/framing.hpp"
#include "mcp/json.hpp"
#include "mcp/tool_result.hpp"

namespace {

using namespace tracelens;
using namespace tracelens::mcp;

// Tools that need no trace.
class FakeServices final : public Services {
 public:
  [[nodiscard]] std::string_view instructions() const override { return "none"; }
  [[nodiscard]] Value tools() const override { return array({object({{"name", "echo"}})}); }
  [[nodiscard]] Value resources() const override { return array(std::vector<Value>{}); }
  [[nodiscard]] Value resource_templates() const override { return array(std::vector<Value>{}); }
  [[nodiscard]] Value prompts() const override { return array(std::vector<Value>{}); }
  [[nodiscard]] bool has_tool(std::string_view name) const override {
    return name == "echo" || name == "stop" || name == "bug";
  }
  [[nodiscard]] Value call(const std::string& tool, const Value& arguments,
                           CallControl& control) override {
    control.progress(0.5, "half");
    if (tool == "stop") throw Stopped{};
    if (tool == "bug") throw std::runtime_error{"a mistake"};
    return object({{"content", text_block(compact_json(arguments))}, {"isError", false}});
  }
  [[nodiscard]] std::optional<Value> read_resource(const std::string& uri) const override {
    return uri.empty() ? std::optional<Value>{} : array({object({{"uri", uri}})});
  }
  [[nodiscard]] std::variant<Value, std::string> prompt(const std::string& name,
                                                        const Value& arguments) const override {
    if (name.empty()) return std::string{"none"};
    return object({{"messages", arguments}});
  }
};

std::vector<std::string> answers_to(std::string_view bytes, std::size_t piece) {
  std::vector<std::string> answers;
  FakeServices services;
  Dispatcher dispatcher{services,
                        [&](const Value& message) { answers.push_back(compact_json(message)); },
                        [](const std::function<void()>& job) { job(); },
                        [](const std::string&) {},
                        {.seconds = 0, .calls_per_second = 0}};
  LineBuffer lines;
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, piece);
    lines.add(
        part, [&](std::string_view line) { dispatcher.receive(line); },
        [&] { dispatcher.receive_too_long(); });
    bytes.remove_prefix(part.size());
  }
  TL_CHECK(dispatcher.running() == 0);
  return answers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const std::vector<std::string> whole = answers_to(bytes, size + 1);
  TL_CHECK(whole == answers_to(bytes, 1));
  for (const std::string& answer : whole) {
    TL_CHECK(answer.find('\n') == std::string::npos);
    const auto message = parse_json_value(answer);
    TL_CHECK(message && message->find("jsonrpc") != nullptr);
  }
  return 0;
}
