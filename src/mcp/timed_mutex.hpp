// timed_mutex.hpp: a mutex that is waited for no longer than given.
//   std::unique_lock lock{mutex, std::defer_lock};
//   while (!lock.try_lock_for(20ms)) control.check();
// Not std::timed_mutex: the thread sanitizer does not see the call that one waits with, and takes every
// unlock for a mistake.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace tracelens::mcp {

class TimedMutex {
 public:
  bool try_lock_for(std::chrono::milliseconds time) {
    std::unique_lock lock{mutex_};
    if (!is_free_.wait_for(lock, time, [this] { return !is_held_; })) return false;
    is_held_ = true;
    return true;
  }
  void unlock() {
    {
      const std::lock_guard lock{mutex_};
      is_held_ = false;
    }
    is_free_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable is_free_;
  bool is_held_ = false;
};

}  // namespace tracelens::mcp
