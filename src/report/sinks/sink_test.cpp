#include "report/sinks/sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"
#include "report/sinks/testing.hpp"

namespace tracelens {
namespace {

using io::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::names_in;
using testing::one_column;

TEST(Sink, UnknownExtensionIsAnErrorThatListsTheKnownOnes) {
  const TemporaryFolder folder;
  for (const std::string name : {"report.pdf", "report"}) {
    try {
      write_tables(std::vector{one_column("t")}, folder.path(name), {});
      FAIL() << "expected an Error for " << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
      for (const SinkKind& kind : sink_kinds())
        EXPECT_THAT(error.what(), HasSubstr(std::string{kind.extension}));
    }
  }
  EXPECT_THAT(names_in(folder.path("")), ElementsAre());
}

TEST(Sink, ExtensionsCountInAnyCase) {
  const TemporaryFolder folder;
  write_tables(std::vector{one_column("t")}, folder.path("R.CSV"), {});
  EXPECT_THAT(names_in(folder.path("")), ElementsAre("R.CSV"));
}

TEST(Sink, EveryKindKeepsTheOldFileUntilItIsFinished) {
  for (const SinkKind& kind : sink_kinds()) {
    const TemporaryFolder folder;
    const std::string name = "r" + std::string{kind.extension};
    (void)folder.write(name, "old");
    {
      const auto sink = make_sink(folder.path(name), {.title = "T"});
      sink->write(one_column("t"));
    }
    EXPECT_EQ(folder.read(name), "old") << name;
    EXPECT_THAT(names_in(folder.path("")), ElementsAre(name));

    write_tables(std::vector{one_column("t")}, folder.path(name), {.title = "T"});
    EXPECT_NE(folder.read(name), "old") << name;
    EXPECT_THAT(names_in(folder.path("")), ElementsAre(name));
  }
}

TEST(Sink, ACsvFileForSeveralTablesIsToldAtOnce) {
  const TemporaryFolder folder;
  check_sink_for_several(folder.path("r.xlsx"));
  check_sink_for_several(folder.path("out/"));
  check_sink(folder.path("r.csv"));
  try {
    check_sink_for_several(folder.path("r.csv"), "choose it with --tables NAME");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("a CSV file holds one table; choose it with --tables NAME, or name a "
                          "folder for all of them: " +
                          folder.path("r/")));
  }
}

TEST(Sink, OutputInAFolderThatIsNotThereIsAnError) {
  const TemporaryFolder folder;
  for (const SinkKind& kind : sink_kinds())
    EXPECT_THROW(write_tables(std::vector{one_column("t")},
                              folder.path("none/r" + std::string{kind.extension}), {}),
                 Error)
        << kind.extension;
}

}  // namespace
}  // namespace tracelens
