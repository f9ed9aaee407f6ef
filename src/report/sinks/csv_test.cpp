#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <filesystem>

#include <csignal>
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
            "\"'=a|<b>, \"\"c\"\"\n_d_\",inf,-1,False,\"{'k': \"\"it's\"\"}\"\n");
}

TEST(CsvSink, TextOfTheReferenceIsExact) {
  const TemporaryFolder folder;
  write_tables(std::vector{every_kind()}, folder.path("out/"), {.edition = Edition::kReference});
  EXPECT_NE(folder.read("out/ops.csv").find("\n\"=a|<b>, "), std::string::npos);
}

TEST(CsvSink, TextIsExactWhenAskedFor) {
  const TemporaryFolder folder;
  write_tables(std::vector{every_kind()}, folder.path("out/"), {.csv_raw = true});
  EXPECT_NE(folder.read("out/ops.csv").find("\n\"=a|<b>, "), std::string::npos);
  write_tables(std::vector{every_kind()}, folder.path("one.csv"), {.csv_raw = true});
  EXPECT_EQ(folder.read("one.csv"), folder.read("out/ops.csv"));
}

TEST(CsvSink, FolderGetsOneFilePerTableAndKeepsOthers) {
  const TemporaryFolder folder;
  (void)folder.write("notes.txt", "mine");
  (void)folder.write("b.csv", "old");
  write_tables(std::vector{one_column("a"), one_column("b")}, folder.path(""), {});
  EXPECT_THAT(names_in(folder.path("")),
              ElementsAre(".tracelens-files", "a.csv", "b.csv", "notes.txt"));
  EXPECT_EQ(folder.read("b.csv"), "a\n1.5\n\"\"\n");
}

TEST(CsvSink, TablesOfAnEarlierRunAreTakenAwayAndNothingElse) {
  const TemporaryFolder folder;
  (void)folder.write("mine.csv", "mine");
  write_tables(std::vector{one_column("a"), one_column("b"), one_column("edited")}, folder.path(""),
               {});
  (void)folder.write("edited.csv", "by the user");
  write_tables(std::vector{one_column("a"), one_column("c")}, folder.path(""), {});
  EXPECT_THAT(names_in(folder.path("")),
              ElementsAre(".tracelens-files", "a.csv", "c.csv", "edited.csv", "mine.csv"));
  write_tables(std::vector{one_column("d")}, folder.path(""), {});
  EXPECT_THAT(names_in(folder.path("")),
              ElementsAre(".tracelens-files", "d.csv", "edited.csv", "mine.csv"));
}

TEST(CsvSink, AFolderOfTheReferenceKeepsWhatOtherScriptsWrote) {
  const TemporaryFolder folder;
  write_tables(std::vector{one_column("a")}, folder.path(""), {.edition = Edition::kReference});
  write_tables(std::vector{one_column("b")}, folder.path(""), {.edition = Edition::kReference});
  EXPECT_THAT(names_in(folder.path("")), ElementsAre("a.csv", "b.csv"));
}

TEST(CsvSink, AFailedRunLeavesTheOldSetWhole) {
  const TemporaryFolder folder;
  write_tables(std::vector{one_column("a"), one_column("b")}, folder.path(""), {});
  const std::string list = folder.read(".tracelens-files");
  const ColumnSpec columns[] = {{"long", Kind::kText, "", ""}};
  Table large{"z", "", columns};
  large.add_row(std::string(1 << 16, 'x'));
  struct rlimit old {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const struct rlimit small { .rlim_cur = 1 << 12, .rlim_max = old.rlim_max };
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);  // the write fails instead, as on a full disk
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::vector<Table> tables = {every_kind(), one_column("b"), large};
  EXPECT_THROW(write_tables(tables, folder.path(""), {}), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_THAT(names_in(folder.path("")), ElementsAre(".tracelens-files", "a.csv", "b.csv"));
  EXPECT_EQ(folder.read(".tracelens-files"), list);
}

TEST(CsvSink, ALinkInTheFolderIsReplacedAndNotWhatItLeadsTo) {
  const TemporaryFolder folder;
  (void)folder.write("precious", "keep");
  std::filesystem::create_directory(folder.path("out"));
  std::filesystem::create_symlink(folder.path("precious"), folder.path("out/a.csv"));
  std::filesystem::create_symlink(folder.path("precious"), folder.path("out/.tracelens-files"));
  write_tables(std::vector{one_column("a")}, folder.path("out/"), {});
  EXPECT_EQ(folder.read("precious"), "keep");
  EXPECT_EQ(folder.read("out/a.csv"), "a\n1.5\n\"\"\n");
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
              ElementsAre(".tracelens-files", "T.csv", "_...csv", "_.._up.csv", "t_2.csv"));
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
  EXPECT_FALSE(std::filesystem::exists(folder.path("out")));
}

}  // namespace
}  // namespace tracelens
