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

// What the reading thread and the waiting one tell each other.
class Watch {
 public:
  void tell(const ReadProgress& progress) {
    if (stopped_) throw Stopped{};
    const std::scoped_lock lock{mutex_};
    last_ = progress;
  }
  void stop() { stopped_ = true; }
  void finish() {
    {
      const std::scoped_lock lock{mutex_};
      finished_ = true;
    }
    changed_.notify_one();
  }
  // Whether the reading has finished.
  bool wait() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, kBetweenLooks, [this] { return finished_; });
  }
  [[nodiscard]] std::optional<ReadProgress> last() {
    const std::scoped_lock lock{mutex_};
    return last_;
  }

 private:
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::optional<ReadProgress> last_;
};

void look_at_python(Watch& watch, const py::object& progress) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set{};
  if (progress.is_none()) return;
  if (const std::optional<ReadProgress> last = watch.last()) progress(last->fraction, last->events);
}

}  // namespace

Trace read_watched(
    const std::function<Trace(const std::function<void(const ReadProgress&)>& on_progress)>& read,
    const py::object& progress) {
  Watch watch;
  std::optional<Trace> trace;
  std::exception_ptr failed;  // while reading
  std::exception_ptr raised;  // in Python, meanwhile
  {
    const py::gil_scoped_release unlocked;
    std::thread reader{[&] {
      try {
        trace.emplace(read([&](const ReadProgress& now) { watch.tell(now); }));
      } catch (...) {
        failed = std::current_exception();
      }
      watch.finish();
    }};
    while (!watch.wait()) {
      if (raised) continue;
      const py::gil_scoped_acquire locked;
      try {
        look_at_python(watch, progress);
      } catch (...) {
        raised = std::current_exception();
        watch.stop();
      }
    }
    reader.join();
  }
  if (raised) std::rethrow_exception(raised);
  if (failed) std::rethrow_exception(failed);
  if (!progress.is_none()) progress(1.0, trace->size());
  return std::move(*trace);
}

}  // namespace tracelens::python
