#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "io/temporary_folder.hpp"

namespace tracelens::io {
namespace {

constexpr std::size_t kSize = std::size_t{1} << 20;

struct Opened {
  explicit Opened(const std::string& path) : fd{::open(path.c_str(), O_RDONLY)} {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { ::close(fd); }
  int fd;
};

TEST(MappedFile, WhatAFileLosesBecomesZerosInEveryThread) {
  guard_mapped_files();
  TemporaryFolder folder;
  const std::string path = folder.write("file", std::string(kSize, 'x'));
  const Opened file{path};
  const auto mapped = MappedFile::map(file.fd, kSize);
  ASSERT_TRUE(mapped);
  std::filesystem::resize_file(path, 8192);
  std::vector<std::size_t> kept(4);
  std::vector<std::thread> threads;
  for (std::size_t& count : kept)
    threads.emplace_back([&] { count = mapped->text().find_last_not_of('\0') + 1; });
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t count : kept) EXPECT_EQ(count, 8192U);
  ASSERT_TRUE(mapped->cut_at());
  EXPECT_GE(*mapped->cut_at(), 8192U);
  std::filesystem::resize_file(path, 0);
  mapped->forget(0, kSize);
  EXPECT_EQ(mapped->text()[0], '\0');
  EXPECT_EQ(mapped->cut_at(), 0U);
}

TEST(MappedFile, FilesBeyondWhatTheGuardKnowsAreNotMapped) {
  guard_mapped_files();
  TemporaryFolder folder;
  const Opened file{folder.write("file", "text")};
  std::vector<std::unique_ptr<MappedFile>> files;
  while (auto mapped = MappedFile::map(file.fd, 4)) files.push_back(std::move(mapped));
  EXPECT_GE(files.size(), 16U);
  files.pop_back();
  EXPECT_TRUE(MappedFile::map(file.fd, 4));
}

// A handler of the program that uses the library goes on getting the faults that are not ours.
TEST(MappedFileDeathTest, OtherFaultsGoToTheHandlerThatWasThereBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto with_own_handler = [] {
    struct sigaction own {};
    own.sa_handler = [](int) { std::_Exit(42); };
    ::sigaction(SIGBUS, &own, nullptr);
    guard_mapped_files();
  };
  EXPECT_EXIT((with_own_handler(), ::raise(SIGBUS)), testing::ExitedWithCode(42), "");
  EXPECT_EXIT(
      {
        with_own_handler();
        const int file = ::memfd_create("file", 0);
        (void)::ftruncate(file, kSize);
        const auto* const foreign = static_cast<const volatile char*>(
            ::mmap(nullptr, kSize, PROT_READ, MAP_PRIVATE, file, 0));
        (void)::ftruncate(file, 0);
        (void)foreign[4096];
      },
      testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace tracelens::io
