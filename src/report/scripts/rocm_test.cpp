#include <gtest/gtest.h>

#include <algorithm>
#include <tracelens/error.hpp>
#include <tracelens/files.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/rocm.hpp>

#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

std::vector<std::string> names_of(const std::vector<Table>& tables) {
  std::vector<std::string> names;
  for (const Table& table : tables) names.push_back(table.name());
  return names;
}

TEST(RocmScripts, TheViewsOfATimelineAreTheTablesOfTheScripts) {
  const Trace trace = read_trace("tests/data/rocm_timeline.json.gz");
  EXPECT_EQ(names_of(hip_activity_tables(trace, {.hip_summary = false})),
            (std::vector<std::string>{"category_summary", "xla_top", "kernel_summary"}));
  EXPECT_NE(hip_activity_markdown(trace).find("# ROCm Perfetto Trace Report"), std::string::npos);
  EXPECT_GT(hip_api_table(trace).rows(), 0u);
  EXPECT_GE(hip_api_table(trace, {.other_calls = true}).rows(), hip_api_table(trace).rows());
  EXPECT_THROW((void)hip_api_table(trace, {.exclude_kernels = "("}), Error);
  EXPECT_EQ(memory_copy_table(trace).name(), "memory_copy_by_copy_bytes");
  EXPECT_EQ(process_count(trace), 1u);
  EXPECT_GT(process_count(read_trace("tests/data/rocprof_processes.json.gz")), 1u);
}

TEST(RocmScripts, AGenesisCaptureIsFoundInItsFolder) {
  const io::TemporaryFolder folder;
  const std::string run = folder.path("run");
  make_folder(run + "/kernel_trace");
  EXPECT_THROW((void)genesis_report(run), Error);
  write_text_file(run + "/kernel_trace/9_kernel_trace.csv",
                  "Kernel_Id,Kernel_Name,Thread_Id,Start_Timestamp,End_Timestamp\n"
                  "1,init,7,0,1000\n2,kernel_step_1_c5,7,5000000000,5000900000\n");
  write_text_file(run + "/run.log", "start\nwall_time=2.0s\n");
  int read = 0;
  const GenesisReport report = genesis_report(run, {.read = [&read](const std::string& path) {
                                                ++read;
                                                return read_trace(path);
                                              }});
  EXPECT_EQ(read, 1);
  EXPECT_FALSE(report.tables.empty());
  EXPECT_NE(report.summary.find("after_max_gap"), std::string::npos) << report.summary;
  EXPECT_NE(genesis_report(run, {.gap_ms = 1e6}).summary.find("last_2.1s"), std::string::npos);
}

}  // namespace
}  // namespace tracelens
