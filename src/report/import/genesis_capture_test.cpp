#include "report/import/genesis_capture.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <tracelens/error.hpp>

#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

TEST(GenesisFiles, TheKernelCsvOfTheInnerFolderIsTakenFirst) {
  const io::TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("kernel_trace"));
  static_cast<void>(folder.write("a_kernel_trace.csv", ""));
  static_cast<void>(folder.write("kernel_trace/c_kernel_trace.csv", ""));
  const std::string csv = folder.write("kernel_trace/b_kernel_trace.csv", "");
  static_cast<void>(folder.write("kernel_trace/a_results.json", ""));
  const std::string timeline = folder.write("a_results.pftrace", "");
  const GenesisFiles files = find_genesis_files(folder.path(""));
  EXPECT_EQ(files.kernels, csv);
  EXPECT_TRUE(files.has_kernel_csv);
  EXPECT_EQ(files.timeline, timeline);
}

TEST(GenesisFiles, WithoutACsvTheResultsAreTheKernels) {
  const io::TemporaryFolder folder;
  const std::string results = folder.write("a_results.json", "");
  const GenesisFiles files = find_genesis_files(folder.path(""));
  EXPECT_EQ(files.kernels, results);
  EXPECT_FALSE(files.has_kernel_csv);
  EXPECT_FALSE(files.timeline);
}

TEST(GenesisFiles, AFolderWithoutKernelsIsAnError) {
  const io::TemporaryFolder folder;
  EXPECT_THROW(static_cast<void>(find_genesis_files(folder.path(""))), Error);
  EXPECT_THROW(static_cast<void>(find_genesis_files(folder.path("nowhere"))), Error);
}

TEST(GenesisManifest, IsNullWhenItIsMissingOrNoJson) {
  const io::TemporaryFolder folder;
  EXPECT_EQ(genesis_manifest(folder.path("")), Value{});
  static_cast<void>(folder.write("combined_manifest.json", R"({"n_envs": 8})"));
  EXPECT_EQ(genesis_manifest(folder.path("")).find("n_envs")->as_int(), 8);
  static_cast<void>(folder.write("capture_manifest.json", "{"));  // asked before the other
  EXPECT_EQ(genesis_manifest(folder.path("")), Value{});
}

TEST(GenesisSeconds, AreWhatTheLogOfTheRunSays) {
  const io::TemporaryFolder folder;
  EXPECT_EQ(genesis_seconds(folder.path("")), std::nullopt);
  static_cast<void>(folder.write("run.log", "built\nwall_time=12.5s\n"));
  EXPECT_EQ(genesis_seconds(folder.path("")), 12.5);
}

TEST(WallTime, IsTheFirstNumberOfSeconds) {
  EXPECT_EQ(wall_time("wall_time=? wall_time=3ms wall_time=2.5s wall_time=9s"), 2.5);
  EXPECT_EQ(wall_time("wall_time=2.5"), std::nullopt);  // cut before its unit
  EXPECT_EQ(wall_time(""), std::nullopt);
}

}  // namespace
}  // namespace tracelens
