#include "report/xlsx/sheet.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "report/xlsx/notes.hpp"
#include "report/xlsx/styles.hpp"

namespace tracelens::xlsx {
namespace {

using ::testing::HasSubstr;

TEST(XlsxSheet, AreasAreNamedByTheirCorners) {
  EXPECT_EQ(area_name({0, 0, 8, 2}), "A1:C9");
  EXPECT_EQ(area_name({4, 27, 4, 27}), "AB5");
  EXPECT_EQ(absolute_area_name({0, 0, 8, 2}), "$A$1:$C$9");
}

TEST(XlsxSheet, NumbersReadBackAsTheyWere) {
  std::string xml;
  Cells cells{xml, 3};
  cells.begin_row(9);
  cells.number(0, 0.1 + 0.2, 7);
  cells.number(1, 1e300, kPlain);
  cells.integer(2, -9'007'199'254'740'992, kPlain);
  cells.end_row();
  EXPECT_EQ(xml,
            "<row r=\"10\"><c r=\"A10\" s=\"7\"><v>0.30000000000000004</v></c>"
            "<c r=\"B10\"><v>1e+300</v></c><c r=\"C10\"><v>-9007199254740992</v></c></row>");
}

TEST(XlsxSheet, SpaceAroundTextsIsKept) {
  std::string xml;
  Cells cells{xml, 1};
  cells.begin_row(0);
  cells.text(0, " a<b", kPlain);
  EXPECT_THAT(xml, HasSubstr("<t xml:space=\"preserve\"> a&lt;b</t>"));
}

TEST(XlsxNotes, TheBoxStandsBesideItsCellAndSkipsHiddenColumns) {
  const std::array<Column, 3> columns = {
      Column{.width = 20}, Column{.width = 30, .is_hidden = true}, Column{.width = 10}};
  const std::array<Note, 1> notes = {Note{0, "a\nb"}};
  // 15 pixels into the third column of 75; 256 further is 196 behind it, in columns of 64.
  EXPECT_THAT(note_shapes_xml(notes, columns, 3),
              HasSubstr("<x:Anchor>2, 15, 0, 2, 6, 4, 3, 16</x:Anchor>"));
  EXPECT_THAT(note_shapes_xml(notes, columns, 3), HasSubstr("id=\"_x0000_s3073\""));
  EXPECT_THAT(notes_xml(notes), HasSubstr("ref=\"A1\""));
}

}  // namespace
}  // namespace tracelens::xlsx
