#include <tracelens/table_text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "table/utf8.hpp"

namespace tracelens {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Table ops() {
  const ColumnSpec columns[] = {
      {"name", Kind::kText, "", ""},
      {"time", Kind::kReal, "µs", ""},
      {"Percentage (%)", Kind::kReal, "%", ""},
      {"dims", Kind::kNested, "", ""},
  };
  Table table{"ops", "GPU time per op", columns};
  table.add_row("aten::mm", 1234.5, 75.0, Value::tuple({8, 4}));
  table.add_row("aten::add", 411.5, 25.0, kMissing);
  return table;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

TEST(Terminal, ColumnsAreAlignedAndUnitsStandUnderNames) {
  EXPECT_EQ(render_terminal(ops(), {.width = 50}),
            "ops  GPU time per op\n"
            "name          time  Percentage (%)  dims\n"
            "                µs\n"
            "──────────────────────────────────────────\n"
            "aten::mm   1,234.5           75.00  (8, 4)\n"
            "aten::add    411.5           25.00\n");
}

TEST(Terminal, PercentColumnHasABarWhenThereIsRoom) {
  EXPECT_EQ(render_terminal(ops(), {.width = 0}),
            "ops  GPU time per op\n"
            "name          time  Percentage (%)              dims\n"
            "                µs\n"
            "──────────────────────────────────────────────────────\n"
            "aten::mm   1,234.5           75.00  ███████▌    (8, 4)\n"
            "aten::add    411.5           25.00  ██▌\n");
}

TEST(Terminal, TooManyRowsAreCounted) {
  const std::string text = render_terminal(ops(), {.width = 50, .max_rows = 1});
  EXPECT_THAT(text, Not(HasSubstr("aten::add")));
  EXPECT_THAT(text, HasSubstr("\n… 1 more row\n"));
}

TEST(Terminal, ColourIsOnlyInTheCodes) {
  const std::string text = render_terminal(ops(), {.width = 50, .colour = true});
  EXPECT_THAT(text, HasSubstr("\x1b[1mops\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[2mµs\x1b[0m"));
  std::string without;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] == '\x1b')
      at = text.find('m', at);
    else
      without += text[at];
  EXPECT_EQ(without, render_terminal(ops(), {.width = 50}));
}

TEST(Terminal, LongTextIsShortenedSoThatTheTableFits) {
  const ColumnSpec columns[] = {{"kernel", Kind::kText, "", ""}, {"n", Kind::kInteger, "", ""}};
  Table table{"t", "", columns};
  table.add_row("a_kernel_name_that_is_much_too_long_for_it_v2", 1234567);
  EXPECT_EQ(render_terminal(table, {.width = 40}),
            "t\n"
            "kernel                                 n\n"
            "────────────────────────────────────────\n"
            "a_kernel_name_that_…for_it_v2  1,234,567\n");
}

TEST(Terminal, LongHeadersAreWrapped) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"total_direct_kernel_time", Kind::kReal, "ms", ""}};
  Table table{"t", "", columns};
  table.add_row("x", 1.0);
  EXPECT_EQ(render_terminal(table, {.width = 20}),
            "t\n"
            "            total_\n"
            "           direct_\n"
            "name   kernel_time\n"
            "                ms\n"
            "──────────────────\n"
            "x            1.000\n");
}

TEST(Terminal, ListsAndSpreadMakeRoomForSumsAndShares) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"details", Kind::kNested, "", ""},
                                {"Min time", Kind::kInteger, "", ""},
                                {"time_sum", Kind::kInteger, "", ""},
                                {"minutes", Kind::kInteger, "", ""}};
  Table table{"t", "", columns};
  table.add_row("a text of some length", Value::tuple({1, 2}), 123456789, 123456789, 123456789);
  EXPECT_EQ(render_terminal(table, {.width = 46}),
            "t\n"
            "name                     time_sum      minutes\n"
            "──────────────────────────────────────────────\n"
            "a text of som…length  123,456,789  123,456,789\n"
            "… no room for: details, Min time\n");
}

TEST(Terminal, ColumnsThatDoNotFitAreNamedAndNumbersAreNeverCut) {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"first", Kind::kInteger, "", ""},
                                {"second", Kind::kInteger, "", ""},
                                {"third", Kind::kInteger, "", ""}};
  Table table{"t", "", columns};
  table.add_row("a text of some length", 123456789, 123456789, 123456789);
  const std::string text = render_terminal(table, {.width = 32});
  EXPECT_EQ(text,
            "t\n"
            "name                       first\n"
            "────────────────────────────────\n"
            "a text of so…length  123,456,789\n"
            "… no room for: second, third\n");
}

Table verdicts() {
  const ColumnSpec columns[] = {{"count", Kind::kInteger, "", ""},
                                {"name", Kind::kText, "", ""},
                                {"spread", Kind::kInteger, "", ""},
                                {"why", Kind::kText, "text", ""},
                                {"verdict", Kind::kText, "", ""}};
  Table table{"t", "", columns};
  table.add_row(123456, "allreduce", 7, "rank 5 comes late, every time, by about a millisecond",
                "imbalance");
  table.add_row(2, "barrier", 7, kMissing, "network");
  return table;
}

TEST(Terminal, TheImportantColumnsStayWhateverTheirPlace) {
  EXPECT_EQ(render_terminal(verdicts(), {.width = 24, .columns = {"name", "verdict", "count"}}),
            "t\n"
            "name       verdict\n"
            "────────────────────\n"
            "allreduce  imbalance\n"
            "barrier    network\n"
            "… no room for: count\n");
}

TEST(Terminal, ASentenceWithoutRoomInItsLineStandsBelowItWhole) {
  EXPECT_EQ(render_terminal(verdicts(), {.width = 40, .columns = {"name", "verdict", "why"}}),
            "t\n"
            "name       verdict\n"
            "────────────────────\n"
            "allreduce  imbalance\n"
            "    rank 5 comes late, every time, by\n"
            "    about a millisecond\n"
            "barrier    network\n");
}

TEST(Terminal, ASentenceIsWrappedInItsColumnWhereItHasRoom) {
  EXPECT_EQ(render_terminal(verdicts(), {.width = 60, .columns = {"name", "why"}}),
            "t\n"
            "name       why\n"
            "────────────────────────────────────────────────────────────\n"
            "allreduce  rank 5 comes late, every time, by about a\n"
            "           millisecond\n"
            "barrier\n");
}

TEST(Terminal, WithoutAnEdgeNothingIsCut) {
  const std::string text = render_terminal(verdicts(), {.width = 0, .columns = {"name", "why"}});
  EXPECT_THAT(text, HasSubstr("rank 5 comes late, every time, by about a millisecond\n"));
}

TEST(Terminal, KernelNamesStayDistinct) {
  const ColumnSpec columns[] = {{"kernel", Kind::kText, "", ""}};
  Table table{"t", "", columns};
  table.add_row("void at::native::fill<at::native::Functor<float>, 4>(int, float*)");
  table.add_row("void at::native::fill<at::native::Functor<double>, 4>(int, double*)");
  EXPECT_EQ(render_terminal(table, {.width = 24}),
            "t\n"
            "kernel\n"
            "────────────────────────\n"
            "fill<Functor<float>, 4>\n"
            "fill<Functor<double>, 4>\n");
}

TEST(Terminal, NoLineIsWiderThanTheTerminal) {
  const ColumnSpec columns[] = {{"名前", Kind::kText, "", ""}, {"dims", Kind::kNested, "", ""}};
  Table table{"t", "a description with many words", columns};
  table.add_row("日本語のとても長いカーネル名", Value::tuple({1000, 2000, 3000, 4000, 5000}));
  for (const std::size_t width : {1u, 2u, 5u, 10u, 20u, 34u, 35u, 36u, 60u})
    for (const std::string& line : lines(render_terminal(table, {.width = width})))
      EXPECT_LE(display_width(line), width) << line;
}

TEST(Terminal, ControlCharactersOfATraceDoNotReachTheTerminal) {
  const ColumnSpec columns[] = {{"\x1b]0;", Kind::kText, "\a", ""}};
  Table table{"\x1b[2J", "\r", columns};
  table.add_row("\x1b[31m\u202e");
  const std::string text = render_terminal(table, {});
  EXPECT_EQ(text.find_first_of("\x1b\a\r"), std::string::npos);
  EXPECT_THAT(text, Not(HasSubstr("\u202e")));
}

TEST(Terminal, EmptyTablesShowTheirHeader) {
  const ColumnSpec columns[] = {{"a", Kind::kReal, "", ""}};
  EXPECT_EQ(render_terminal(Table{"t", "", columns}, {}), "t\na\n─\n");
  EXPECT_EQ(render_terminal(Table{"t", "", {}}, {}), "t\n");
}

}  // namespace
}  // namespace tracelens
