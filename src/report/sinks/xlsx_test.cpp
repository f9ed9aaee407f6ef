#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"
#include "report/sinks/sink.hpp"
#include "report/sinks/testing.hpp"

namespace tracelens {
namespace {

using io::TemporaryFolder;
using testing::every_kind;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::one_column;

// The parts of a workbook by their path inside it.
std::map<std::string, std::string> unpack(const std::string& path) {
  std::map<std::string, std::string> parts;
  int error = 0;
  const std::unique_ptr<zip_t, decltype(&zip_discard)> archive{
      zip_open(path.c_str(), ZIP_RDONLY, &error), zip_discard};
  EXPECT_NE(archive, nullptr) << path;
  if (!archive) return parts;
  for (zip_int64_t i = 0; i < zip_get_num_entries(archive.get(), 0); ++i) {
    zip_stat_t info{};
    zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &info);
    std::string text(info.size, '\0');
    zip_file_t* part = zip_fopen_index(archive.get(), static_cast<zip_uint64_t>(i), 0);
    EXPECT_EQ(zip_fread(part, text.data(), text.size()), static_cast<zip_int64_t>(text.size()));
    zip_fclose(part);
    parts[info.name] = std::move(text);
  }
  return parts;
}

std::map<std::string, std::string> workbook(std::vector<Table> tables) {
  const TemporaryFolder folder;
  write_tables(tables, folder.path("r.xlsx"), {.title = "My report", .version = "0.1.0"});
  return unpack(folder.path("r.xlsx"));
}

std::string first_sheet(Table table) {
  return workbook({std::move(table)})["xl/worksheets/sheet1.xml"];
}

template <class T>
Table one_cell(Kind kind, T cell, const std::string& unit = "") {
  const ColumnSpec columns[] = {{"c", kind, unit, ""}};
  Table table{"t", "", columns};
  table.add_row(std::move(cell));
  return table;
}

TEST(XlsxSink, CellsAreTyped) {
  const std::string sheet = first_sheet(every_kind());
  EXPECT_THAT(sheet, HasSubstr(R"(<c r="A2" t="inlineStr"><is><t>aten::mm</t></is></c>)"));
  EXPECT_THAT(sheet, ::testing::ContainsRegex(R"(<c r="B2" s="[0-9]+"><v>12</v></c>)"));
  EXPECT_THAT(sheet, ::testing::ContainsRegex(R"(<c r="C2" s="[0-9]+"><v>1234</v></c>)"));
  EXPECT_THAT(sheet, HasSubstr(R"(<c r="D2" t="b"><v>1</v></c>)"));
  EXPECT_THAT(sheet, HasSubstr("<t>((8, 4), ())</t>"));
}

// Blocks of rows are made apart and packed by any thread.
TEST(XlsxSink, AWorkbookIsTheSameWithAnyNumberOfThreads) {
  const ColumnSpec columns[] = {{"n", Kind::kInteger, "", ""}, {"text", Kind::kText, "", ""}};
  std::vector<Table> tables = {Table{"long", "", columns}, every_kind()};
  for (int i = 0; i < 20'000; ++i) tables[0].add_row(i, "row " + std::to_string(i));
  std::string first;
  for (const int threads : {1, 2, 5}) {
    const TemporaryFolder folder;
    write_tables(tables, folder.path("r.xlsx"), {.threads = threads});
    std::ifstream file{folder.path("r.xlsx")};
    const std::string book{std::istreambuf_iterator<char>{file}, {}};
    if (first.empty()) first = book;
    EXPECT_TRUE(book == first) << threads;
  }
  const std::string sheet = workbook(tables)["xl/worksheets/sheet1.xml"];
  std::size_t at = 0;
  for (int i = 1; i <= 20'001; ++i) {
    at = sheet.find("<row r=\"" + std::to_string(i) + "\">", at);
    ASSERT_NE(at, sheet.npos) << i;
  }
  EXPECT_THAT(sheet, HasSubstr("<t>row 19999</t></is></c></row></sheetData>"));
}

TEST(XlsxSink, MissingCellsAreNotThere) {
  const std::string sheet = first_sheet(every_kind());
  for (const char* cell : {"\"A3\"", "\"B3\"", "\"C3\"", "\"D3\"", "\"E3\""})
    EXPECT_THAT(sheet, Not(HasSubstr(cell)));
}

TEST(XlsxSink, TextIsNeverAFormulaOrALink) {
  EXPECT_THAT(first_sheet(one_cell(Kind::kText, "=1+1")), HasSubstr("<t>=1+1</t>"));
  const auto parts = workbook({one_cell(Kind::kText, "https://example.com")});
  EXPECT_THAT(parts.at("xl/worksheets/sheet1.xml"), Not(HasSubstr("hyperlink")));
}

TEST(XlsxSink, InfinityAndIntegersBeyondADoubleAreText) {
  EXPECT_THAT(first_sheet(one_cell(Kind::kReal, std::numeric_limits<double>::infinity())),
              HasSubstr("<t>inf</t>"));
  EXPECT_THAT(first_sheet(one_cell(Kind::kInteger, std::int64_t{9007199254740993})),
              HasSubstr("<t>9007199254740993</t>"));
}

TEST(XlsxSink, ControlCharactersAreDroppedAndInvalidBytesReplaced) {
  EXPECT_THAT(first_sheet(one_cell(Kind::kText, std::string{"a\0\x1b\x08z\xff", 6})),
              HasSubstr("<t>az\ufffd</t>"));
}

TEST(XlsxSink, TextIsCutAtTheLimitOfACellBetweenCodePoints) {
  std::string text;
  for (int i = 0; i < 32'767; ++i) text += "µ";
  EXPECT_NE(first_sheet(one_cell(Kind::kText, text)).find("<t>" + text + "</t>"),
            std::string::npos);
  const std::string mark = " ... [cut: longer than a cell holds]";
  const std::string cut = text.substr(0, 2 * (32'767 - mark.size())) + mark;
  EXPECT_NE(first_sheet(one_cell(Kind::kText, text + "µ")).find("<t>" + cut + "</t>"),
            std::string::npos);
}

TEST(XlsxSink, HeaderIsFrozenFilteredAndBold) {
  const std::string sheet = first_sheet(every_kind());
  EXPECT_THAT(sheet, HasSubstr(R"(<pane ySplit="1" topLeftCell="A2")"));
  EXPECT_THAT(sheet, HasSubstr(R"(<autoFilter ref="A1:E4"/>)"));
  EXPECT_THAT(sheet, HasSubstr(R"(<c r="A1" s="1" t="inlineStr"><is><t>name</t></is></c>)"));
  EXPECT_THAT(workbook({every_kind()})["xl/styles.xml"], HasSubstr("<b/>"));
}

TEST(XlsxSink, HeaderNotesHoldDescriptionAndUnit) {
  auto parts = workbook({every_kind()});
  const std::string& notes = parts["xl/comments1.xml"];
  EXPECT_THAT(notes, HasSubstr("op name as traced"));
  EXPECT_THAT(notes, HasSubstr("busy time\nunit: ms"));
  EXPECT_THAT(notes, Not(HasSubstr("ref=\"D1\"")));  // it has neither
}

TEST(XlsxSink, ColumnsAreAsWideAsTheirContentWithinLimits) {
  EXPECT_THAT(first_sheet(one_cell(Kind::kText, std::string(30, 'x'))),
              HasSubstr(R"(<col min="1" max="1" width="31.7109375")"));
  EXPECT_THAT(first_sheet(one_cell(Kind::kText, std::string(300, 'x'))),
              HasSubstr(R"(<col min="1" max="1" width="60.7109375")"));
}

TEST(XlsxSink, NumberFormatFollowsTheUnit) {
  EXPECT_THAT(workbook({one_cell(Kind::kReal, 1.0, "ms")})["xl/styles.xml"],
              HasSubstr(R"(formatCode="#,##0.00##")"));
}

TEST(XlsxSink, SheetNamesAreLegalShortAndUnique) {
  const std::string long_name = "InferenceAttention_fwd_kl_overlap";
  const std::string names =
      workbook({one_column(long_name), one_column(long_name), one_column("a/b[c]:'*?\\"),
                one_column("History"), one_column("")})["xl/workbook.xml"];
  EXPECT_THAT(names, HasSubstr("name=\"InferenceAttention_fwd_kl_overl\""));
  EXPECT_THAT(names, HasSubstr("name=\"InferenceAttention_fwd_kl_ove_2\""));
  EXPECT_THAT(names, HasSubstr("name=\"a_b_c______\""));
  EXPECT_THAT(names, HasSubstr("name=\"History_\""));
  EXPECT_THAT(names, HasSubstr("name=\"_\""));
}

TEST(XlsxSink, EmptyTablesAndNoTablesMakeAWorkbook) {
  const ColumnSpec columns[] = {{"a", Kind::kReal, "", ""}};
  EXPECT_THAT(first_sheet(Table{"t", "", columns}), HasSubstr(R"(<autoFilter ref="A1"/>)"));
  EXPECT_THAT(first_sheet(Table{"t", "", {}}), HasSubstr("<sheetData></sheetData>"));
  EXPECT_TRUE(workbook({}).contains("xl/workbook.xml"));
}

// A table of a report: names, a share, and columns that are seldom read.
Table wide_table() {
  const ColumnSpec columns[] = {
      {"name", Kind::kText, "", ""},    {"share", Kind::kReal, "%", ""},
      {"extra", Kind::kText, "", ""},   {"Cumulative share", Kind::kReal, "%", ""},
      {"change", Kind::kReal, "%", ""}, {"extra too", Kind::kText, "", ""}};
  Table table{"wide", "", columns};
  table.add_row(std::string(50, 'n'), 60.0, std::string(60, 'x'), 60.0, -1.0, "x");
  table.add_row("b", 40.0, "", 100.0, 1.0, "x");
  return table;
}

std::map<std::string, std::string> wide_workbook(Edition edition,
                                                 const Overview* overview = nullptr) {
  const TemporaryFolder folder;
  const Table table = wide_table();
  write_tables({&table, 1}, folder.path("r.xlsx"),
               {.is_folded = [](const Table&,
                                std::string_view column) { return column.starts_with("extra"); },
                .overview = overview,
                .edition = edition});
  return unpack(folder.path("r.xlsx"));
}

// Readers find a part by its name in one of two lists; none may be missing there.
TEST(XlsxSink, EveryPartIsListedAndLinked) {
  const Overview overview = testing::some_overview();
  auto parts = wide_workbook(Edition::kExtended, &overview);
  const std::string types = parts["[Content_Types].xml"];
  std::string links;
  for (const auto& [name, text] : parts)
    if (name.ends_with(".rels")) links += text;
  for (const auto& [name, text] : parts) {
    if (name.ends_with(".rels") || name == "[Content_Types].xml") continue;
    if (!name.ends_with(".vml")) {
      EXPECT_THAT(types, HasSubstr("PartName=\"/" + name + "\""));
    }
    EXPECT_THAT(links, HasSubstr(name.substr(name.rfind('/') + 1) + "\"")) << name;
  }
}

TEST(XlsxSink, WideSheetsKeepNamesInSightAndSharesHaveBars) {
  const std::string sheet = wide_workbook(Edition::kExtended)["xl/worksheets/sheet1.xml"];
  EXPECT_THAT(sheet, HasSubstr(R"(<pane xSplit="1" ySplit="1" topLeftCell="B2")"));
  EXPECT_THAT(sheet, HasSubstr(R"(<conditionalFormatting sqref="B2:B3">)"));
  EXPECT_THAT(sheet, Not(HasSubstr(R"(sqref="D2:D3")")));
  EXPECT_THAT(sheet, Not(HasSubstr(R"(sqref="E2:E3")")));
}

TEST(XlsxSink, FoldedColumnsOpenByAClick) {
  const std::string sheet = wide_workbook(Edition::kExtended)["xl/worksheets/sheet1.xml"];
  EXPECT_THAT(sheet, ::testing::ContainsRegex(
                         R"(<col min="3" max="3" width="[0-9.]+" hidden="1" customWidth="1" )"
                         R"(outlineLevel="1"/><col min="4" [^>]*collapsed="1"/>)"));
  EXPECT_THAT(sheet, ::testing::ContainsRegex(R"(<col min="7" [^>]*collapsed="1"/>)"));
}

TEST(XlsxSink, AWorkbookOfTheReferenceHasNothingButItsSheets) {
  const std::string sheet = wide_workbook(Edition::kReference)["xl/worksheets/sheet1.xml"];
  EXPECT_THAT(sheet, HasSubstr(R"(<pane ySplit="1" topLeftCell="A2")"));
  EXPECT_THAT(sheet, Not(HasSubstr("conditionalFormatting")));
  EXPECT_THAT(sheet, Not(HasSubstr("outlineLevel")));
  EXPECT_THAT(sheet, HasSubstr("hidden"));
}

TEST(XlsxSink, TheCoverHasVerdictFiguresAndTwoCharts) {
  const Overview overview = testing::some_overview();
  auto parts = wide_workbook(Edition::kExtended, &overview);
  EXPECT_THAT(parts["xl/workbook.xml"],
              ::testing::ContainsRegex(R"(<sheet name="overview"[^>]*/><sheet name="wide")"));
  for (const char* text :
       {"Host-bound: a &lt;b&gt;", "op dispatch", "GEMM", "aten::mm", "Use graphs."})
    EXPECT_THAT(parts["xl/worksheets/sheet1.xml"], HasSubstr(text));
  EXPECT_THAT(parts["xl/charts/chart1.xml"], HasSubstr("<c:doughnutChart>"));
  EXPECT_THAT(parts["xl/charts/chart2.xml"], HasSubstr("<c:barChart>"));
  EXPECT_THAT(parts["xl/charts/chart2.xml"], HasSubstr("<c:f>overview!$B$"));
}

TEST(XlsxSink, ACoverWithoutFiguresIsStillOne) {
  const Overview empty;
  EXPECT_THAT(wide_workbook(Edition::kExtended, &empty)["xl/workbook.xml"],
              HasSubstr(R"(<sheet name="overview")"));
}

TEST(XlsxSink, TitleIsADocumentProperty) {
  EXPECT_THAT(workbook({one_column("t")})["docProps/core.xml"],
              HasSubstr("<dc:title>My report</dc:title>"));
}

}  // namespace
}  // namespace tracelens
