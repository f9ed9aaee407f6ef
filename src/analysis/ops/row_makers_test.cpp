#include "analysis/ops/row_makers.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tracelens {
namespace {

TEST(KernelRoom, RowsTakeWhatTheirFirstCallWithKernelsHas) {
  const std::size_t kernels[] = {0, 3, 2, 9, 4};
  const auto kernels_of = [&](std::uint32_t call) { return kernels[call]; };
  KernelRoom room{10};
  const std::uint32_t first[] = {0, 1, 2}, none[] = {0}, large[] = {3}, last[] = {4};
  EXPECT_EQ(room.next(first, kernels_of), 10u);
  EXPECT_EQ(room.next(none, kernels_of), 7u);
  EXPECT_EQ(room.next(large, kernels_of), 7u);  // 9 find no room
  EXPECT_EQ(room.next(last, kernels_of), 7u);
  EXPECT_EQ(room.next(last, kernels_of), 3u);
}

struct NumberRow {
  std::int64_t number = 0;
};

class NumberMaker {
 public:
  NumberRow& make(std::size_t i) {
    row_.number = static_cast<std::int64_t>(i) * 7;
    return row_;
  }

 private:
  NumberRow row_;
};

TEST(RowMakers, RowsStandInTheirOrderWhoeverMadeThem) {
  ColumnSet<NumberRow> columns{{{"number", Kind::kInteger, "", "of the row"}, &NumberRow::number}};
  for (const std::size_t rows : {0U, 1U, 3U, 255U, 1000U})
    for (const int threads : {1, 4}) {
      Table table = columns.make_table("numbers", "");
      append_rows(table, columns, rows, io::kManyItems, threads, [] { return NumberMaker{}; });
      ASSERT_EQ(table.rows(), rows);
      for (std::size_t i = 0; i < rows; ++i)
        ASSERT_EQ(table.column("number").integers()[i], static_cast<std::int64_t>(i) * 7);
    }
}

}  // namespace
}  // namespace tracelens
