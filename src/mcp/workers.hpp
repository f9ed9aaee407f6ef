// workers.hpp: a few threads that run jobs in the order in which they came.
//   Workers workers{2};
//   workers.start([] { work(); });
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tracelens::mcp {

class Workers {
 public:
  explicit Workers(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  // Waits for what runs; what waits is forgotten.
  ~Workers() {
    {
      const std::lock_guard lock{mutex_};
      is_over_ = true;
      jobs_.clear();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void start(std::function<void()> job) {
    {
      const std::lock_guard lock{mutex_};
      jobs_.push_back(std::move(job));
    }
    changed_.notify_all();
  }

  // Whether everything has been done within this time.
  bool finish_within(std::chrono::milliseconds time) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, time, [this] { return jobs_.empty() && busy_ == 0; });
  }

 private:
  void work() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return is_over_ || !jobs_.empty(); });
      if (is_over_) return;
      const std::function<void()> job = std::move(jobs_.front());
      jobs_.pop_front();
      ++busy_;
      lock.unlock();
      job();
      lock.lock();
      --busy_;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;  // guards what follows but the threads
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  int busy_ = 0;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tracelens::mcp
