#include "analysis/compare/gates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>

namespace tracelens {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

ComparedReport report(const std::string& tag, double total_ms, double mm_ms) {
  const ColumnSpec timeline[] = {{"type", Kind::kText, "", ""}, {"time ms", Kind::kReal, "", ""}};
  const ColumnSpec ops[] = {{"name", Kind::kText, "", ""},
                            {"total_direct_kernel_time_ms", Kind::kReal, "", ""}};
  Table first{"gpu_timeline", "", timeline}, second{"ops_summary", "", ops};
  first.add_row("total_time", total_ms);
  second.add_row("aten::mm", mm_ms);
  second.add_row("aten::add", 0.01 * total_ms);
  return {.tag = tag, .path = tag, .tables = {std::move(first), std::move(second)}};
}

GateOutcome check(const char* gate) {
  const ComparedReport reports[] = {report("base", 100, 10), report("new", 104, 12)};
  return check_gate(parse_gate(gate), reports);
}

TEST(Gates, PercentAndTimeAreLimits) {
  EXPECT_TRUE(check("total_time > 5%").passed);
  EXPECT_FALSE(check("total_time > 3%").passed);
  EXPECT_TRUE(check("total_time>4ms").passed);  // exactly the limit
  EXPECT_FALSE(check("total_time > 3900us").passed);
  EXPECT_THAT(check("op:aten::mm > 3%").evidence, ElementsAre(HasSubstr("+20%")));
}

TEST(Gates, WhatIsNewIsCalledNewNotInfinite) {
  ComparedReport now = report("new", 100, 10);
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""},
                                {"total_direct_kernel_time_ms", Kind::kReal, "", ""}};
  Table ops{"ops_summary", "", columns};
  ops.add_row("aten::gelu", 3.0);
  now.tables[1] = std::move(ops);
  const ComparedReport reports[] = {report("base", 100, 10), std::move(now)};
  EXPECT_THAT(check_gate(parse_gate("op:aten::gelu > 5%"), reports).evidence,
              ElementsAre(HasSubstr("+3 ms, new")));
}

TEST(Gates, AStarMeansAnythingAndMinLeavesSmallThingsOut) {
  EXPECT_THAT(check("op:* > 3%").evidence, SizeIs(2));
  EXPECT_THAT(check("op:aten::* > 3% min 5ms").evidence, SizeIs(1));
  EXPECT_THAT(check("sheet:ops_summary/*mm > 3%").evidence, SizeIs(1));
}

TEST(Gates, ALimitOnNothingIsAMistake) {
  EXPECT_THROW(static_cast<void>(check("op:aten::mn > 3%")), Error);
  EXPECT_THROW(static_cast<void>(check("kernel:* > 3%")), Error);  // no such sheet
}

std::string error_of(const char* gate, const std::vector<ComparedReport>& reports) {
  try {
    static_cast<void>(check_gate(parse_gate(gate), reports));
    return "passed or failed";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Gates, AReportWithoutTheSheetOrItsTimesPassesNothing) {
  ComparedReport lacking = report("new", 100, 10);
  lacking.tables.pop_back();
  EXPECT_THAT(error_of("op:* > 5%", {report("base", 100, 10), lacking}),
              HasSubstr("new has no sheet ops_summary, as base has"));
  EXPECT_THAT(error_of("op:* > 5%", {report("base", 100, 10), report("b", 1, 1), lacking}),
              HasSubstr("new has no sheet ops_summary"));
  const ColumnSpec renamed[] = {{"name", Kind::kText, "", ""}, {"time", Kind::kReal, "", ""}};
  const ColumnSpec words[] = {{"name", Kind::kText, "", ""},
                              {"total_direct_kernel_time_ms", Kind::kText, "", ""}};
  for (const auto& columns : {renamed, words}) {
    ComparedReport other = lacking;
    other.tables.emplace_back("ops_summary", "", std::span{columns, 2});
    other.tables.back().add_row("aten::mm",
                                columns == words ? Cell{std::string{"1 ms"}} : Cell{1.0});
    EXPECT_THAT(error_of("op:* > 5%", {report("base", 100, 10), other}),
                HasSubstr("the sheet ops_summary of new lacks the times that base has there"));
  }
}

TEST(Gates, TheFirstSheetThatAllReportsHaveIsTaken) {
  ComparedReport base = report("base", 100, 10), now = report("new", 100, 10);
  const ColumnSpec launchers[] = {{"name", Kind::kText, "", ""},
                                  {"total_direct_kernel_time_ms", Kind::kReal, "", ""}};
  for (ComparedReport* const each : {&base, &now}) {
    each->tables.emplace_back("kernel_launchers_summary", "", launchers);
    each->tables.back().add_row("k", each == &now ? 3.0 : 2.0);
  }
  now.tables.erase(now.tables.begin() + 1);
  const ComparedReport reports[] = {base, now};
  EXPECT_THAT(check_gate(parse_gate("op:* > 5%"), reports).evidence,
              ElementsAre(HasSubstr("kernel_launchers_summary: k")));
}

TEST(Gates, WhatMinLeavesOutIsSaid) {
  EXPECT_EQ(check("op:* > 3% min 1000ms").summary, "nothing took that long");
}

TEST(Gates, BadGrammarSaysWhatWasExpected) {
  for (const char* gate : {"total_time", "total_time > ", "total_time > 5", "total_time > -5%",
                           "> 5%", "op:x > 5% min 3%", "sheet:a > 5%", "total_time > nan%"}) {
    try {
      static_cast<void>(parse_gate(gate));
      ADD_FAILURE() << gate;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("expected WHAT > AMOUNT")) << gate;
    }
  }
}

TEST(Gates, JUnitAndJsonEscapeNamesAndCountFailures) {
  const GateOutcome outcomes[] = {{"op:f<a&b> > 1%", false, {"f<a&b>: \"slow\""}, ""},
                                  {"total_time > 5%", true, {}, "fine"}};
  const std::string xml = junit_xml(outcomes);
  EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"1\""));
  EXPECT_THAT(xml, HasSubstr("op:f&lt;a&amp;b&gt; &gt; 1%"));
  const GateOutcome odd[] = {{"op:\x02\uffff > 1%", false, {"\ufffe"}, ""}};
  EXPECT_THAT(junit_xml(odd), HasSubstr("name=\"op:\ufffd\ufffd &gt; 1%\""));
  EXPECT_THAT(junit_xml(odd), HasSubstr("<failure message=\"\ufffd\">\ufffd\n"));
  const std::string json = gates_json(outcomes);
  EXPECT_THAT(json, HasSubstr("\"passed\": false, \"evidence\": [\"f<a&b>: \\\"slow\\\"\"]"));
  EXPECT_THAT(json, HasSubstr("], \"passed\": false}"));
}

}  // namespace
}  // namespace tracelens
