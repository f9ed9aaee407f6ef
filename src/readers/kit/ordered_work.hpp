// ordered_work.hpp: pieces of a file taken in order, worked on by many threads, put together in
// order.
//   OrderedWork work{[&](Worker& worker) { return source.next(worker.block); },   // one at a time
//                    [&](Worker& worker) { worker.parse(); },                     // all at once
//                    [&](Worker& worker) { assembly.accept(worker); }};           // one at a time
//   work.run(threads, [&] { return Worker{builder}; });
// N identical threads: each takes the next piece and works on it without any lock. One of them at a
// time accepts: whoever has the piece whose turn it is, and with it those behind it that are worked on
// already, so that no turn waits for a thread to wake up. The others go on when theirs is accepted. The
// order, and so the result, does not depend on N. An exception of any of them ends the work and is
// thrown by run().
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
    using Worker = decltype(make_worker());
    std::vector<Seat<Worker>> seats(static_cast<std::size_t>(std::max(threads, 1)));
    std::vector<std::thread> others;
    try {
      for (int i = 1; i < threads; ++i)
        others.emplace_back([this, &make_worker, &seats] { go(make_worker, seats); });
    } catch (const std::exception&) {
      // The system gives no more threads: the ones there are do the work.
    }
    go(make_worker, seats);
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  // Where a piece that is worked on waits for its turn. Each thread holds one piece, and those in flight
  // follow each other, so no two share a seat.
  template <class Worker>
  struct Seat {
    Worker* ready = nullptr;
    std::condition_variable is_accepted;
  };

  template <class MakeWorker, class Worker>
  void go(const MakeWorker& make_worker, std::vector<Seat<Worker>>& seats) {
    try {
      Worker worker = make_worker();
      std::uint64_t index = 0;
      while (take(worker, index)) {
        work_(worker);
        if (!hand_in(worker, index, seats)) return;
      }
    } catch (...) {
      const std::lock_guard lock{order_};
      if (!failure_) failure_ = std::current_exception();
      wake(seats);
    }
  }

  template <class Worker>
  static void wake(std::vector<Seat<Worker>>& seats) {
    for (Seat<Worker>& seat : seats) seat.is_accepted.notify_one();
  }

  // Returns when the piece is accepted; false when the work has failed.
  template <class Worker>
  bool hand_in(Worker& worker, std::uint64_t index, std::vector<Seat<Worker>>& seats) {
    std::unique_lock lock{order_};
    Seat<Worker>& seat = seats[index % seats.size()];
    seat.ready = &worker;
    if (!is_accepting_ && turn_ == index) {
      accept_ready(lock, seats);
    } else {
      // A failure elsewhere does not end the wait while this very worker may be in use.
      seat.is_accepted.wait(lock, [&] { return turn_ > index || (failure_ && !is_accepting_); });
    }
    return !failure_;
  }

  template <class Worker>
  void accept_ready(std::unique_lock<std::mutex>& lock, std::vector<Seat<Worker>>& seats) {
    const auto next = [&]() -> Seat<Worker>& { return seats[turn_ % seats.size()]; };
    is_accepting_ = true;
    while (Worker* const worker = failure_ ? nullptr : std::exchange(next().ready, nullptr)) {
      lock.unlock();
      std::exception_ptr problem;
      try {
        accept_(*worker);
      } catch (...) {
        problem = std::current_exception();
      }
      lock.lock();
      if (problem && !failure_) failure_ = problem;
      if (problem) break;
      next().is_accepted.notify_one();
      ++turn_;
    }
    is_accepting_ = false;
    if (failure_) wake(seats);
  }

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
  std::mutex order_;      // guards the seats and what follows
  std::uint64_t turn_ = 0;
  bool is_accepting_ = false;
  std::exception_ptr failure_;
};

}  // namespace tracelens
