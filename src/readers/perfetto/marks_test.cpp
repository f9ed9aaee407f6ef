#include "readers/perfetto/marks.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tracelens::perfetto {
namespace {

// A row that has nothing but a name and a time.
MarkRow plain_row(std::int64_t ts_ns) {
  MarkRow row{.row = {.ts_ns = ts_ns,
                      .dur_ns = kAbsent,
                      .correlation = kAbsent,
                      .name = 1,
                      .track = 0,
                      .signature = kNone,
                      .category = Category::kNone,
                      .phase = Phase::kOther,
                      .begin_end = 0}};
  row.numbers.fill(kAbsent);
  row.texts.fill(kNone);
  return row;
}

void add_begin(MarkLog& log, std::int64_t ts_ns, std::uint32_t track = 0) {
  log.add({.ts_ns = ts_ns, .order = log.begins(), .track = track, .row = plain_row(ts_ns)});
}

std::vector<Mark> all_marks(MarkLog& log) {
  MarksByTime by_time{log.take()};
  std::vector<Mark> marks;
  for (Mark mark; by_time.next(mark);) marks.push_back(mark);
  return marks;
}

TEST(MarkLog, GivesMarksInTheOrderOfTimeAndThoseOfOneTimeAsTheFileHasThem) {
  MarkLog log;
  for (const std::int64_t ts_ns : {30, 10, 20}) add_begin(log, ts_ns, 0);
  for (const std::int64_t ts_ns : {20, 10, 40}) add_begin(log, ts_ns, 1);
  std::vector<std::pair<std::int64_t, std::uint64_t>> order;
  for (const Mark& mark : all_marks(log)) order.emplace_back(mark.ts_ns, mark.order);
  EXPECT_EQ(order, (std::vector<std::pair<std::int64_t, std::uint64_t>>{
                       {10, 1}, {10, 4}, {20, 2}, {20, 3}, {30, 0}, {40, 5}}));
}

TEST(MarkLog, SortsMoreMarksThanARunHolds) {
  constexpr std::int64_t kMarks = 20'000;
  MarkLog log;
  for (std::int64_t i = 0; i < kMarks; ++i) add_begin(log, i * 7919 % kMarks, i % 3 == 0 ? 0 : 1);
  const std::vector<Mark> marks = all_marks(log);
  ASSERT_EQ(marks.size(), static_cast<std::size_t>(kMarks));
  for (std::int64_t i = 0; i < kMarks; ++i) {
    const Mark& mark = marks[static_cast<std::size_t>(i)];
    ASSERT_EQ(mark.ts_ns, i);
    ASSERT_EQ(mark.ts_ns, static_cast<std::int64_t>(mark.order) * 7919 % kMarks);
    ASSERT_EQ(mark.track, mark.order % 3 == 0 ? 0U : 1U);
  }
}

TEST(MarkLog, KeepsAllThatAMarkTells) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  MarkLog log;
  Mark begin{.ts_ns = -5, .track = 3, .name = 9, .category = 8, .thread = 7, .dur_ns = 11};
  begin.has_track_name = true;
  begin.row = plain_row(kLeast);  // such a time cannot be used, but must not be mixed up
  begin.row.row = {.ts_ns = kLeast,
                   .dur_ns = 12,
                   .correlation = std::numeric_limits<std::int64_t>::max(),
                   .name = 9,
                   .track = 0,
                   .signature = 4,
                   .category = Category::kOtherCategory,
                   .phase = Phase::kDamaged,
                   .begin_end = 0};
  begin.row.numbers = {1, -2, 3, kAbsent, 5};
  begin.row.texts = {kNone, 22, 23};
  log.add(begin);
  log.add({.ts_ns = 6,
           .order = 1,
           .track = 2,
           .is_end = true,
           .name = 9,
           .category = 8,
           .end_args = 2});
  EXPECT_EQ(log.begins(), 1U);
  EXPECT_EQ(log.ends(), 1U);

  const std::vector<Mark> marks = all_marks(log);
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_EQ(marks[0].ts_ns, -5);
  EXPECT_EQ(marks[0].track, 3U);
  EXPECT_EQ(marks[0].name, 9U);
  EXPECT_EQ(marks[0].category, 8U);
  EXPECT_EQ(marks[0].thread, 7U);
  EXPECT_EQ(marks[0].dur_ns, 11);
  EXPECT_TRUE(marks[0].has_track_name);
  EXPECT_EQ(marks[0].row.row.ts_ns, kLeast);
  EXPECT_EQ(marks[0].row.row.dur_ns, 12);
  EXPECT_EQ(marks[0].row.row.correlation, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(marks[0].row.row.signature, 4U);
  EXPECT_EQ(marks[0].row.row.category, Category::kOtherCategory);
  EXPECT_EQ(marks[0].row.row.phase, Phase::kDamaged);
  EXPECT_EQ(marks[0].row.numbers, begin.row.numbers);
  EXPECT_EQ(marks[0].row.texts, begin.row.texts);
  EXPECT_TRUE(marks[1].is_end);
  EXPECT_EQ(marks[1].track, 2U);
  EXPECT_EQ(marks[1].name, 9U);
  EXPECT_EQ(marks[1].category, 8U);
  EXPECT_EQ(marks[1].end_args, 2U);
}

TEST(MarkLog, TakesMarksOfAnyOrder) {
  MarkLog log;
  for (const std::uint64_t order : {7U, 3U, 5U})
    log.add({.ts_ns = 10, .order = order, .row = plain_row(10)});
  std::vector<std::uint64_t> orders;
  for (const Mark& mark : all_marks(log)) orders.push_back(mark.order);
  EXPECT_EQ(orders, (std::vector<std::uint64_t>{3, 5, 7}));
}

TEST(MarkRow, IsTheSameRowInAnotherBlock) {
  kineto::ParsedBlock block;
  block.rows.push_back(plain_row(3).row);
  block.streams.push_back({0, 5});
  block.details.push_back({0, 6});
  kineto::ParsedBlock other;
  MarkRow::first_of(block).append_to(other);
  MarkRow::first_of(block).append_to(other);
  ASSERT_EQ(other.rows.size(), 2U);
  EXPECT_EQ(other.rows[1].ts_ns, 3);
  ASSERT_EQ(other.streams.size(), 2U);
  EXPECT_EQ(other.streams[1].row, 1U);
  EXPECT_EQ(other.streams[1].value, 5);
  EXPECT_EQ(other.details[1].text, 6U);
  EXPECT_TRUE(other.devices.empty());
  ArgumentCounts counts;
  MarkRow::first_of(block).count_in(counts);
  EXPECT_EQ(counts.streams, 1U);
  EXPECT_EQ(counts.details, 1U);
  EXPECT_EQ(counts.devices, 0U);
}

}  // namespace
}  // namespace tracelens::perfetto
