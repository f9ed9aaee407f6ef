#include "reading.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

namespace tracelens::python {
namespace py = pybind11;
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{50};

// Thrown through the reader; never seen outside this file.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error{"stopped"} {}
};

// Whether the work is done, between the thread that does it and the one that waits.
class Done {
 public:
  void tell() {
    {
      const std::scoped_lock lock{mutex_};
      is_done_ = true;
    }
    changed_.notify_one();
  }
  bool wait() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, kBetweenLooks, [this] { return is_done_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
};

// What the reading thread and the waiting one tell each other.
class Watch {
 public:
  void tell(const ReadProgress& progress) {
    if (stopped_) throw Stopped{};
    const std::scoped_lock lock{mutex_};
    last_ = progress;
  }
  void stop() { stopped_ = true; }
  [[nodiscard]] std::optional<ReadProgress> last() {
    const std::scoped_lock lock{mutex_};
    return last_;
  }

 private:
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::optional<ReadProgress> last_;
};

}  // namespace

void run_watched(const std::function<void()>& work, const std::function<void()>& look,
                 const std::function<void()>& stop) {
  Done done;
  std::exception_ptr failed;  // at work
  std::exception_ptr raised;  // in Python, meanwhile
  {
    const py::gil_scoped_release unlocked;
    std::thread worker{[&] {
      try {
        work();
      } catch (...) {
        failed = std::current_exception();
      }
      done.tell();
    }};
    while (!done.wait()) {
      if (raised) {
        stop();  // again: the work may not have begun when it was told
        continue;
      }
      const py::gil_scoped_acquire locked;
      try {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set{};
        look();
      } catch (...) {
        raised = std::current_exception();
        stop();
      }
    }
    worker.join();
  }
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
}

Trace read_watched(
    const std::function<Trace(const std::function<void(const ReadProgress&)>& on_progress)>& read,
    const py::object& progress) {
  Watch watch;
  std::optional<Trace> trace;
  run_watched([&] { trace.emplace(read([&](const ReadProgress& now) { watch.tell(now); })); },
              [&] {
                const std::optional<ReadProgress> last = watch.last();
                if (last && !progress.is_none()) progress(last->fraction, last->events);
              },
              [&] { watch.stop(); });
  if (!progress.is_none()) progress(1.0, trace->size());
  return std::move(*trace);
}

}  // namespace tracelens::python
