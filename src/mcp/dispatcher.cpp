#include "mcp/dispatcher.hpp"

#include <fmt/format.h>

#include <tracelens/json.hpp>
#include <tracelens/version.hpp>
#include <utility>
#include <vector>

#include "io/code_points.hpp"
#include "mcp/json.hpp"
#include "mcp/tool_result.hpp"

namespace tracelens::mcp {
namespace {

constexpr const char* kModernVersion = "2026-07-28";
constexpr const char* kLegacyVersions[] = {"2025-11-25", "2025-06-18"};  // the newest first
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kServerKey = "io.modelcontextprotocol/serverInfo";
constexpr std::int64_t kDay = 24 * 3600 * 1000;

constexpr int kNotJson = -32700, kNoRequest = -32600, kNoMethod = -32601, kBadParams = -32602,
              kOurBug = -32603, kNoResource = -32002, kBadVersion = -32022;

Value supported_versions() {
  std::vector<Value> versions{kModernVersion};
  for (const char* const version : kLegacyVersions) versions.emplace_back(version);
  return array(std::move(versions));
}

Value server_info() { return object({{"name", "tracelens"}, {"version", kVersion}}); }

Value capabilities() {
  return object({{"tools", object({})}, {"resources", object({})}, {"prompts", object({})}});
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (!io::next_code_point(text, at).valid) return false;
  return true;
}

bool is_id(const Value& value) { return value.is_text() || value.is_int(); }

}  // namespace

struct Dispatcher::Call {
  Request request;
  std::string tool;
  Value arguments;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
  bool is_over = false;  // answered or cancelled: nothing more is sent
  std::unique_ptr<CallControl> control;
};

// --- messages ---

Value Dispatcher::response(const Value& id, Value result) {
  return object({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

Value Dispatcher::failed(const Value& id, const Failure& failure) {
  Members error{{"code", failure.code}, {"message", failure.message}};
  if (!failure.data.is_null()) error.emplace_back("data", failure.data);
  return object({{"jsonrpc", "2.0"}, {"id", id}, {"error", object(std::move(error))}});
}

Value Dispatcher::finished(Value result, Era era) {
  if (era == Era::kLegacy) return result;
  result = with(result, "resultType", "complete");
  return with(result, "_meta", object({{kServerKey, server_info()}}));
}

Value Dispatcher::kept_for(Value result, Era era, std::int64_t milliseconds) {
  if (era == Era::kLegacy) return result;
  return with(with(result, "ttlMs", milliseconds), "cacheScope", "public");
}

void Dispatcher::send(const Value& message) {
  const std::lock_guard lock{mutex_};
  send_(message);
}

// --- lines ---

void Dispatcher::receive_too_long() {
  send(failed({}, {kNotJson, "a message of more than 4 MiB"}));
}

void Dispatcher::receive(std::string_view line) {
  const auto message = is_utf8(line) ? parse_json_value(line) : std::nullopt;
  if (!message) return send(failed({}, {kNotJson, "not JSON: expected one JSON object per line"}));
  if (!is_object(*message))
    return send(failed(
        {}, {kNoRequest, message->is_sequence() ? "batches are not supported: one request per line"
                                                : "expected a JSON-RPC request"}));
  const Value* const id = message->find("id");
  const Value& method = member(*message, "method");
  const bool is_answer =
      method.is_null() && (message->find("result") != nullptr || message->find("error") != nullptr);
  if (is_answer) return;  // to what? We ask nothing.
  const Value known_id = id != nullptr && is_id(*id) ? *id : Value{};
  const Value& params = member(*message, "params");
  if (member(*message, "jsonrpc") != Value{"2.0"} || !method.is_text() ||
      (id != nullptr && !is_id(*id)))
    return send(failed(known_id, {kNoRequest,
                                  "expected a request of JSON-RPC 2.0 with a method, "
                                  "and an id that is a text or an integer"}));
  if (!params.is_null() && !is_object(params)) {
    if (id != nullptr) send(failed(known_id, {kBadParams, "params: expected an object"}));
    return;
  }
  if (id == nullptr) return notified(method.as_text(), params);
  Request request{known_id, method.as_text(), params};
  if (const auto failure = find_era(request)) return send(failed(known_id, *failure));
  if (request.method == "tools/call") {
    if (const auto failure = start_call(request)) send(failed(known_id, *failure));
    return;
  }
  const auto answered = answer(request);
  if (const auto* const failure = std::get_if<Failure>(&answered))
    return send(failed(known_id, *failure));
  send(response(known_id, finished(std::get<Value>(answered), request.era)));
}

void Dispatcher::notified(const std::string& method, const Value& params) {
  if (method == "notifications/cancelled") cancel(member(params, "requestId"));
}

std::optional<Dispatcher::Failure> Dispatcher::find_era(Request& request) const {
  request.era = Era::kLegacy;
  if (request.method == "initialize") return std::nullopt;
  const Value& meta = member(request.params, "_meta");
  const Value* const version = meta.find(kVersionKey);
  if (version == nullptr) {
    if (is_initialized_) return std::nullopt;
    return Failure{kBadParams,
                   fmt::format("_meta needs {} and {}, or `initialize` comes first; supported are "
                               "{}, {} and {}",
                               kVersionKey, kCapabilitiesKey, kModernVersion, kLegacyVersions[0],
                               kLegacyVersions[1]),
                   object({{"supported", supported_versions()}})};
  }
  if (!version->is_text())
    return Failure{kBadParams, fmt::format("_meta: {} is no text", kVersionKey)};
  if (version->as_text() != kModernVersion)
    return Failure{kBadVersion, "unsupported protocol version",
                   object({{"supported", supported_versions()}, {"requested", *version}})};
  if (!is_object(member(meta, kCapabilitiesKey)))
    return Failure{kBadParams, fmt::format("_meta needs {}", kCapabilitiesKey)};
  request.era = Era::kModern;
  return std::nullopt;
}

// --- what is answered at once ---

std::variant<Value, Dispatcher::Failure> Dispatcher::list(const Request& request,
                                                          const char* member_name,
                                                          Value items) const {
  if (request.params.find("cursor") != nullptr)  // all of it is one page
    return Failure{kBadParams, "cursor: there is no such page"};
  return kept_for(object({{member_name, std::move(items)}}), request.era, kDay);
}

std::variant<Value, Dispatcher::Failure> Dispatcher::initialize(const Value& params) {
  const Value& wanted = member(params, "protocolVersion");
  if (!wanted.is_text()) return Failure{kBadParams, "protocolVersion: expected a text"};
  is_initialized_ = true;
  std::string version = kLegacyVersions[0];
  for (const char* const known : kLegacyVersions)
    if (wanted.as_text() == known) version = known;
  return object({{"protocolVersion", version},
                 {"capabilities", capabilities()},
                 {"serverInfo", server_info()},
                 {"instructions", text_value(services_.instructions())}});
}

std::variant<Value, Dispatcher::Failure> Dispatcher::answer(const Request& request) {
  const std::string& method = request.method;
  const bool is_modern = request.era == Era::kModern;
  if (method == "initialize") return initialize(request.params);
  if (method == "ping" && !is_modern) return object({});
  if (method == "server/discover" && is_modern)
    return kept_for(object({{"supportedVersions", supported_versions()},
                            {"capabilities", capabilities()},
                            {"instructions", text_value(services_.instructions())}}),
                    request.era, kDay);
  if (method == "tools/list") return list(request, "tools", services_.tools());
  if (method == "resources/list") return list(request, "resources", services_.resources());
  if (method == "resources/templates/list")
    return list(request, "resourceTemplates", services_.resource_templates());
  if (method == "prompts/list") return list(request, "prompts", services_.prompts());
  if (method == "resources/read") {
    const Value& uri = member(request.params, "uri");
    if (!uri.is_text()) return Failure{kBadParams, "uri: expected a text"};
    if (auto contents = services_.read_resource(uri.as_text()))
      return kept_for(object({{"contents", *std::move(contents)}}), request.era, kDay);
    return Failure{is_modern ? kBadParams : kNoResource, "there is no such resource",
                   object({{"uri", uri}})};
  }
  if (method == "prompts/get") {
    const Value& name = member(request.params, "name");
    const Value& arguments = member(request.params, "arguments");
    if (!name.is_text()) return Failure{kBadParams, "name: expected the name of a prompt"};
    auto prompt = services_.prompt(name.as_text(), arguments);
    if (const auto* const complaint = std::get_if<std::string>(&prompt))
      return Failure{kBadParams, *complaint};
    return std::get<Value>(std::move(prompt));
  }
  return Failure{kNoMethod, "there is no such method"};
}

// --- tools ---

bool Dispatcher::is_too_fast() {
  if (limits_.calls_per_second <= 0) return false;
  const auto now = std::chrono::steady_clock::now();
  while (!recent_calls_.empty() && now - recent_calls_.front() > std::chrono::seconds{1})
    recent_calls_.pop_front();
  if (recent_calls_.size() >= static_cast<std::size_t>(limits_.calls_per_second)) return true;
  recent_calls_.push_back(now);
  return false;
}

std::optional<Dispatcher::Failure> Dispatcher::start_call(const Request& request) {
  const Value& name = member(request.params, "name");
  const Value* const arguments = request.params.find("arguments");
  if (!name.is_text()) return Failure{kBadParams, "name: expected the name of a tool"};
  if (!services_.has_tool(name.as_text()))
    return Failure{kBadParams, "there is no such tool: tools/list has all of them"};
  if (arguments != nullptr && !is_object(*arguments))
    return Failure{kBadParams, "arguments: expected an object"};
  auto call = std::make_shared<Call>();
  call->request = request;
  call->tool = name.as_text();
  call->arguments = arguments == nullptr ? object({}) : *arguments;
  const Value& token = member(member(request.params, "_meta"), "progressToken");
  CallControl::Progress tell;
  if (is_id(token))
    tell = [this, token, weak = std::weak_ptr{call}](double fraction, const std::string& message) {
      const CallPointer still = weak.lock();
      const std::lock_guard lock{mutex_};
      if (still == nullptr || still->is_over) return;
      send_(object({{"jsonrpc", "2.0"},
                    {"method", "notifications/progress"},
                    {"params", object({{"progressToken", token},
                                       {"progress", fraction},
                                       {"total", 1},
                                       {"message", message}})}}));
    };
  call->control = std::make_unique<CallControl>(std::move(tell));
  {
    const std::lock_guard lock{mutex_};
    if (!calls_.emplace(compact_json(request.id), call).second)
      return Failure{kNoRequest, "a call with this id is being worked on"};
  }
  if (is_too_fast()) {
    finish(call, tool_error(fmt::format("more than {} calls in a second: wait a second, then call "
                                        "again",
                                        limits_.calls_per_second)));
    return std::nullopt;
  }
  start_([this, call] { run_call(call); });
  return std::nullopt;
}

void Dispatcher::run_call(const CallPointer& call) {
  try {
    call->control->check();
    finish(call, services_.call(call->tool, call->arguments, *call->control));
  } catch (const Stopped&) {  // whoever stopped it has answered, or nobody waits
    const std::lock_guard lock{mutex_};
    if (!std::exchange(call->is_over, true)) calls_.erase(compact_json(call->request.id));
  } catch (const std::exception& error) {
    log_(fmt::format("{}: {}", call->tool, error.what()));
    const std::lock_guard lock{mutex_};
    if (std::exchange(call->is_over, true)) return;
    calls_.erase(compact_json(call->request.id));
    send_(failed(call->request.id, {kOurBug, "a mistake in TraceLens: its log has more"}));
  }
}

void Dispatcher::finish(const CallPointer& call, Value result) {
  const std::lock_guard lock{mutex_};
  if (std::exchange(call->is_over, true)) return;
  calls_.erase(compact_json(call->request.id));
  send_(response(call->request.id, finished(std::move(result), call->request.era)));
}

void Dispatcher::cancel(const Value& id) {
  const std::lock_guard lock{mutex_};
  const auto found = calls_.find(compact_json(id));
  if (found == calls_.end()) return;
  found->second->is_over = true;
  found->second->control->stop();
  calls_.erase(found);
}

void Dispatcher::end_late_calls() {
  if (limits_.seconds <= 0) return;
  const auto now = std::chrono::steady_clock::now();
  std::vector<CallPointer> late;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [id, call] : calls_)
      if (std::chrono::duration<double>(now - call->started).count() > limits_.seconds)
        late.push_back(call);
  }
  for (const CallPointer& call : late) {
    // The answer first: a call that sees that it was stopped takes it for cancelled.
    finish(call, tool_error(fmt::format("stopped after {:g} seconds: ask for less, or start the "
                                        "server with a higher --limit-s",
                                        limits_.seconds)));
    call->control->stop();
  }
}

void Dispatcher::stop_all() {
  const std::lock_guard lock{mutex_};
  for (const auto& [id, call] : calls_) {
    call->is_over = true;
    call->control->stop();
  }
  calls_.clear();
}

std::size_t Dispatcher::running() {
  const std::lock_guard lock{mutex_};
  return calls_.size();
}

}  // namespace tracelens::mcp
