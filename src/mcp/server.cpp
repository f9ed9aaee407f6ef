// The server's threads: one reads lines and answers what is at hand, two run tools.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <memory>
#include <tracelens/error.hpp>
#include <tracelens/mcp.hpp>
#include <utility>

#include "mcp/allowed_folders.hpp"
#include "mcp/dispatcher.hpp"
#include "mcp/framing.hpp"
#include "mcp/json.hpp"
#include "mcp/tool_services.hpp"
#include "mcp/workers.hpp"

namespace tracelens {
namespace {

using namespace mcp;

// False: nobody reads it any more. A client that is slow is waited for; one that has closed `input`
// already, only as long as it goes on reading.
bool write_all(int output, int input, std::string_view bytes) {
  constexpr int kPatienceMs = 1000;
  while (!bytes.empty()) {
    pollfd ready[] = {{output, POLLOUT, 0}, {input, 0, 0}};  // of the input only that it is closed
    if (::poll(ready, 2, -1) < 0 && errno == EINTR) continue;
    if (ready[0].revents == 0 && ::poll(ready, 1, kPatienceMs) == 0) return false;
    // As much as a pipe that is ready takes without waiting.
    const ssize_t written =
        ::write(output, bytes.data(), std::min<std::size_t>(bytes.size(), PIPE_BUF));
    if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// The next bytes; nothing at the end. Meanwhile `on_wait` is called now and then: false ends it too.
std::string_view read_some(int descriptor, std::span<char> buffer,
                           const std::function<bool()>& on_wait) {
  for (;;) {
    pollfd ready{descriptor, POLLIN, 0};
    constexpr int kMilliseconds = 250;
    const int events = ::poll(&ready, 1, kMilliseconds);
    if (!on_wait()) return {};
    if (events == 0 || (events < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return {buffer.data(), count < 0 ? 0 : static_cast<std::size_t>(count)};
  }
}

// Everything that a thread at work may touch.
struct Server {
  Server(const McpOptions& options, int input, int output)
      : folders{options.folders},
        store{{options.cache_bytes, options.limit_text_bytes}},
        services{{folders, store, recent}},
        dispatcher{services,
                   [this, input, output](const Value& message) {
                     if (!is_deaf && !write_all(output, input, compact_json(message) + "\n"))
                       is_deaf = true;
                   },
                   [this](std::function<void()> job) { workers.start(std::move(job)); },
                   options.log ? options.log : [](const std::string&) {},
                   {.seconds = options.limit_seconds}},
        workers{2} {}

  AllowedFolders folders;
  TraceStore store;
  RecentAnswers recent;
  ToolServices services;
  std::atomic<bool> is_deaf = false;
  Dispatcher dispatcher;
  Workers workers;  // joined first
};

}  // namespace

bool serve_mcp(const McpOptions& options, int input, int output) {
  auto server = std::make_unique<Server>(options, input, output);
  Dispatcher& dispatcher = server->dispatcher;
  LineBuffer lines;
  std::string buffer(std::size_t{64} << 10, '\0');
  const auto receive = [&](std::string_view line) { dispatcher.receive(line); };
  const auto too_long = [&] { dispatcher.receive_too_long(); };
  while (!server->is_deaf) {
    const std::string_view bytes = read_some(input, buffer, [&] {
      dispatcher.end_late_calls();
      return !server->is_deaf;
    });
    if (bytes.empty()) break;
    lines.add(bytes, receive, too_long);
  }
  using namespace std::chrono_literals;
  if (!server->workers.finish_within(server->is_deaf ? 0ms : 1000ms)) {
    dispatcher.stop_all();
    if (!server->workers.finish_within(1000ms)) {
      (void)server.release();  // a thread works on it
      return false;
    }
  }
  return true;
}

}  // namespace tracelens
