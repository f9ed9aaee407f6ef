#include "mcp/answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracelens::mcp {
namespace {

using ::testing::HasSubstr;

Answer kernels(std::size_t rows, std::size_t name_length) {
  Answer answer;
  answer.grid.columns = {{.name = "name", .from_trace = true},
                         {.name = "time_ms", .unit = "ms"},
                         {.name = "rare", .is_extra = true}};
  for (std::size_t i = 0; i < rows; ++i)
    answer.grid.rows.push_back({std::string(name_length, 'k'), 1234.56789, "x"});
  answer.total = rows;
  return answer;
}

const std::string& text_of(const Value& result) {
  return member(member(result, "content").items()[0], "text").as_text();
}

std::size_t largest_part(const Value& result) {
  return std::max(text_of(result).size(), compact_json(member(result, "structuredContent")).size());
}

TEST(Answer, NumbersAreExactInTheStructureAndShortInTheText) {
  const Value result = result_of(kernels(1, 10), {});
  EXPECT_THAT(text_of(result), HasSubstr("| `kkkkkkkkkk` | 1235 | x |"));
  const Value& row = member(member(result, "structuredContent"), "rows").items()[0];
  EXPECT_EQ(row.items()[1], Value{1234.56789});
}

TEST(Answer, NamesColumnsThenRowsAreCutToFit) {
  Fit fit{.max_tokens = 2000};
  fit.cursor_at = [](std::size_t offset) { return "at" + std::to_string(offset); };
  const Value wide = result_of(kernels(40, 200), fit);
  EXPECT_LE(tokens_of(largest_part(wide)), fit.max_tokens);
  EXPECT_THAT(text_of(wide), HasSubstr("names are cut to 80 characters"));
  fit.max_tokens = 400;
  const Value result = result_of(kernels(40, 200), fit);
  EXPECT_LE(tokens_of(largest_part(result)), fit.max_tokens);
  const Value& structure = member(result, "structuredContent");
  const std::int64_t returned = member(structure, "returned").as_int();
  EXPECT_GT(returned, 0);
  EXPECT_EQ(member(structure, "next"), Value{"at" + std::to_string(returned)});
  EXPECT_EQ(member(structure, "columns").items().size(), 2u);
  EXPECT_THAT(text_of(result), HasSubstr("of 40 rows"));
  EXPECT_THAT(text_of(result), HasSubstr("no room for the columns rare"));
}

TEST(Answer, ARowThatIsTooLongIsCutToo) {
  Answer wide;
  for (int i = 0; i < 30; ++i)
    wide.grid.columns.push_back({.name = "c" + std::to_string(i), .from_trace = true});
  wide.grid.rows.emplace_back(30, std::string(8000, '0'));
  wide.total = 1;
  for (const std::size_t most : {500u, 1000u, 2000u}) {
    const Value result = result_of(wide, {.max_tokens = most, .full_names = true});
    EXPECT_LE(tokens_of(largest_part(result)), most);
    const Value& structure = member(result, "structuredContent");
    EXPECT_EQ(member(structure, "returned"), Value{1});
    EXPECT_FALSE(member(structure, "columns").items().empty());
    EXPECT_THAT(text_of(result), HasSubstr("texts are cut to "));
    EXPECT_EQ(member(structure, "columns").items().size() < 30u,
              text_of(result).find("no room for the columns") != std::string::npos);
  }
}

TEST(Answer, WholeNamesAreFoundByTheirNumbers) {
  Fit fit;
  fit.string_id = [](std::string_view) { return std::optional<std::int64_t>{7}; };
  const Value result = result_of(kernels(1, 200), fit);
  const Value& columns = member(member(result, "structuredContent"), "columns");
  EXPECT_EQ(member(columns.items().back(), "name"), Value{"name_id"});
  fit.full_names = true;
  EXPECT_THAT(text_of(result_of(kernels(1, 200), fit)), HasSubstr(std::string(200, 'k')));
}

}  // namespace
}  // namespace tracelens::mcp
