// dispatcher.hpp: the Model Context Protocol between lines of text and what is served.
//   Dispatcher dispatcher{services, [&](const Value& message) { write_line(message); }, run_later};
//   dispatcher.receive(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{...}})");
// Two eras on one connection: requests that name revision 2026-07-28 stand alone; `initialize` makes those
// that name none belong to 2025-11-25 or 2025-06-18. Lists, texts and cancellations are answered at once,
// tools by `start`.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tracelens/value.hpp>
#include <variant>

#include "mcp/control.hpp"

namespace tracelens::mcp {

// What is served.
class Services {
 public:
  virtual ~Services() = default;
  [[nodiscard]] virtual std::string_view instructions() const = 0;
  // Lists of objects, as the protocol has them, always in the same order.
  [[nodiscard]] virtual Value tools() const = 0;
  [[nodiscard]] virtual Value resources() const = 0;
  [[nodiscard]] virtual Value resource_templates() const = 0;
  [[nodiscard]] virtual Value prompts() const = 0;

  [[nodiscard]] virtual bool has_tool(std::string_view name) const = 0;
  // The result of a call, `isError` among it. Any thread. Throws Stopped.
  [[nodiscard]] virtual Value call(const std::string& tool, const Value& arguments,
                                   CallControl& control) = 0;
  // The list `contents`; nothing when there is no such resource.
  [[nodiscard]] virtual std::optional<Value> read_resource(const std::string& uri) const = 0;
  // A prompt's result, or what is wrong with the request.
  [[nodiscard]] virtual std::variant<Value, std::string> prompt(const std::string& name,
                                                                const Value& arguments) const = 0;
};

struct DispatcherLimits {
  double seconds = 120;       // for a call; 0: none
  int calls_per_second = 20;  // 0: any number
};

class Dispatcher {
 public:
  using Send = std::function<void(const Value& message)>;  // never two at a time
  using Start = std::function<void(std::function<void()> job)>;
  using Log = std::function<void(const std::string& sentence)>;

  // They must all outlive it, and every job must have run or be forgotten before it goes.
  Dispatcher(Services& services, Send send, Start start, Log log,
             const DispatcherLimits& limits = {})
      : services_{services},
        send_{std::move(send)},
        start_{std::move(start)},
        log_{std::move(log)},
        limits_{limits} {}

  // One thread. Never throws because of what the line holds.
  void receive(std::string_view line);
  void receive_too_long();

  // Answers calls whose time is up; to be called now and then.
  void end_late_calls();
  void stop_all();
  [[nodiscard]] std::size_t running();

 private:
  enum class Era : std::uint8_t { kModern, kLegacy };
  struct Request {
    Value id;
    std::string method;
    Value params;
    Era era = Era::kLegacy;
  };
  struct Call;
  using CallPointer = std::shared_ptr<Call>;
  struct Failure {
    int code;
    std::string message;
    Value data = {};
  };

  void notified(const std::string& method, const Value& params);
  // Nothing when the request is of an era; else what to answer.
  std::optional<Failure> find_era(Request& request) const;
  std::variant<Value, Failure> answer(const Request& request);
  std::variant<Value, Failure> list(const Request& request, const char* member, Value items) const;
  std::variant<Value, Failure> initialize(const Value& params);
  std::optional<Failure> start_call(const Request& request);
  void run_call(const CallPointer& call);
  void finish(const CallPointer& call, Value message);
  void cancel(const Value& id);
  [[nodiscard]] bool is_too_fast();

  [[nodiscard]] static Value finished(Value result, Era era);
  [[nodiscard]] static Value kept_for(Value result, Era era, std::int64_t milliseconds);
  [[nodiscard]] static Value response(const Value& id, Value result);
  [[nodiscard]] static Value failed(const Value& id, const Failure& failure);
  void send(const Value& message);

  Services& services_;
  Send send_;
  Start start_;
  Log log_;
  DispatcherLimits limits_;
  bool is_initialized_ = false;
  std::deque<std::chrono::steady_clock::time_point> recent_calls_;
  std::mutex mutex_;                          // guards calls_, what they hold, and sending
  std::map<std::string, CallPointer> calls_;  // by id
};

}  // namespace tracelens::mcp
