#include "readers/kit/ordered_work.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace tracelens {
namespace {

struct Piece {
  int number = 0, squared = 0;
};

TEST(OrderedWork, AcceptsThePiecesInTheOrderTheyWereTaken) {
  for (const int threads : {1, 2, 5}) {
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
  for (const int failing : {0, 1}) {
    int next = 0;
    OrderedWork work{[&](Piece& piece) {
                       piece.number = next++;
                       return piece.number < 1'000'000;
                     },
                     [&](Piece& piece) {
                       if (failing == 0 && piece.number == 20) throw std::runtime_error{"work"};
                     },
                     [&](Piece& piece) {
                       if (failing == 1 && piece.number == 20) throw std::runtime_error{"accept"};
                     }};
    EXPECT_THROW(work.run(3, [] { return Piece{}; }), std::runtime_error);
    EXPECT_LT(next, 1'000'000);
  }
}

}  // namespace
}  // namespace tracelens
