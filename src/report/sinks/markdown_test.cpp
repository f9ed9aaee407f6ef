#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/temporary_folder.hpp"
#include "report/sinks/sink.hpp"
#include "report/sinks/testing.hpp"

namespace tracelens {
namespace {

using io::TemporaryFolder;
using testing::every_kind;
using ::testing::HasSubstr;

std::string markdown(const Table& table, const DocumentInfo& info = {.title = "T"}) {
  const TemporaryFolder folder;
  write_tables({&table, 1}, folder.path("r.md"), info);
  return folder.read("r.md");
}

Table one_text(const std::string& text) {
  const ColumnSpec columns[] = {{"c", Kind::kText, "", ""}};
  Table table{"t", "", columns};
  table.add_row(text);
  return table;
}

TEST(MarkdownSink, TablesHaveTitleDescriptionAndAlignedColumns) {
  const DocumentInfo info{
      .title = "Report", .subtitle = "one step", .source = {"rank0.json.gz"}, .version = "0.1.0"};
  EXPECT_EQ(markdown(every_kind(), info),
            "# Report\n"
            "\n"
            "one step\n"
            "\n"
            "- rank0.json.gz\n"
            "\n"
            "TraceLens 0.1.0\n"
            "\n"
            "## ops\n"
            "\n"
            "GPU time per op\n"
            "\n"
            "| name | time (ms) | count | modelled | dims |\n"
            "| --- | ---: | ---: | --- | --- |\n"
            "| aten::mm | 12.000 | 1,234 | yes | ((8, 4), ()) |\n"
            "|  |  |  |  |  |\n"
            "| =a\\|\\<b>, \"c\" \\_d\\_ | inf | -1 | no | {'k': \"it's\"} |\n");
}

TEST(MarkdownSink, MarkupIsEscapedButUnderscoresInsideWordsAreNot) {
  EXPECT_THAT(markdown(one_text("aten::_layer_norm_ float* `x` \\")),
              HasSubstr("| aten::\\_layer_norm\\_ float\\* \\`x\\` \\\\ |\n"));
}

TEST(MarkdownSink, LongCellsAreShortened) {
  EXPECT_THAT(markdown(one_text(std::string(120, 'x'))), HasSubstr(std::string(120, 'x') + " |"));
  EXPECT_THAT(markdown(one_text(std::string(121, 'x'))), HasSubstr(std::string(119, 'x') + "… |"));
}

Table many_rows(const std::string& name, int rows) {
  const ColumnSpec columns[] = {{"c", Kind::kText, "", ""}};
  Table table{name, "about " + name, columns};
  for (int i = 0; i < rows; ++i) table.add_row(std::to_string(i) + std::string(90, 'x'));
  return table;
}

std::string markdown_of(const std::vector<Table>& tables, const DocumentInfo& info) {
  const TemporaryFolder folder;
  write_tables(tables, folder.path("r.md"), info);
  return folder.read("r.md");
}

TEST(MarkdownSink, ADocumentFitsIntoACommentAndSaysWhatIsLeftOut) {
  const std::string text =
      markdown_of({many_rows("b", 1000), many_rows("a", 1000), many_rows("small", 2)},
                  {.title = "T", .first_tables = {"a"}});
  EXPECT_LT(text.size(), 60'000u);
  EXPECT_GT(text.size(), 50'000u);
  EXPECT_LT(text.find("## a\n"), text.find("## b\n"));  // first tables first, with more rows
  EXPECT_THAT(text, ::testing::ContainsRegex("\n4[0-9][0-9] of 1000 rows\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("\n1[0-9][0-9] of 1000 rows\n"));
  EXPECT_THAT(text, HasSubstr("Shortened to fit into a comment"));
}

TEST(MarkdownSink, WithManyTablesTheLastOnesAreOnlyNamed) {
  std::vector<Table> tables;
  for (int i = 0; i < 400; ++i) tables.push_back(many_rows("t" + std::to_string(i), 9));
  const std::string text = markdown_of(tables, {.title = "T"});
  EXPECT_LT(text.size(), 60'000u);
  EXPECT_THAT(text, HasSubstr("\n5 of 9 rows\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("Tables left out here: t[0-9]+, .* and [0-9]+ more"));
}

TEST(MarkdownSink, MarksWithoutWidthDoNotMakeItEndless) {
  std::string marks;
  for (int i = 0; i < 50'000; ++i) marks += "\u0301";
  EXPECT_LT(markdown(one_text(marks), {.title = marks}).size(), 60'000u);
}

TEST(MarkdownSink, FoldedColumnsAreLeftOut) {
  EXPECT_THAT(markdown(every_kind(),
                       {.title = "T",
                        .is_folded = [](const Table&,
                                        std::string_view column) { return column != "name"; }}),
              ::testing::AllOf(HasSubstr("\n| name |\n| --- |\n| aten::mm |\n"),
                               HasSubstr("\n1 of 5 columns\n")));
}

TEST(MarkdownSink, BeginsWithTheOverview) {
  const Overview overview = testing::some_overview();
  const std::string text = markdown(every_kind(), {.title = "T", .overview = &overview});
  EXPECT_THAT(text, HasSubstr("# T\n\n**Host-bound: a \\<b>**\n\nH200, 3 steps\n"));
  EXPECT_THAT(text, HasSubstr("| GEMM | 3.000 | 75.00 | 50.50 | aten::mm |\n"));
  EXPECT_THAT(text, HasSubstr("\n1. Use graphs.\n\nCommands:\n\n    tracelens tree t.json\n"));
  EXPECT_LT(text.find("Use graphs."), text.find("## ops"));
}

}  // namespace
}  // namespace tracelens
