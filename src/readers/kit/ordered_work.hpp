// ordered_work.hpp: pieces of a file taken in order, worked on by many threads, put together in
// order.
//   OrderedWork work{[&](Worker& worker) { return source.next(worker.block); },   // one at a time
//                    [&](Worker& worker) { worker.parse(); },                     // all at once
//                    [&](Worker& worker) { assembly.accept(worker); }};           // one at a time
//   work.run(threads, [&] { return Worker{builder}; });
// N identical threads: each takes the next piece, works on it without any lock, waits until all
// earlier pieces are accepted, and has its own accepted. The order, and so the result, does not
// depend on N. An exception of any of them ends the work and is thrown by run().
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tracelens {

template <class Take, class Work, class Accept>
class OrderedWork {
 public:
  // `take` gives false when there is nothing left.
  OrderedWork(Take take, Work work, Accept accept)
      : take_{std::move(take)}, work_{std::move(work)}, accept_{std::move(accept)} {}

  // `make_worker` makes what one thread works with.
  template <class MakeWorker>
  void run(int threads, const MakeWorker& make_worker) {
    std::vector<std::thread> others;
    turns_ = std::vector<std::condition_variable>(static_cast<std::size_t>(std::max(threads, 1)));
    try {
      for (int i = 1; i < threads; ++i)
        others.emplace_back([this, &make_worker] { go(make_worker); });
    } catch (const std::exception&) {
      // The system gives no more threads: the ones there are do the work.
    }
    go(make_worker);
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class MakeWorker>
  void go(const MakeWorker& make_worker) {
    try {
      auto worker = make_worker();
      std::uint64_t index = 0;
      while (take(worker, index)) {
        work_(worker);
        std::unique_lock lock{order_};
        turn_of(index).wait(lock, [&] { return turn_ == index || failure_; });
        if (failure_) return;
        accept_(worker);
        ++turn_;
        turn_of(turn_).notify_one();
      }
    } catch (...) {
      const std::lock_guard lock{order_};
      if (!failure_) failure_ = std::current_exception();
      for (std::condition_variable& turn : turns_) turn.notify_one();
    }
  }

  // Each thread holds one piece, so no two that wait share a place.
  std::condition_variable& turn_of(std::uint64_t index) { return turns_[index % turns_.size()]; }

  template <class Worker>
  bool take(Worker& worker, std::uint64_t& index) {
    const std::lock_guard lock{input_};
    if (std::exchange(is_over_, true)) return false;
    if (!take_(worker)) return false;
    is_over_ = false;
    index = taken_++;
    return true;
  }

  Take take_;
  Work work_;
  Accept accept_;
  std::mutex input_;  // guards take_, taken_ and is_over_
  std::uint64_t taken_ = 0;
  bool is_over_ = false;  // nothing is left, or take_ has thrown: it is not called again
  std::mutex order_;      // guards accept_, turn_ and failure_
  std::vector<std::condition_variable> turns_;  // so that only the one whose turn it is wakes
  std::uint64_t turn_ = 0;
  std::exception_ptr failure_;
};

}  // namespace tracelens
