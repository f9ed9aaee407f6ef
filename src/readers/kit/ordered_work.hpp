// ordered_work.hpp: pieces of a file taken in order, worked on by many threads, put together in
// order.
//   OrderedWork work{[&](Worker& worker) { return source.next(worker.block); },   // one at a time
//                    [&](Worker& worker) { worker.parse(); },                     // all at once
//                    [&](Worker& worker) { assembly.accept(worker); },            // one at a time
//                    [&](Worker& worker) { worker.write(); }};                    // all at once; may be left out
//   work.run(threads, [&] { return Worker{builder}; });
// N identical threads. One of them at a time takes a piece, and works on it while it is warm in its
// cache; where there are many, it hands the piece to one that has nothing to do and goes on taking,
// so that taking never waits for a thread to wake up. One of them at a time accepts: whoever has
// the piece whose turn it is, and with it those behind it that are worked on already. The others go
// on with the next piece as long as there is a worker for it: each holds one piece until that is
// accepted. What remains to be done with an accepted piece, in any order, is done by whoever is
// free, before anything new is begun. Several threads use a worker, one at a time; all are dropped
// by the caller of run(). The order, and so the result, does not depend on N. An exception of any
// of them ends the work and is thrown by run().
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/helpers.hpp"

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
    constexpr std::size_t kMany = 4;
    const auto count = static_cast<std::size_t>(std::max(threads, 1));
    hands_over_ = count >= kMany;
    Pool<decltype(make_worker())> pool{count + (count > 1 ? spare : 0)};
    io::work_together(count - 1, [&](std::size_t) { go(make_worker, pool); });
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  template <class Worker>
  struct Piece {
    Worker* worker;
    std::uint64_t index;
  };

  template <class Worker>
  struct Pool {
    explicit Pool(std::size_t size) : seats(size), to_make{size} {}
    // Where those with a piece that is worked on wait for its turn. The pieces in flight follow each
    // other, and are no more than there are workers: no two share a seat.
    std::vector<Worker*> seats;
    std::vector<std::unique_ptr<Worker>> all;
    std::vector<Worker*> free;
    std::vector<Worker*> accepted;    // to be completed
    std::deque<Piece<Worker>> taken;  // handed over, to be worked on
    std::size_t to_make;
    std::size_t idle_threads = 0;
    std::condition_variable has_work;
  };

  template <class MakeWorker, class Worker>
  void go(const MakeWorker& make_worker, Pool<Worker>& pool) {
    std::unique_lock lock{order_};
    try {
      while (const std::optional<Piece<Worker>> piece = next_piece(make_worker, pool, lock)) {
        lock.unlock();
        work_(*piece->worker);
        lock.lock();
        hand_in(*piece, pool, lock);
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      fail(std::current_exception(), pool);
    }
  }

  // To be worked on by this thread. None: nothing is left, or the work has failed.
  template <class MakeWorker, class Worker>
  std::optional<Piece<Worker>> next_piece(const MakeWorker& make_worker, Pool<Worker>& pool,
                                          std::unique_lock<std::mutex>& lock) {
    while (true) {
      complete_accepted(pool, lock);
      if (failure_) return std::nullopt;
      if (!pool.taken.empty()) {
        const Piece<Worker> piece = pool.taken.front();
        pool.taken.pop_front();
        return piece;
      }
      if (is_over_) return std::nullopt;
      if (!is_taking_ && (!pool.free.empty() || pool.to_make > 0)) {
        if (const auto piece = take(make_worker, pool, lock)) return piece;
        continue;
      }
      ++pool.idle_threads;
      pool.has_work.wait(lock);
      --pool.idle_threads;
    }
  }

  // The last piece taken, if there is nobody to hand it to.
  template <class MakeWorker, class Worker>
  std::optional<Piece<Worker>> take(const MakeWorker& make_worker, Pool<Worker>& pool,
                                    std::unique_lock<std::mutex>& lock) {
    std::optional<Piece<Worker>> own;
    is_taking_ = true;
    while (Worker* const worker = failure_ ? nullptr : free_worker(make_worker, pool, lock)) {
      lock.unlock();
      const bool has_taken = take_(*worker);
      lock.lock();
      if (!has_taken) {
        is_over_ = true;
        pool.has_work.notify_all();
        break;
      }
      own = Piece<Worker>{worker, taken_++};
      // Of those that wait, some are on their way to what was handed over; without a worker nobody could go on.
      const bool can_go_on = !pool.free.empty() || pool.to_make > 0;
      if (!hands_over_ || !can_go_on || pool.idle_threads <= pool.taken.size()) break;
      pool.taken.push_back(*std::exchange(own, std::nullopt));
      pool.has_work.notify_one();
    }
    is_taking_ = false;
    if (!hands_over_) pool.has_work.notify_one();  // to take the next
    return own;
  }

  // Null when all have a piece.
  template <class MakeWorker, class Worker>
  Worker* free_worker(const MakeWorker& make_worker, Pool<Worker>& pool,
                      std::unique_lock<std::mutex>& lock) {
    if (!pool.free.empty()) {
      Worker* const worker = pool.free.back();
      pool.free.pop_back();
      return worker;
    }
    if (pool.to_make == 0) return nullptr;
    --pool.to_make;
    lock.unlock();
    std::unique_ptr<Worker> made{new Worker(make_worker())};
    lock.lock();
    pool.all.push_back(std::move(made));
    return pool.all.back().get();
  }

  template <class Worker>
  void complete_accepted(Pool<Worker>& pool, std::unique_lock<std::mutex>& lock) {
    while (!pool.accepted.empty() && !failure_) {
      Worker* const worker = pool.accepted.back();
      pool.accepted.pop_back();
      lock.unlock();
      complete_(*worker);
      lock.lock();
      pool.free.push_back(worker);
      if (!is_taking_) pool.has_work.notify_one();
    }
  }

  template <class Worker>
  void fail(std::exception_ptr problem, Pool<Worker>& pool) {
    if (!failure_) failure_ = std::move(problem);
    pool.has_work.notify_all();
  }

  template <class Worker>
  void hand_in(const Piece<Worker>& piece, Pool<Worker>& pool, std::unique_lock<std::mutex>& lock) {
    pool.seats[piece.index % pool.seats.size()] = piece.worker;
    if (is_accepting_ || turn_ != piece.index) return;
    is_accepting_ = true;
    while (Worker* const ready =
               failure_ ? nullptr : std::exchange(pool.seats[turn_ % pool.seats.size()], nullptr)) {
      lock.unlock();
      accept_(*ready);  // one that throws has failed: nobody accepts any more
      lock.lock();
      ++turn_;
      (kCompletes ? pool.accepted : pool.free).push_back(ready);
      if (kCompletes || !is_taking_) pool.has_work.notify_one();
    }
    is_accepting_ = false;
  }

  static constexpr bool kCompletes = !std::is_same_v<Complete, NothingLeft>;

  Take take_;
  Work work_;
  Accept accept_;
  Complete complete_;
  std::mutex order_;  // guards the pool and what follows
  std::uint64_t taken_ = 0, turn_ = 0;
  bool is_taking_ = false, is_accepting_ = false;
  bool is_over_ = false;     // nothing is left to be taken
  bool hands_over_ = false;  // what was taken to others
  std::exception_ptr failure_;
};

}  // namespace tracelens
