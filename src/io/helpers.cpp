#include "io/helpers.hpp"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tracelens::io {
namespace {

using Work = std::function<void(std::size_t)>;

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

  [[noreturn]] void help() {
    std::unique_lock lock{mutex_};
    --starting_;
    while (true) {
      while (jobs_.empty()) {
        ++idle_;
        has_jobs_.wait(lock);
        --idle_;
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

  std::mutex mutex_;
  std::condition_variable has_jobs_;
  std::vector<Job*> jobs_;  // that want more; the newest is the last
  std::size_t wanted_ = 0;  // by all of them
  std::size_t threads_ = 0, starting_ = 0, idle_ = 0;
  std::size_t most_ = 0;  // threads, by what anybody has ever wanted
};

// Never deleted: helpers wait in it to the end of the program. A forked process has none of them.
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
