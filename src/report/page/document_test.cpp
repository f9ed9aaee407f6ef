#include "report/page/document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/json.hpp>

#include "report/page/manifest.hpp"
#include "report/page/testing.hpp"

namespace tracelens {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Table table_of(std::size_t rows, const std::string& text = "x") {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", "a name"},
                                {"calls", Kind::kInteger, "", ""},
                                {"time", Kind::kReal, "ms", "busy"}};
  Table table{"ops", "GPU time per op", columns};
  for (std::size_t i = 0; i < rows; ++i) {
    if (i % 3 == 2)
      table.add_row(text, kMissing, kMissing);
    else
      table.add_row(text + std::to_string(i), -static_cast<std::int64_t>(i), 0.5);
  }
  return table;
}

// The text between two marks.
std::string between(const std::string& text, std::string_view from, std::string_view to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return {};
  const std::size_t first = begin + from.size();
  return text.substr(first, text.find(to, first) - first);
}

Value manifest_of(const std::string& page) {
  return parse_json_value(between(page, "id=\"tl-manifest\">", "</script>")).value();
}

std::map<std::string, testing::BlobColumn> blob_of(const std::string& page, std::size_t number) {
  const Value manifest = manifest_of(page);
  const auto size =
      static_cast<std::size_t>(manifest.find("blobs")->items()[number].find("raw_bytes")->as_int());
  const std::string packed = testing::from_base64(
      between(page, "id=\"tl-b" + std::to_string(number) + "\">", "</script>"));
  return testing::columns_of(testing::unpacked(packed, size));
}

TEST(PageDocument, TablesComeBackCellByCell) {
  const Table table = table_of(4);
  const Table* const tables[] = {&table};
  const std::string page = page_document({.title = "T", .tables = tables});
  const auto texts = blob_of(page, 0).at("text").texts;
  const auto columns = blob_of(page, 1);
  const auto text = [&](std::string_view column, std::size_t row) {
    return texts.at(static_cast<std::size_t>(columns.at(std::string{column}).numbers[row]));
  };
  EXPECT_EQ(text("name", 2), "time");
  EXPECT_EQ(text("unit", 2), "ms");
  EXPECT_EQ(text("description", 0), "a name");
  EXPECT_THAT(columns.at("kind").numbers, ElementsAre(0, 1, 2));
  EXPECT_EQ(text("0", 3), "x3");
  EXPECT_THAT(columns.at("1").numbers, ElementsAre(0, -1, 0, -3));
  EXPECT_THAT(columns.at("1?").numbers, ElementsAre(0b1011));
  EXPECT_EQ(columns.at("2").reals[0], 0.5);
  EXPECT_EQ(columns.count("0?"), 0u);
}

TEST(PageDocument, LanesComeBack) {
  Page page{.span_ns = 100, .names = {"", "kernel"}};
  page.lanes.push_back({.id = "gpu:0:7",
                        .title = "GPU 0 stream 7",
                        .slices = {{.start_ns = 5, .duration_ns = 3, .name = 1, .event = 9},
                                   {.start_ns = 2, .duration_ns = 1, .name = 1, .row = 1}},
                        .runs = {{.start_ns = 20, .end_ns = 30, .busy_ns = 4, .count = 2}}});
  const std::string document = page_document({.page = &page});
  const auto columns = blob_of(document, 1);
  EXPECT_THAT(columns.at("start").numbers, ElementsAre(5, 2));
  EXPECT_THAT(columns.at("latency").numbers, ElementsAre(-1, -1));
  EXPECT_THAT(columns.at("event").numbers, ElementsAre(9, -1));
  EXPECT_THAT(columns.at("run_length").numbers, ElementsAre(10));
  EXPECT_EQ(manifest_of(document).find("lanes")->items()[0].find("title")->as_text(),
            "GPU 0 stream 7");
}

TEST(PageDocument, TextsOfATraceCannotBecomeMarkup) {
  const Table table = table_of(1, "</script><script>alert(1)</script><!-- ]]> \u2028");
  const Table* const tables[] = {&table};
  Page page{.groups = {"</script><b>\u2029&"}};
  const std::string document = page_document({.title = "</title><script>", .page = &page});
  EXPECT_THAT(document, AllOf(Not(HasSubstr("</title><script>")), Not(HasSubstr("<b>")),
                              Not(HasSubstr("\u2029"))));
  EXPECT_EQ(manifest_of(document).find("groups")->items()[0].as_text(), "</script><b>\u2029&");
  EXPECT_THAT(page_document({.tables = tables}), Not(HasSubstr("alert(1)")));
}

TEST(PageDocument, ThePolicyAllowsOurOwnScriptAndNothingElse) {
  const std::string page = page_document({.title = "T"});
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'"), HasSubstr("sha256-"),
                          HasSubstr("require-trusted-types-for"), Not(HasSubstr("unsafe"))));
  EXPECT_LT(page.find("Content-Security-Policy"), page.find("<style>"));
}

TEST(PageDocument, RowsGoWhereTheFileWouldBeTooLarge) {
  const Table table = table_of(6'000);
  const Table* const tables[] = {&table};
  const auto kept = [&](std::size_t most_bytes) {
    const Value manifest = manifest_of(page_document({.tables = tables, .most_bytes = most_bytes}));
    return manifest.find("tables")->items()[0].find("kept")->as_int();
  };
  EXPECT_EQ(kept(8'000'000), 5'000);
  EXPECT_EQ(kept(20'000), 1'000);
  EXPECT_EQ(kept(10), 0);
}

TEST(SafeInScript, JsonStaysTheSame) {
  const std::string json = R"({"a": "<\/script> & > \" \\"})";
  const std::string safe = safe_in_script(json);
  EXPECT_THAT(safe, AllOf(Not(HasSubstr("<")), Not(HasSubstr("&")), Not(HasSubstr(">"))));
  EXPECT_EQ(json_text(parse_json_value(safe).value()), json_text(parse_json_value(json).value()));
}

}  // namespace
}  // namespace tracelens
