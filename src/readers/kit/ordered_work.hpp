// ordered_work.hpp: pieces of a file taken in order, worked on by many threads, put together in
// order.
//   OrderedWork work{[&](Worker& worker) { return source.next(worker.block); },   // one at a time
//                    [&](Worker& worker) { worker.parse(); },                     // all at once
//                    [&](Worker& worker) { assembly.accept(worker); },            // one at a time
//                    [&](Worker& worker) { worker.write(); }};                    // all at once; may be left out
//   work.run(threads, [&] { return Worker{builder}; });
// N identical threads: each takes the next piece and works on it without any lock. One of them at a
// time accepts: whoever has the piece whose turn it is, and with it those behind it that are worked on
// already, so that no turn waits for a thread to wake up. The others go on with the next piece as long
// as there is a worker for it: each holds one piece until that is accepted. What remains to be done with an
// accepted piece, in any order, is done by whoever is free, before anything new is begun. Several threads use
// a worker, one at a time; all are dropped by the caller of run(). The order, and so the result, does not
// depend on N. An exception of any of them ends the work and is thrown by run().
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace tracelens {

// Nothing remains to be done with a piece that is accepted.
struct NothingLeft {
  template <class Worker>
  void operator()(Worker&) const {}
};

template <class Take, class Work, class Accept, class Complete = NothingLeft>
class OrderedWork {
 public:
  // `take` gives false when there is nothing left.
  OrderedWork(Take take, Work work, Accept accept, Complete complete = {})
      : take_{std::move(take)},
        work_{std::move(work)},
        accept_{std::move(accept)},
        complete_{std::move(complete)} {}

  // `make_worker` makes what a piece is worked on with: at most one for each thread, and for several threads
  // `spare` more. Spare ones take memory, and pay where accepting takes its time.
  template <class MakeWorker>
  void run(int threads, const MakeWorker& make_worker, std::size_t spare = 1) {
    const auto count = static_cast<std::size_t>(std::max(threads, 1));
    Pool<decltype(make_worker())> pool{count + (count > 1 ? spare : 0)};
    std::vector<std::thread> others;
    try {
      for (std::size_t i = 1; i < count; ++i)
        others.emplace_back([this, &make_worker, &pool] { go(make_worker, pool); });
    } catch (const std::exception&) {
      // The system gives no more threads: the ones there are do the work.
    }
    go(make_worker, pool);
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class Worker>
  struct Pool {
    explicit Pool(std::size_t size) : seats(size), to_make{size} {}
    // Where those with a piece that is worked on wait for its turn. The pieces in flight follow each
    // other, and are no more than there are workers: no two share a seat.
    std::vector<Worker*> seats;
    std::vector<std::unique_ptr<Worker>> all;
    std::vector<Worker*> free;
    std::vector<Worker*> accepted;  // to be completed
    std::size_t to_make;
    std::condition_variable is_free;  // or there is one to be completed
  };

  template <class MakeWorker, class Worker>
  void go(const MakeWorker& make_worker, Pool<Worker>& pool) {
    try {
      std::uint64_t index = 0;
      while (Worker* const worker = free_worker(make_worker, pool)) {
        if (!take(*worker, index)) {
          put_back(worker, pool);
          return;
        }
        work_(*worker);
        hand_in(worker, index, pool);
      }
    } catch (...) {
      const std::lock_guard lock{order_};
      fail(std::current_exception(), pool);
    }
  }

  // Null when the work has failed.
  template <class MakeWorker, class Worker>
  Worker* free_worker(const MakeWorker& make_worker, Pool<Worker>& pool) {
    std::unique_lock lock{order_};
    complete_accepted(lock, pool);
    if (pool.free.empty() && pool.to_make > 0 && !failure_) {
      --pool.to_make;
      lock.unlock();
      std::unique_ptr<Worker> made{new Worker(make_worker())};
      lock.lock();
      pool.all.push_back(std::move(made));
      return pool.all.back().get();
    }
    while (pool.free.empty() && !failure_) {
      pool.is_free.wait(lock);
      complete_accepted(lock, pool);
    }
    if (failure_) return nullptr;
    Worker* const worker = pool.free.back();
    pool.free.pop_back();
    return worker;
  }

  template <class Worker>
  void complete_accepted(std::unique_lock<std::mutex>& lock, Pool<Worker>& pool) {
    while (!pool.accepted.empty() && !failure_) {
      Worker* const worker = pool.accepted.back();
      pool.accepted.pop_back();
      lock.unlock();
      complete_(*worker);
      lock.lock();
      pool.free.push_back(worker);
      pool.is_free.notify_one();
    }
  }

  // Of a thread that leaves: another may wait for one, to find that nothing is left.
  template <class Worker>
  void put_back(Worker* worker, Pool<Worker>& pool) {
    const std::lock_guard lock{order_};
    pool.free.push_back(worker);
    pool.is_free.notify_one();
  }

  template <class Worker>
  void fail(std::exception_ptr problem, Pool<Worker>& pool) {
    if (!failure_) failure_ = std::move(problem);
    pool.is_free.notify_all();
  }

  template <class Worker>
  void hand_in(Worker* worker, std::uint64_t index, Pool<Worker>& pool) {
    std::unique_lock lock{order_};
    pool.seats[index % pool.seats.size()] = worker;
    if (is_accepting_ || turn_ != index) return;
    is_accepting_ = true;
    while (Worker* const ready =
               failure_ ? nullptr : std::exchange(pool.seats[turn_ % pool.seats.size()], nullptr)) {
      lock.unlock();
      std::exception_ptr problem;
      try {
        accept_(*ready);
      } catch (...) {
        problem = std::current_exception();
      }
      lock.lock();
      if (problem) {
        fail(std::move(problem), pool);
        break;
      }
      ++turn_;
      (kCompletes ? pool.accepted : pool.free).push_back(ready);
      pool.is_free.notify_one();
    }
    is_accepting_ = false;
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

  static constexpr bool kCompletes = !std::is_same_v<Complete, NothingLeft>;

  Take take_;
  Work work_;
  Accept accept_;
  Complete complete_;
  std::mutex input_;  // guards take_, taken_ and is_over_
  std::uint64_t taken_ = 0;
  bool is_over_ = false;  // nothing is left, or take_ has thrown: it is not called again
  std::mutex order_;      // guards the pool and what follows
  std::uint64_t turn_ = 0;
  bool is_accepting_ = false;
  std::exception_ptr failure_;
};

}  // namespace tracelens
