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

}  // namespace
}  // namespace tracelens
