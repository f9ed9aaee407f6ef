#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"
#include "report/sinks/sink.hpp"
#include "report/sinks/testing.hpp"

namespace tracelens {
namespace {

using io::TemporaryFolder;
using ::testing::ElementsAre;
using testing::every_kind;
using testing::names_in;
using testing::one_column;

TEST(CsvSink, CellsHaveTheirPlainForm) {
  const TemporaryFolder folder;
  write_tables(std::vector{every_kind()}, folder.path("out/"), {});
  EXPECT_EQ(folder.read("out/ops.csv"),
            "name,time,count,modelled,dims\n"
            "aten::mm,12.0,1234,True,\"((8, 4), ())\"\n"
            ",,,,\n"
            "\"=a|<b>, \"\"c\"\"\n_d_\",inf,-1,False,\"{'k': \"\"it's\"\"}\"\n");
}

TEST(CsvSink, FolderGetsOneFilePerTableAndKeepsOthers) {
  const TemporaryFolder folder;
  (void)folder.write("notes.txt", "mine");
  (void)folder.write("b.csv", "old");
  write_tables(std::vector{one_column("a"), one_column("b")}, folder.path(""), {});
  EXPECT_THAT(names_in(folder.path("")), ElementsAre("a.csv", "b.csv", "notes.txt"));
  EXPECT_EQ(folder.read("b.csv"), "a\n1.5\n\"\"\n");
}

TEST(CsvSink, EmptyCellOfASingleColumnIsNotABlankLine) {
  const TemporaryFolder folder;
  write_tables(std::vector{one_column("t")}, folder.path("t.csv"), {});
  EXPECT_EQ(folder.read("t.csv"), "a\n1.5\n\"\"\n");
}

TEST(CsvSink, TableNamesCannotLeaveTheFolderOrClash) {
  const TemporaryFolder folder;
  write_tables(std::vector{one_column("../up"), one_column(".."), one_column("T"), one_column("t")},
               folder.path("out/"), {});
  EXPECT_THAT(names_in(folder.path("out")),
              ElementsAre("T.csv", "_...csv", "_.._up.csv", "t_2.csv"));
  EXPECT_THAT(names_in(folder.path("")), ElementsAre("out"));
}

TEST(CsvSink, SingleFileTakesExactlyOneTable) {
  const TemporaryFolder folder;
  (void)folder.write("t.csv", "old");
  EXPECT_THROW(
      write_tables(std::vector{one_column("a"), one_column("b")}, folder.path("t.csv"), {}), Error);
  EXPECT_THROW(write_tables({}, folder.path("t.csv"), {}), Error);
  EXPECT_EQ(folder.read("t.csv"), "old");
  EXPECT_THAT(names_in(folder.path("")), ElementsAre("t.csv"));
}

TEST(CsvSink, NothingAppearsBeforeFinish) {
  const TemporaryFolder folder;
  {
    const auto sink = make_sink(folder.path("out/"), {});
    sink->write(one_column("a"));
  }
  EXPECT_THAT(names_in(folder.path("out")), ElementsAre());
}

}  // namespace
}  // namespace tracelens
