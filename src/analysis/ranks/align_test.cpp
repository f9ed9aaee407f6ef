#include "analysis/ranks/align.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracelens {
namespace {

using testing::ElementsAre;

TEST(Align, EqualListsPairOneByOne) {
  const std::vector<AlignEntry> list{{1, 10}, {2, 20}, {1, 30}};
  EXPECT_THAT(align(list, list), ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(align(list, {}), ElementsAre());
}

TEST(Align, AMissingEntryDoesNotShiftTheOthers) {
  const std::vector<AlignEntry> pivot{{1, 10}, {2, 20}, {3, 30}, {1, 40}};
  const std::vector<AlignEntry> other{{1, 11}, {3, 31}, {1, 41}};
  EXPECT_THAT(align(pivot, other), ElementsAre(0u, 2u, 3u));
}

TEST(Align, AnExtraEntryStaysAlone) {
  const std::vector<AlignEntry> pivot{{1, 10}, {1, 40}};
  const std::vector<AlignEntry> other{{1, 11}, {9, 25}, {1, 41}};
  EXPECT_THAT(align(pivot, other), ElementsAre(0u, kUnpaired, 1u));
}

TEST(Align, OfEqualKindsTheTimesTellWhichIsMissing) {
  const std::vector<AlignEntry> pivot{{1, 100}, {1, 200}, {1, 300}, {1, 400}};
  const std::vector<AlignEntry> other{{1, 105}, {1, 305}, {1, 395}};
  EXPECT_THAT(align(pivot, other), ElementsAre(0u, 2u, 3u));
}

TEST(Align, AConstantClockDifferenceDoesNotMatter) {
  const std::vector<AlignEntry> pivot{{1, 1000}, {1, 2000}, {1, 3000}, {1, 4000}};
  const std::vector<AlignEntry> other{{1, 2400}, {1, 3400}, {1, 4400}};
  EXPECT_THAT(align(pivot, other), ElementsAre(1u, 2u, 3u));
}

TEST(Align, ClocksHoursApartDoNotMatter) {
  constexpr std::int64_t kHours = 32'400'000'000'000;
  const std::vector<AlignEntry> pivot{{1, 100}, {1, 200}, {1, 300}, {1, 420}, {1, 500}, {1, 600}};
  for (const std::int64_t ahead : {kHours, -kHours, std::int64_t{5000}}) {
    std::vector<AlignEntry> other = pivot;
    other.erase(other.begin() + 2);
    for (AlignEntry& entry : other) entry.end_ns += ahead;
    EXPECT_THAT(align(pivot, other), ElementsAre(0u, 1u, 3u, 4u, 5u)) << ahead;
  }
}

TEST(Align, ListsThatDifferTooMuchArePairedInOrder) {
  const std::vector<AlignEntry> pivot(10'000, AlignEntry{1, 0});
  const std::vector<AlignEntry> other{{1, 0}, {2, 0}};
  EXPECT_THAT(align(pivot, other), ElementsAre(0u, kUnpaired));
}

}  // namespace
}  // namespace tracelens
