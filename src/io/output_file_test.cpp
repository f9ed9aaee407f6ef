#include "io/output_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <tracelens/error.hpp>

#include "io/check.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens::io {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The message of the Error that `action` throws, "" when it throws none.
template <typename Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(OutputFile, AppearsCompleteOnCommitAndNotBefore) {
  TemporaryFolder folder;
  OutputFile out{folder.path("report.csv")};
  out.write("a,b\n");
  out.write("1,2\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path("report.csv")));
  out.commit();
  EXPECT_EQ(folder.read("report.csv"), "a,b\n1,2\n");
  EXPECT_THAT(folder.names(), ElementsAre("report.csv"));
}

TEST(OutputFile, AnExceptionBeforeCommitLeavesTheOldFileAndNothingElse) {
  TemporaryFolder folder;
  const std::string path = folder.write("report.csv", "old");
  try {
    OutputFile out{path};
    out.write(std::string(3 << 20, 'x'));  // more than is buffered
    throw std::runtime_error{"table failed"};
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(folder.read("report.csv"), "old");
  EXPECT_THAT(folder.names(), ElementsAre("report.csv"));
}

TEST(OutputFile, LargeAndSmallWritesKeepTheirOrder) {
  TemporaryFolder folder;
  OutputFile out{folder.path("big")};
  std::string expected;
  for (const std::size_t size : {10u, 700'000u, 700'000u, 5u, 3'000'000u, 1u, 0u, 2u}) {
    const std::string text(size, static_cast<char>('a' + expected.size() % 26));
    out.write(text);
    expected += text;
  }
  out.commit();
  EXPECT_EQ(folder.read("big"), expected);
}

TEST(OutputFile, ALibraryMayWriteToTheTemporaryPath) {
  TemporaryFolder folder;
  {
    OutputFile out{folder.path("report.xlsx")};
    std::ofstream{out.temporary_path()} << "sheet";
    EXPECT_FALSE(std::filesystem::exists(folder.path("report.xlsx")));
    out.commit();
  }
  EXPECT_EQ(folder.read("report.xlsx"), "sheet");
  EXPECT_THAT(folder.names(), ElementsAre("report.xlsx"));
}

// Helpers of other tests may be there: AddressSanitizer's allocator may be locked for ever in a process forked
// beside them.
#if defined(__has_feature)
#define TL_HAS_FEATURE(feature) __has_feature(feature)
#else
#define TL_HAS_FEATURE(feature) 0
#endif
#if !TL_HAS_FEATURE(address_sanitizer)
TEST(OutputFile, AKilledProgramLeavesNothingBehind) {
  TemporaryFolder folder;
  const int unnamed = ::open(folder.path("").c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (unnamed < 0) GTEST_SKIP() << "no files without a name on this file system";
  ::close(unnamed);
  const pid_t child = ::fork();
  if (child == 0) {
    OutputFile out{folder.path("out.csv")};
    out.write("half of it");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(folder.names(), IsEmpty());
}
#endif

TEST(OutputFile, TwoOutputsOfOneNameDoNotMix) {
  TemporaryFolder folder;
  OutputFile first{folder.path("x")}, second{folder.path("x")};
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(folder.read("x"), "first");
}

TEST(OutputFile, ReplacesTheFileBehindALinkAndKeepsItsMode) {
  TemporaryFolder folder;
  const std::string real = folder.write("real", "old");
  ASSERT_EQ(::chmod(real.c_str(), 0640), 0);
  std::filesystem::create_symlink(real, folder.path("link"));
  OutputFile out{folder.path("link")};
  out.write("new");
  out.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("link")));
  EXPECT_EQ(folder.read("real"), "new");
  struct stat info {};
  ASSERT_EQ(::stat(real.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(OutputFile, MakesTheFileThatALinkToNothingLeadsTo) {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("second", folder.path("first"));
  std::filesystem::create_symlink("missing.txt", folder.path("second"));
  OutputFile out{folder.path("first")};
  out.write("text");
  out.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.path("second")));
  EXPECT_EQ(std::filesystem::file_size(folder.path("missing.txt")), 4U);

  std::filesystem::create_symlink("circle", folder.path("circle"));
  EXPECT_THAT(error_of([&] { const OutputFile none(folder.path("circle")); }),
              HasSubstr("leads in a circle"));
}

TEST(OutputFile, ALinkUnderANameNobodyTypedIsReplacedItself) {
  TemporaryFolder folder;
  const std::string mine = folder.write("mine", "keep");
  std::filesystem::create_symlink(mine, folder.path("t.csv"));
  OutputFile out{folder.path("t.csv"), Links::kReplace};
  out.write("new");
  out.commit();
  EXPECT_EQ(folder.read("mine"), "keep");
  EXPECT_EQ(folder.read("t.csv"), "new");
  EXPECT_FALSE(std::filesystem::is_symlink(folder.path("t.csv")));

  ASSERT_EQ(::mkfifo(folder.path("pipe.csv").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { const OutputFile none(folder.path("pipe.csv"), Links::kReplace); }),
              HasSubstr("is no regular file"));
}

TEST(OutputFile, PreparedItIsStillNotThere) {
  TemporaryFolder folder;
  const std::string path = folder.write("t.csv", "old");
  {
    OutputFile out{path};
    out.write("new");
    out.prepare();
    EXPECT_EQ(folder.read("t.csv"), "old");
  }
  EXPECT_THAT(folder.names(), ElementsAre("t.csv"));
  OutputFile out{path};
  out.write("new");
  out.prepare();
  out.commit();
  EXPECT_EQ(folder.read("t.csv"), "new");
  EXPECT_THAT(folder.names(), ElementsAre("t.csv"));
}

TEST(OutputFile, NamesOfTheGreatestLengthWork) {
  TemporaryFolder folder;
  const std::string name(255, 'n');
  OutputFile out{folder.path(name)};
  out.write("text");
  out.commit();
  EXPECT_EQ(folder.read(name), "text");
}

TEST(OutputFile, ErrorsNameTheFileAndTheReason) {
  TemporaryFolder folder;
  const std::string lost = folder.path("no/such/folder/x.csv");
  EXPECT_EQ(error_of([&] { OutputFile out{lost}; }),
            lost + ": cannot be created: No such file or directory");
  EXPECT_EQ(error_of([&] { OutputFile out{folder.path("")}; }),
            folder.path("") + ": is a directory; expected a file name");
}

TEST(OutputFile, AFullDiskIsAnError) {
  EXPECT_EQ(error_of([] {
              OutputFile out{"/dev/full"};
              out.write("text");
              out.commit();
            }),
            "/dev/full: cannot be written: No space left on device");
}

TEST(OutputFile, AFifoIsWrittenThrough) {
  TemporaryFolder folder;
  const std::string fifo = folder.path("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string received;
  std::thread reader{[&] { received = folder.read("fifo"); }};
  {
    OutputFile out{fifo};
    out.write("through");
    out.commit();
  }
  reader.join();
  EXPECT_EQ(received, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

// What arrives at the far end of a pipe that is written as /dev/fd/N.
template <typename Write>
std::string through_pipe(Write write) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  {
    OutputFile out{"/dev/fd/" + std::to_string(ends[1])};
    write(out);
    out.commit();
  }
  ::close(ends[1]);
  char text[64];
  const ssize_t got = ::read(ends[0], text, sizeof text);
  ::close(ends[0]);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
}

TEST(OutputFile, ADescriptorIsWrittenThrough) {
  EXPECT_EQ(through_pipe([](OutputFile& out) { out.write("text"); }), "text");
}

TEST(OutputFile, ATemporaryPathIsCopiedThroughADescriptorAndRemoved) {
  std::string temporary;
  EXPECT_EQ(through_pipe([&](OutputFile& out) {
              temporary = out.temporary_path();
              std::ofstream{temporary} << "sheet";
            }),
            "sheet");
  EXPECT_FALSE(std::filesystem::exists(temporary));
}

TEST(OutputFile, WithoutAFolderForTemporaryFilesSaysSo) {
  ::setenv("TMPDIR", "/no/such/folder", 1);
  OutputFile out{"/dev/stdout"};
  EXPECT_THROW((void)out.temporary_path(), Error);
  ::unsetenv("TMPDIR");
}

TEST(OutputFile, StandardOutputIsAppendedToNotReplaced) {
  TemporaryFolder folder;
  const std::string log = folder.write("log", "before ");
  const int saved = ::dup(STDOUT_FILENO);
  const int file = ::open(log.c_str(), O_WRONLY | O_APPEND);
  ::fflush(stdout);
  ::dup2(file, STDOUT_FILENO);
  {
    OutputFile out{"/dev/stdout"};
    out.write("after");
    out.commit();
  }
  ::dup2(saved, STDOUT_FILENO);
  ::close(saved);
  ::close(file);
  EXPECT_EQ(folder.read("log"), "before after");
}

TEST(OutputFile, WritingAfterCommitIsOurMistake) {
  TemporaryFolder folder;
  OutputFile out{folder.path("x")};
  out.commit();
  EXPECT_THROW(out.write("late"), InternalError);
  EXPECT_THROW(out.commit(), InternalError);
}

TEST(AbandonedBy, AHiddenFileOfAProcessThatIsGone) {
  TemporaryFolder folder;
  const ::pid_t child = ::fork();
  if (child == 0) ::_exit(0);  // takes no memory: safe beside other threads, sanitized, too
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto hidden = [&](::pid_t process) {
    return folder.write(".ops.csv." + std::to_string(process) + "-3.tmp", "half");
  };
  EXPECT_EQ(abandoned_by(hidden(child)), folder.path("ops.csv"));
  EXPECT_EQ(abandoned_by(hidden(::getpid())), "") << "still at work";
  EXPECT_EQ(abandoned_by(folder.path(".ops.csv.1x-3.tmp")), "");
  EXPECT_EQ(abandoned_by(folder.write(".notes.tmp", "somebody's")), "");
  EXPECT_EQ(abandoned_by(folder.write("..4711-3.tmp", "of nothing")), "");
  EXPECT_EQ(abandoned_by(folder.path("." + std::to_string(child) + "-3.tmp")), "");
}

TEST(MakeDirectories, MakesWhatIsMissingAndRefusesAFile) {
  TemporaryFolder folder;
  make_directories(folder.path("a/b/c"));
  make_directories(folder.path("a/b/c"));
  EXPECT_TRUE(std::filesystem::is_directory(folder.path("a/b/c")));
  const std::string file = folder.write("file", "");
  EXPECT_THAT(error_of([&] { make_directories(file); }), HasSubstr(file + ": cannot make"));
  EXPECT_THAT(error_of([&] { make_directories(file + "/x"); }), HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace tracelens::io
