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

TEST(HtmlSink, ThePageSaysWhatItIsAndWhereItsTablesAre) {
  const std::string page = html(
      testing::every_kind(),
      {.title = "Report", .subtitle = "one step", .source = {"rank0.json.gz"}, .version = "0.1.0"});
  EXPECT_THAT(page, AllOf(HasSubstr("<title>Report</title>"), HasSubstr("one step"),
                          HasSubstr("rank0.json.gz"), HasSubstr("TraceLens 0.1.0"),
                          HasSubstr("<a href=\"#ops\">ops</a>"), HasSubstr("id=\"ops\""),
                          HasSubstr("GPU time per op"), HasSubstr("3 rows")));
}

TEST(HtmlSink, HeadersTellUnitAndMeaning) {
  EXPECT_THAT(html(testing::every_kind()),
              AllOf(HasSubstr("<th class=\"n\" title=\"busy time\">time (ms)</th>"),
                    HasSubstr("<th title=\"op name as traced\">name</th>")));
}

TEST(HtmlSink, NumbersAreShownForPeopleAndSortedByValue) {
  EXPECT_THAT(html(testing::every_kind()), HasSubstr("<td class=\"n\" data-v=\"1234\">1,234</td>"));
}

TEST(HtmlSink, MissingCellsAreEmptyAndHaveNoValue) {
  EXPECT_THAT(html(testing::one_column("t")),
              HasSubstr("<tr><td class=\"n\" data-v=\"1.5\">1.500</td></tr>\n"
                        "<tr><td class=\"n\"></td></tr>"));
}

TEST(HtmlSink, TextsCannotBecomeMarkup) {
  EXPECT_THAT(html(testing::every_kind()),
              AllOf(HasSubstr("=a|&lt;b&gt;, &quot;c&quot;"), Not(HasSubstr("<b>, "))));
}

TEST(HtmlSink, LongCellsAreShortenedAndWholeUnderThePointer) {
  const ColumnSpec columns[] = {{"c", Kind::kText, "", ""}};
  Table table{"t", "", columns};
  table.add_row(std::string(500, 'x'));
  const std::string page = html(table);
  EXPECT_THAT(page,
              AllOf(HasSubstr("title=\"" + std::string(500, 'x') + "\""), HasSubstr("…</td>")));
}

TEST(HtmlSink, ThePageBeginsWithTheOverview) {
  const Overview overview = testing::some_overview();
  const std::string page = html(testing::every_kind(), {.title = "T", .overview = &overview});
  EXPECT_THAT(page, AllOf(HasSubstr("<p class=\"verdict\">Host-bound: a &lt;b&gt;</p>"),
                          HasSubstr("<li>Use graphs.</li>"), HasSubstr("tracelens tree t.json"),
                          HasSubstr("data-v=\"75\">75.00</td>")));
  EXPECT_LT(page.find("</section>"), page.find("<nav>"));
}

TEST(HtmlSink, ThePageLoadsNothingFromElsewhere) {
  EXPECT_THAT(html(testing::every_kind()),
              AllOf(Not(HasSubstr("http")), Not(HasSubstr("src=")), Not(HasSubstr("<link"))));
}

}  // namespace
}  // namespace tracelens
