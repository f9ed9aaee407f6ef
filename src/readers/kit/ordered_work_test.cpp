#include "readers/kit/ordered_work.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace tracelens {
namespace {

struct Piece {
  int number = 0, squared = 0;
};

TEST(OrderedWork, AcceptsThePiecesInTheOrderTheyWereTaken) {
  for (const int threads : {1, 2, 4, 9}) {
    int next = 0;
    std::vector<int> accepted;
    OrderedWork work{[&](Piece& piece) {
                       piece.number = next++;
                       return piece.number < 100;
                     },
                     [](Piece& piece) { piece.squared = piece.number * piece.number; },
                     [&](Piece& piece) { accepted.push_back(piece.squared); }};
    work.run(threads, [] { return Piece{}; });
    ASSERT_EQ(accepted.size(), 100U);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(accepted[static_cast<std::size_t>(i)], i * i);
  }
}

TEST(OrderedWork, CompletesEveryPieceAfterItWasAccepted) {
  for (const int threads : {1, 2, 4, 9}) {
    int next = 0;
    std::vector<int> accepted(100);
    std::vector<std::atomic<int>> completed(100);
    OrderedWork work{
        [&](Piece& piece) {
          piece.number = next++;
          return piece.number < 100;
        },
        [](Piece&) {},
        [&](Piece& piece) { accepted[static_cast<std::size_t>(piece.number)] = piece.number + 1; },
        [&](Piece& piece) {
          const auto at = static_cast<std::size_t>(piece.number);
          completed[at] += accepted[at];
        }};
    work.run(threads, [] { return Piece{}; });
    for (int i = 0; i < 100; ++i) EXPECT_EQ(completed[static_cast<std::size_t>(i)], i + 1);
  }
}

// Of many threads one takes and the others work: whoever comes while a piece is being taken gets the next.
TEST(OrderedWork, ThreadsThatWaitForASlowInputAllGetPieces) {
  for (const int threads : {2, 4, 9}) {
    std::atomic<int> in_take = 0, most_in_take = 0;
    int next = 0;
    std::vector<int> accepted;
    OrderedWork work{[&](Piece& piece) {
                       most_in_take = std::max<int>(most_in_take, ++in_take);
                       std::this_thread::sleep_for(std::chrono::microseconds{100});
                       piece.number = next++;
                       --in_take;
                       return piece.number < 200;
                     },
                     [](Piece&) { std::this_thread::sleep_for(std::chrono::microseconds{150}); },
                     [&](Piece& piece) { accepted.push_back(piece.number); }};
    work.run(threads, [] { return Piece{}; });
    EXPECT_EQ(most_in_take, 1);
    ASSERT_EQ(accepted.size(), 200U);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(accepted[static_cast<std::size_t>(i)], i);
  }
}

TEST(OrderedWork, IsNotAskedForMoreAfterTheEndOrAFailure) {
  for (const bool throws : {false, true}) {
    int calls = 0;
    OrderedWork work{[&](Piece&) {
                       if (++calls < 10) return true;
                       if (throws) throw std::runtime_error{"the disk is gone"};
                       return false;
                     },
                     [](Piece&) {}, [](Piece&) {}};
    if (throws)
      EXPECT_THROW(work.run(4, [] { return Piece{}; }), std::runtime_error);
    else
      work.run(4, [] { return Piece{}; });
    EXPECT_EQ(calls, 10);
  }
}

TEST(OrderedWork, AFailureOfAnyStepEndsItAndIsThrown) {
  enum class Step { kMake, kTake, kWork, kAccept, kComplete };
  for (const int threads : {1, 3, 4, 9})
    for (const Step failing :
         {Step::kMake, Step::kTake, Step::kWork, Step::kAccept, Step::kComplete}) {
      if (failing == Step::kMake && threads == 1) continue;  // it needs but one
      const auto fail_at = [failing](Step step, bool is_reached) {
        if (step == failing && is_reached) throw std::runtime_error{"step"};
      };
      int next = 0;
      std::atomic<int> made = 0;
      OrderedWork work{[&](Piece& piece) {
                         fail_at(Step::kTake, next == 20);
                         piece.number = next++;
                         std::this_thread::sleep_for(std::chrono::microseconds{10});
                         return piece.number < 1'000'000;
                       },
                       [&](Piece& piece) { fail_at(Step::kWork, piece.number == 20); },
                       [&](Piece& piece) { fail_at(Step::kAccept, piece.number == 20); },
                       [&](Piece& piece) { fail_at(Step::kComplete, piece.number == 20); }};
      EXPECT_THROW(work.run(threads,
                            [&] {
                              fail_at(Step::kMake, ++made == 2);
                              return Piece{};
                            }),
                   std::runtime_error);
      EXPECT_LT(next, 1'000'000);
    }
}

// Two threads and three workers: while one accepts piece 0, the other hands in piece 1 and begins piece 2.
class SlowAccept {
 public:
  explicit SlowAccept(bool fails) : fails_{fails} {}

  void run() {
    OrderedWork work{[this](Piece& piece) {
                       piece.number = next_++;
                       return piece.number < 20;
                     },
                     [this](Piece& piece) {
                       if (piece.number != 2) return;
                       accepting_.get_future().wait();
                       third_begins_.set_value();
                       if (fails_) throw std::runtime_error{"work"};
                     },
                     [this](Piece& piece) {
                       if (piece.number == 0) {
                         accepting_.set_value();
                         goes_on_ = third_begins_.get_future().wait_for(std::chrono::minutes{1}) ==
                                    std::future_status::ready;
                       }
                       accepted_.push_back(piece.number);
                     }};
    work.run(
        2, [] { return Piece{}; }, 1);
  }
  [[nodiscard]] bool goes_on() const { return goes_on_; }
  [[nodiscard]] const std::vector<int>& accepted() const { return accepted_; }

 private:
  bool fails_;
  int next_ = 0;
  std::promise<void> accepting_, third_begins_;
  bool goes_on_ = false;
  std::vector<int> accepted_;
};

TEST(OrderedWork, TheOthersGoOnWhileOneAccepts) {
  SlowAccept slow{false};
  slow.run();
  EXPECT_TRUE(slow.goes_on());
  ASSERT_EQ(slow.accepted().size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(slow.accepted()[static_cast<std::size_t>(i)], i);
}

TEST(OrderedWork, AFailureBesideTheAcceptingThreadEndsItToo) {
  SlowAccept slow{true};
  EXPECT_THROW(slow.run(), std::runtime_error);
  EXPECT_TRUE(slow.goes_on());
  EXPECT_LE(slow.accepted().size(), 2U);  // what was there before the failure was known
}

}  // namespace
}  // namespace tracelens
