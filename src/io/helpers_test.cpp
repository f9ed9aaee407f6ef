#include "io/helpers.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tracelens::io {
namespace {

// Everybody waits in it until so many are there.
class Meeting {
 public:
  explicit Meeting(std::size_t all) : all_{all} {}
  void come() {
    std::unique_lock lock{mutex_};
    ++there_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return there_ >= all_; });
  }

 private:
  const std::size_t all_;
  std::size_t there_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
};

// The threads that come for this; all at the same time.
std::set<std::thread::id> threads_of(std::size_t helpers) {
  Meeting meeting{helpers + 1};
  std::mutex mutex;
  std::set<std::thread::id> threads;
  work_together(helpers, [&](std::size_t) {
    meeting.come();
    const std::lock_guard lock{mutex};
    threads.insert(std::this_thread::get_id());
  });
  return threads;
}

TEST(Helpers, AloneTheOneWhoAsksDoesTheWork) {
  std::vector<std::size_t> seats;
  work_together(0, [&](std::size_t seat) { seats.push_back(seat); });
  EXPECT_EQ(seats, std::vector<std::size_t>{0});
}

TEST(Helpers, AsManyComeAsAreWanted) {
  constexpr std::size_t kHelpers = 6;
  Meeting meeting{kHelpers + 1};
  std::vector<std::atomic<int>> seats(kHelpers + 1);
  const std::thread::id own = std::this_thread::get_id();
  work_together(kHelpers, [&](std::size_t seat) {
    meeting.come();
    EXPECT_EQ(seat == 0, std::this_thread::get_id() == own);
    ++seats.at(seat);
  });
  for (const auto& seat : seats) EXPECT_EQ(seat, 1);
}

TEST(Helpers, TheSameThreadsComeAgain) {
  std::set<std::thread::id> all;
  for (int i = 0; i < 50; ++i) all.merge(threads_of(3));
  // Fewer than the 150 that all calls together asked for: those of other tests may come as well, and on a busy
  // machine some go between two calls.
  EXPECT_LE(all.size(), 100u);
}

TEST(Helpers, NobodyIsWaitedForWhoHasNotCome) {
  // As many as there ever are for so many are busy until the one who asks is done. No other test asks for more.
  constexpr std::size_t kMany = 20;
  std::atomic<bool> is_done = false;
  Meeting meeting{2 * kMany + 3};
  const auto keep_busy = [&](std::size_t) {
    meeting.come();
    while (!is_done) std::this_thread::yield();
  };
  std::thread one{[&] { work_together(kMany, keep_busy); }},
      other{[&] { work_together(kMany, keep_busy); }};
  meeting.come();
  std::atomic<int> calls = 0;
  work_together(kMany, [&](std::size_t) { ++calls; });
  EXPECT_EQ(calls, 1);
  is_done = true;
  one.join();
  other.join();
}

// What /proc/self/status says.
int thread_count_of_process() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;)
    if (int count = 0; word == "Threads:" && status >> count) return count;
  return -1;
}

TEST(Helpers, TheyGoWhenNobodyAsks) {
  Meeting all{7}, counted{7};
  int with_helpers = 0;
  work_together(6, [&](std::size_t seat) {
    all.come();
    if (seat == 0) with_helpers = thread_count_of_process();
    counted.come();  // nobody goes before
  });
  for (int tries = 0; tries < 6000 && thread_count_of_process() > with_helpers - 6; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  EXPECT_LE(thread_count_of_process(), with_helpers - 6);
  EXPECT_EQ(threads_of(6).size(), 7u);  // and others come
}

TEST(Helpers, SignalsAreForTheProgram) {
  std::atomic<int> blocked = 0;
  Meeting meeting{3};
  work_together(2, [&](std::size_t seat) {
    meeting.come();
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    const bool is_for_program = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGBUS) == 0;
    EXPECT_EQ(is_for_program, seat != 0);
    blocked += is_for_program;
  });
  EXPECT_EQ(blocked, 2);
}

TEST(Helpers, HelpersAskForHelpers) {
  std::atomic<int> leaves = 0;
  const auto part = [&](std::atomic<int>& next, int parts, const auto& use) {
    work_together(3, [&](std::size_t) {
      while (next++ < parts) use();
    });
  };
  std::atomic<int> outer = 0;
  part(outer, 20, [&] {
    std::atomic<int> middle = 0;
    part(middle, 20, [&] {
      std::atomic<int> inner = 0;
      part(inner, 5, [&] { ++leaves; });
    });
  });
  EXPECT_EQ(leaves, 20 * 20 * 5);
}

TEST(Helpers, SeveralMayAskAtOnce) {
  std::vector<std::thread> askers;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i)
    askers.emplace_back([&done] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<int> next = 0;
        work_together(5, [&](std::size_t) {
          while (next++ < 10) ++done;
        });
      }
    });
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(done, 4 * 200 * 10);
}

TEST(Helpers, AFailureIsThrownWhenAllAreDone) {
  for (std::size_t failing = 0; failing < 4; ++failing) {
    Meeting meeting{4};
    std::atomic<int> ended = 0;
    EXPECT_THROW(work_together(3,
                               [&](std::size_t seat) {
                                 meeting.come();
                                 if (seat == failing) throw std::runtime_error{"seat"};
                                 ++ended;
                               }),
                 std::runtime_error);
    EXPECT_EQ(ended, 3);
  }
  EXPECT_EQ(threads_of(3).size(), 4u);  // they come as before
}

// ThreadSanitizer ends a process that starts threads after such a fork, and AddressSanitizer's allocator may be
// locked in it for ever by a thread that is not there any more.
#if defined(__has_feature)
#define TL_HAS_FEATURE(feature) __has_feature(feature)
#else
#define TL_HAS_FEATURE(feature) 0
#endif
#if !TL_HAS_FEATURE(thread_sanitizer) && !TL_HAS_FEATURE(address_sanitizer)
TEST(Helpers, AForkedProcessGetsItsOwn) {
  EXPECT_EQ(threads_of(2).size(), 3u);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(threads_of(2).size() == 3 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Helpers, WithoutThreadsTheOneWhoAsksDoesTheWork) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{1 << 20, 1 << 20};  // no room for a stack
    ::setrlimit(RLIMIT_DATA, &none);
    pthread_attr_t larger;  // than the stacks that threads of other tests left behind
    ::pthread_attr_init(&larger);
    ::pthread_attr_setstacksize(&larger, 64 << 20);
    ::pthread_setattr_default_np(&larger);
    int calls = 0;
    for (int i = 0; i < 3; ++i) work_together(2, [&](std::size_t) { ++calls; });
    ::_exit(calls == 3 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
#endif

}  // namespace
}  // namespace tracelens::io
