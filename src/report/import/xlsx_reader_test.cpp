#include "report/import/xlsx_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>
#include <tracelens/table_text.hpp>

#include "io/packing_samples.hpp"
#include "io/temporary_folder.hpp"
#include "report/sinks/sink.hpp"
#include "report/sinks/testing.hpp"

namespace tracelens {
namespace {

using io::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Table sheet(const std::string& rows) {
  return read_sheet_xml(
      "s", "s.xml",
      "<x:worksheet xmlns:x=\"u\"><x:sheetData>" + rows + "</x:sheetData></x:worksheet>",
      {"name", "a & b"});
}

TEST(XlsxReader, ReadsBackWhatWeWrite) {
  const TemporaryFolder folder;
  const std::vector<Table> tables = {testing::every_kind(), testing::one_column("second")};
  write_tables(tables, folder.path("r.xlsx"), {.title = "t"});
  ASSERT_TRUE(is_workbook(folder.path("r.xlsx")));
  const XlsxBook book{folder.path("r.xlsx")};
  EXPECT_THAT(book.sheets(), ElementsAre("ops", "second"));
  const Table ops = book.read("ops");
  ASSERT_EQ(ops.columns().size(), tables[0].columns().size());
  EXPECT_EQ(plain_text(ops.column("name"), 0), "aten::mm");
  EXPECT_EQ(plain_text(ops.column("count"), 0), "1234.0");  // real: a row is blank
  EXPECT_EQ(plain_text(ops.column("dims"), 0), "((8, 4), ())");
  EXPECT_TRUE(ops.column("time").is_missing(1));
  EXPECT_THROW(static_cast<void>(book.read("third")), Error);
}

std::string error_of(const std::string& rows) {
  try {
    (void)sheet(rows);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(XlsxReader, ACellHoldsWhatExcelLetsItHoldAndNoMore) {
  const auto cell_of = [](const std::string& text) {
    return "<x:row r=\"1\"><x:c t=\"inlineStr\"><x:is><x:t>" + text + "</x:t></x:is></x:c></x:row>";
  };
  std::string escapes;
  for (int i = 0; i < 32'767; ++i) escapes += "_x0009_";
  EXPECT_EQ(sheet(cell_of(escapes)).columns()[0].spec().name, std::string(32'767, '\t'));
  EXPECT_EQ(sheet(cell_of("_x000_x0009__x00410_x0009")).columns()[0].spec().name,
            "_x000\t_x00410_x0009");
  EXPECT_EQ(error_of(cell_of(std::string(300'000, 'x'))),
            "s.xml: has a cell of more than the 32,767 characters that a workbook can hold");
  EXPECT_EQ(error_of("<x:row r=\"" + std::string(2 << 20, '1') + "\"/>"),
            "s.xml: has a tag of more than 1 MB");
}

TEST(XlsxReader, ASharedTextIsBoundedToo) {
  const TemporaryFolder folder;
  const std::string relation = "<r><Relationship Id=\"a\" Target=\"s.xml\"/></r>";
  const auto book = [&](const std::string& text) {
    return XlsxBook{folder.write(
        "b.xlsx", io::zip({{"xl/workbook.xml", "<w><sheet name=\"s\" id=\"a\"/></w>"},
                           {"xl/_rels/workbook.xml.rels", relation},
                           {"xl/s.xml", "<s/>"},
                           {"xl/sharedStrings.xml", "<sst><si><t>" + text + "</t></si></sst>"}}))};
  };
  EXPECT_THAT(book("fine").sheets(), ElementsAre("s"));
  EXPECT_THROW((void)book(std::string(300'000, 'x')), Error);
}

TEST(XlsxReader, CellsSayWhereTheyAreOrFollowEachOther) {
  const Table table = sheet(
      "<x:row r=\"1\"><x:c r=\"A1\" t=\"s\"><x:v>0</x:v></x:c><x:c "
      "t=\"inlineStr\"><x:is><x:t>n</x:t>"
      "</x:is></x:c></x:row>"
      "<x:row r=\"3\"><x:c r=\"B3\"><x:f>1+1</x:f><x:v>2</x:v></x:c></x:row>");
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.columns()[0].spec().name, "name");
  EXPECT_TRUE(table.columns()[1].is_missing(0));
  EXPECT_EQ(table.columns()[1].reals()[1], 2);
}

TEST(XlsxReader, DamagedSheetsAreRefused) {
  EXPECT_THROW(static_cast<void>(sheet("<x:row>")), Error);
  EXPECT_THROW(static_cast<void>(sheet("<x:row r=\"9999999\"></x:row>")), Error);
  EXPECT_THROW(static_cast<void>(sheet("<x:row><x:c r=\"ZZZZ1\"><x:v>1</x:v></x:c></x:row>")),
               Error);
  EXPECT_THROW(static_cast<void>(sheet("<x:row><x:c t=\"s\"><x:v>7</x:v></x:c></x:row>")), Error);
  EXPECT_THROW(static_cast<void>(
                   read_sheet_xml("s", "s.xml", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>", {})),
               Error);
}

TEST(XlsxReader, OtherArchivesAreNoWorkbooks) {
  const TemporaryFolder folder;
  const std::string archive = folder.write("t.zip", io::zip({{"trace.json", "[]"}}));
  EXPECT_FALSE(is_workbook(archive));
  EXPECT_THROW(XlsxBook{archive}, Error);
  EXPECT_FALSE(is_workbook(folder.write("t.json", "[]")));
}

}  // namespace
}  // namespace tracelens
