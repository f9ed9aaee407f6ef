#include "io/helpers.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tracelens::io {
namespace {

using Work = std::function<void(std::size_t)>;

// For threads that are started meanwhile: signals are for those of the program, but for what a thread does itself.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t most;
    sigfillset(&most);
    for (const int own : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&most, own);
    ::pthread_sigmask(SIG_BLOCK, &most, &before_);
  }
  ~WithoutSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

class Helpers {
 public:
  void work_together(std::size_t helpers, const Work& work) {
    Job job{.work = work, .wanted = helpers};
    call_for(job);
    std::exception_ptr failure;
    try {
      work(0);
    } catch (...) {
      failure = std::current_exception();
    }
    dismiss(job);
    if (failure || job.failure) std::rethrow_exception(failure ? failure : job.failure);
  }

 private:
  // Lives as long as the one who asks waits for it; the mutex guards all but the work.
  struct Job {
    const Work& work;
    std::size_t wanted;  // to come yet
    std::size_t came = 0, working = 0;
    std::exception_ptr failure = {};
    std::condition_variable all_gone = {};
  };

  void call_for(Job& job) {
    std::size_t to_wake = 0, to_start = 0;
    {
      const std::lock_guard lock{mutex_};
      jobs_.push_back(&job);
      wanted_ += job.wanted;
      most_ = std::max(most_, kForEachWanted * job.wanted);
      // Those who are on their way may be meant for others.
      const std::size_t missing = wanted_ > idle_ + starting_ ? wanted_ - idle_ - starting_ : 0;
      to_start = std::min({missing, job.wanted, most_ - std::min(most_, threads_)});
      to_wake = job.wanted - to_start;
      threads_ += to_start;
      starting_ += to_start;
    }
    for (; to_wake > 0; --to_wake) has_jobs_.notify_one();
    if (to_start == 0) return;
    const WithoutSignals inherited;
    for (; to_start > 0; --to_start) {
      try {
        std::thread{[this] { help(); }}.detach();
      } catch (const std::exception&) {
        // The system gives no more threads: the ones there are do the work.
        const std::lock_guard lock{mutex_};
        threads_ -= to_start;
        starting_ -= to_start;
        return;
      }
    }
  }

  void dismiss(Job& job) {
    std::unique_lock lock{mutex_};
    if (job.wanted > 0) {
      wanted_ -= job.wanted;
      std::erase(jobs_, &job);
    }
    job.all_gone.wait(lock, [&job] { return job.working == 0; });
  }

  void help() {
    std::unique_lock lock{mutex_};
    --starting_;
    while (true) {
      ++idle_;
      const bool is_wanted = has_jobs_.wait_until(
          lock, std::chrono::system_clock::now() + kPatience, [this] { return !jobs_.empty(); });
      --idle_;
      if (!is_wanted) {
        --threads_;
        return;
      }
      Job& job = *jobs_.back();
      --wanted_;
      if (--job.wanted == 0) jobs_.pop_back();
      const std::size_t seat = ++job.came;
      ++job.working;
      lock.unlock();
      std::exception_ptr failure;
      try {
        job.work(seat);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      if (failure && !job.failure) job.failure = std::move(failure);
      if (--job.working == 0) job.all_gone.notify_one();
    }
  }

  // Helpers who ask for helpers are busy themselves, or wait for each other: others keep the cores busy.
  static constexpr std::size_t kForEachWanted = 2;
  // Then they go: a program that has done its work has its own threads alone.
  static constexpr std::chrono::milliseconds kPatience{500};

  std::mutex mutex_;
  std::condition_variable has_jobs_;
  std::vector<Job*> jobs_;  // that want more; the newest is the last
  std::size_t wanted_ = 0;  // by all of them
  std::size_t threads_ = 0, starting_ = 0, idle_ = 0;
  std::size_t most_ = 0;  // threads, by what anybody has ever wanted
};

// Never deleted: helpers may wait in it when the program ends. A forked process has none of them.
Helpers* all_helpers = nullptr;
void make_helpers() { all_helpers = new Helpers; }

}  // namespace

void work_together(std::size_t helpers, const Work& work) {
  if (helpers == 0) return work(0);
  static const int is_made = [] {
    make_helpers();
    return ::pthread_atfork(nullptr, nullptr, make_helpers);
  }();
  (void)is_made;
  all_helpers->work_together(helpers, work);
}

}  // namespace tracelens::io
