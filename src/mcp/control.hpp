// control.hpp: a call that is being worked on: whether anybody still wants it, and how far it is.
//   control.check();                           // throws Stopped when the client has lost interest
//   control.progress(0.4, "reading: 40 %");
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

namespace tracelens::mcp {

// The client cancelled the call, or its time is up: nobody waits for the answer.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error{"stopped"} {}
};

class CallControl {
 public:
  using Progress = std::function<void(double fraction, const std::string& message)>;
  explicit CallControl(Progress on_progress = {}) : on_progress_{std::move(on_progress)} {}

  void stop() noexcept { stopped_ = true; }
  [[nodiscard]] bool is_stopped() const noexcept { return stopped_; }
  [[nodiscard]] const std::atomic<bool>& stopped() const noexcept { return stopped_; }
  void check() const {
    if (stopped_) throw Stopped{};
  }

  // Told on at most five times a second, and only when it has risen. By one thread at a time.
  void progress(double fraction, const std::string& message) {
    using namespace std::chrono_literals;
    const auto now = std::chrono::steady_clock::now();
    if (!on_progress_ || fraction <= last_ || now - told_ < 200ms) return;
    last_ = fraction;
    told_ = now;
    on_progress_(fraction, message);
  }

 private:
  Progress on_progress_;
  std::atomic<bool> stopped_ = false;
  double last_ = 0;
  std::chrono::steady_clock::time_point told_{};
};

}  // namespace tracelens::mcp
