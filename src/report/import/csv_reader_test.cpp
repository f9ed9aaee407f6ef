#include "report/import/csv_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/table_text.hpp>

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Kind> kinds(const Table& table) {
  std::vector<Kind> result;
  for (const Table::Column& column : table.columns()) result.push_back(column.spec().kind);
  return result;
}

TEST(CsvReader, ColumnsGetTheirKindsFromAllTheirCells) {
  const Table table = read_csv_table("t", "a,b,c,d,e\n1,1,1.5,True,x\n2,,NaN,False,7\n");
  EXPECT_THAT(kinds(table),
              ElementsAre(Kind::kInteger, Kind::kReal, Kind::kReal, Kind::kBool, Kind::kText));
  EXPECT_TRUE(table.columns()[1].is_missing(1));
  EXPECT_TRUE(table.columns()[2].is_missing(1));
  EXPECT_EQ(plain_text(table.columns()[4], 1), "7");
}

TEST(CsvReader, QuotesHoldCommasQuotesAndLineBreaks) {
  const Table table = read_csv_table("t", "a,b\r\n\"x, \"\"y\"\"\nz\",2\r\n");
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(plain_text(table.columns()[0], 0), "x, \"y\"\nz");
  EXPECT_EQ(plain_text(table.columns()[1], 0), "2");
}

TEST(CsvReader, DamagedFilesGiveWhatIsThere) {
  EXPECT_THAT(read_csv_table("t", "").columns(), IsEmpty());
  EXPECT_THAT(read_csv_table("t", "\n").columns(), IsEmpty());
  EXPECT_THAT(read_csv_table("t", "\"\"\n").columns(), IsEmpty());
  const Table ragged = read_csv_table("t", "a,b,a\n1\n2,3,4,5\n\"open");
  ASSERT_EQ(ragged.rows(), 3U);
  EXPECT_EQ(ragged.columns()[2].spec().name, "a.1");
  EXPECT_TRUE(ragged.columns()[1].is_missing(0));
}

TEST(CsvReader, TextThatWasGuardedAgainstSpreadsheetsIsItselfAgain) {
  const std::string text = "name,n\n'=cmd|x,-1\n'-x,2\n'quoted',3\n";
  const Table ours = read_csv_table("t", text);
  EXPECT_EQ(ours.column("name").texts()[0], "=cmd|x");
  EXPECT_EQ(ours.column("name").texts()[1], "-x");
  EXPECT_EQ(ours.column("name").texts()[2], "'quoted'");
  EXPECT_EQ(ours.column("n").integers()[0], -1);
  EXPECT_EQ(read_csv_table("t", text, Edition::kReference).column("name").texts()[0], "'=cmd|x");
}

}  // namespace
}  // namespace tracelens
