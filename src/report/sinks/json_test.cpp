#include <gtest/gtest.h>
#include <simdjson.h>

#include "io/temporary_folder.hpp"
#include "report/sinks/sink.hpp"
#include "report/sinks/testing.hpp"

namespace tracelens {
namespace {

using io::TemporaryFolder;
using testing::every_kind;
using testing::one_column;

TEST(JsonSink, DocumentHasTheStatedShape) {
  const TemporaryFolder folder;
  write_tables(std::vector{every_kind(), one_column("t")}, folder.path("r.json"),
               {.title = "Report \"1\"",
                .subtitle = "",
                .source = {"a.json", "b.json"},
                .version = "0.1.0"});
  EXPECT_EQ(folder.read("r.json"), R"({"schema": "tracelens.report/1",
 "title": "Report \"1\"",
 "subtitle": "",
 "version": "0.1.0",
 "source": ["a.json", "b.json"],
 "tables": [
  {"name": "ops", "description": "GPU time per op",
   "columns": [
    {"name": "name", "kind": "text", "unit": "", "description": "op name as traced"},
    {"name": "time", "kind": "real", "unit": "ms", "description": "busy time"},
    {"name": "count", "kind": "integer", "unit": "", "description": "number of calls"},
    {"name": "modelled", "kind": "bool", "unit": "", "description": ""},
    {"name": "dims", "kind": "nested", "unit": "", "description": "shapes of the inputs"}],
   "rows": [
    ["aten::mm", 12.0, 1234, true, [[8, 4], []]],
    [null, null, null, null, null],
    ["=a|<b>, \"c\"\n_d_", null, -1, false, {"k": "it's"}]]},
  {"name": "t", "description": "",
   "columns": [
    {"name": "a", "kind": "real", "unit": "", "description": ""}],
   "rows": [
    [1.5],
    [null]]}]}
)");
}

TEST(JsonSink, DocumentParsesWhateverBytesTheTableHolds) {
  std::string bytes;
  for (int c = 0; c < 256; ++c) bytes.push_back(static_cast<char>(c));
  const ColumnSpec columns[] = {{bytes, Kind::kText, bytes, bytes}};
  Table table{bytes, bytes, columns};
  table.add_row(bytes);
  const TemporaryFolder folder;
  write_tables({&table, 1}, folder.path("r.json"), {.title = bytes, .source = {bytes}});

  simdjson::dom::parser parser;
  const auto document = parser.parse(simdjson::padded_string{folder.read("r.json")});
  ASSERT_EQ(document.error(), simdjson::SUCCESS);
  std::string_view cell;
  ASSERT_EQ(document.at_pointer("/tables/0/rows/0/0").get(cell), simdjson::SUCCESS);
  EXPECT_EQ(cell.substr(0, 128), bytes.substr(0, 128));
}

TEST(JsonSink, TheOverviewIsAKey) {
  const TemporaryFolder folder;
  const Overview overview = testing::some_overview();
  write_tables({}, folder.path("r.json"), {.overview = &overview});
  simdjson::dom::parser parser;
  const auto document = parser.parse(simdjson::padded_string{folder.read("r.json")});
  ASSERT_EQ(document.error(), simdjson::SUCCESS);
  EXPECT_EQ(std::string_view{document["overview"]["verdict"]}, "Host-bound: a <b>");
  EXPECT_EQ(std::int64_t{document.at_pointer("/overview/split/1/ns")}, 6'000'000);
  EXPECT_EQ(double{document.at_pointer("/overview/costs/0/roof_percent")}, 50.5);
  EXPECT_TRUE(document.at_pointer("/overview/costs/1/roof_percent").is_null());
  EXPECT_EQ(std::string_view{document.at_pointer("/overview/commands/0")}, "tracelens tree t.json");
}

TEST(JsonSink, NoTablesIsAValidDocument) {
  const TemporaryFolder folder;
  write_tables({}, folder.path("r.json"), {});
  simdjson::dom::parser parser;
  const auto document = parser.parse(simdjson::padded_string{folder.read("r.json")});
  ASSERT_EQ(document.error(), simdjson::SUCCESS);
  EXPECT_EQ(document["tables"].get_array().size(), 0u);
}

}  // namespace
}  // namespace tracelens
