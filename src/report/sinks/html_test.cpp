#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/temporary_folder.hpp"
#include "report/sinks/sink.hpp"
#include "report/sinks/testing.hpp"

namespace tracelens {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string html(const Table& table, const DocumentInfo& info = {.title = "T"}) {
  const io::TemporaryFolder folder;
  write_tables({&table, 1}, folder.path("r.html"), info);
  return folder.read("r.html");
}

// What a reader without script sees.
std::string plain(const Table& table, const DocumentInfo& info = {.title = "T"}) {
  const std::string page = html(table, info);
  return page.substr(0, page.find("</noscript>"));
}

TEST(HtmlSink, ThePageSaysWhatItIs) {
  const std::string page = plain(
      testing::every_kind(),
      {.title = "Report", .subtitle = "one step", .source = {"rank0.json.gz"}, .version = "0.1.0"});
  EXPECT_THAT(page,
              AllOf(HasSubstr("<title>Report</title>"), HasSubstr("<h1>Report</h1>"),
                    HasSubstr("one step"), HasSubstr("rank0.json.gz"), HasSubstr("GPU time per op"),
                    HasSubstr("<th>time (ms)</th>"), HasSubstr("<td>1,234</td>")));
}

TEST(HtmlSink, TextsCannotBecomeMarkup) {
  EXPECT_THAT(plain(testing::every_kind()),
              AllOf(HasSubstr("=a|&lt;b&gt;, &quot;c&quot;"), Not(HasSubstr("<b>, "))));
}

TEST(HtmlSink, WithoutScriptTheFirstRowsOfTheFirstTablesAreThere) {
  const ColumnSpec columns[] = {{"c", Kind::kText, "", ""}};
  Table table{"t", "", columns};
  for (int row = 0; row < 30; ++row) table.add_row("row " + std::to_string(row) + ".");
  EXPECT_THAT(plain(table), AllOf(HasSubstr("row 19."), Not(HasSubstr("row 20.")),
                                  HasSubstr("The first 20 of 30 rows.")));
  EXPECT_THAT(plain(table, {.title = "T", .first_tables = {"other"}}), Not(HasSubstr("row 1.")));
}

TEST(HtmlSink, ThePageBeginsWithTheOverview) {
  const Overview overview = testing::some_overview();
  const DocumentInfo info{.title = "T", .overview = &overview};
  EXPECT_THAT(plain(testing::every_kind(), info),
              AllOf(HasSubstr("<p>Host-bound: a &lt;b&gt;</p>"), HasSubstr("<p>Use graphs.</p>")));
  EXPECT_THAT(html(testing::every_kind(), info), HasSubstr("Host-bound: a \\u003cb\\u003e"));
}

TEST(HtmlSink, ThePageLoadsNothingFromElsewhere) {
  EXPECT_THAT(plain(testing::every_kind()), AllOf(Not(HasSubstr("http:")), Not(HasSubstr("https:")),
                                                  Not(HasSubstr("src=")), Not(HasSubstr("<link"))));
}

}  // namespace
}  // namespace tracelens
