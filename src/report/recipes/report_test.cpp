#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/report.hpp>
#include <tracelens/tables.hpp>

#include "analysis/kit/test_ops.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const Trace& amp_trace() {
  static const Trace kTrace = read_trace("tests/data/h200_gpt_train_amp.json.gz");
  return kTrace;
}

MoreTables own_table(std::string name, std::string after) {
  return {.make =
              [name = std::move(name)](const Trace& trace, const Tree& tree) {
                const ColumnSpec columns[] = {{"nodes", Kind::kInteger, "", "nodes of the tree"}};
                Table table{name, "of the test", columns};
                table.add_row(trace.size() > 0 ? tree.size() : 0);
                return std::vector<Table>{table};
              },
          .after = std::move(after)};
}

TEST(Report, TablesOfOnesOwnStandWhereTheyWereAskedFor) {
  ReportOptions options;
  options.more_tables = {own_table("first", "gpu_timeline"), own_table("last", "no such table")};
  const Report report = make_report(amp_trace(), options);
  ASSERT_GT(report.tables.size(), 4u);
  EXPECT_EQ(report.tables[0].name(), "gpu_timeline");
  EXPECT_EQ(report.tables[1].name(), "first");
  EXPECT_GT(report.tables[1].column("nodes").integers()[0], 0);
  const bool has_warnings = report.find("warnings") != nullptr;
  EXPECT_EQ(report.tables[report.tables.size() - (has_warnings ? 2 : 1)].name(), "last");
  EXPECT_EQ(report.tables.size(), make_report(amp_trace()).tables.size() + 2);
}

TEST(Report, HasAPageWhenAskedFor) {
  const Report plain = make_report(amp_trace());
  EXPECT_EQ(plain.page, nullptr);
  EXPECT_EQ(plain.find("roofline"), nullptr);
  const Report report = make_report(amp_trace(), {.page = PageOptions{}});
  ASSERT_NE(report.page, nullptr);
  const Page& page = *report.page;
  const Table* const roofline = report.find("roofline");
  ASSERT_NE(roofline, nullptr);
  ASSERT_TRUE(page.roofline);
  EXPECT_EQ(page.roofline->gpu, "H200");
  EXPECT_GT(page.roofline->terabytes, 4);
  EXPECT_FALSE(page.roofline->roofs.empty());
  EXPECT_LT(page.roofline->least_intensity, page.roofline->most_intensity);
  EXPECT_FALSE(page.findings.empty());
  EXPECT_FALSE(page.findings.front().evidence.empty());
  std::vector<std::string> gaps;
  for (const PageGap& gap : page.gaps) gaps.push_back(gap.view);
  EXPECT_THAT(gaps, ::testing::ElementsAre("memory", "ranks", "diff"));
  // The other tables are those of any report.
  ASSERT_EQ(report.tables.size(),
            plain.tables.size() + 1 + (report.find("trace_quality") != nullptr));
  for (const Table& table : plain.tables) {
    const Table* const same = report.find(table.name());
    ASSERT_NE(same, nullptr) << table.name();
    EXPECT_EQ(same->rows(), table.rows()) << table.name();
  }
  // Chosen tables are all that is made.
  const Report chosen =
      make_report(amp_trace(), {.tables = {"gpu_timeline"}, .page = PageOptions{}});
  EXPECT_EQ(chosen.page, nullptr);
}

TEST(Report, TablesWithARowForEachKernelAreLeftOutBeyondTheirLimit) {
  const Trace trace = read_trace("tests/data/jax_gemm.xplane.pb.gz");
  const Report whole = make_report(trace);
  const Table* const kernels = whole.find("kernel_launchers");
  ASSERT_NE(kernels, nullptr);
  const Report within = make_report(trace, {.most_rows = kernels->rows()});
  EXPECT_NE(within.find("kernel_launchers"), nullptr);
  const Report beyond = make_report(trace, {.most_rows = kernels->rows() - 1});
  EXPECT_EQ(beyond.find("kernel_launchers"), nullptr);
  EXPECT_NE(beyond.find("kernel_launchers_summary"), nullptr);
  EXPECT_THAT(beyond.warnings,
              ::testing::Contains("kernel_launchers: " + std::to_string(kernels->rows()) +
                                  " rows are more than a workbook holds; write to a folder to get "
                                  "it"));
  ASSERT_NE(beyond.find("warnings"), nullptr);
}

TEST(Report, APageWithoutModulesSaysSoAndNamesWorkAsItsTables) {
  const Report report = make_report(read_trace("tests/data/jax_transformer_xla.xplane.pb.gz"),
                                    {.page = PageOptions{}});
  ASSERT_NE(report.page, nullptr);
  std::vector<std::string> gaps, classes;
  for (const PageGap& gap : report.page->gaps) gaps.push_back(gap.view);
  for (const PageClass& kind : report.page->classes) classes.push_back(kind.name);
  EXPECT_THAT(gaps, ::testing::Contains("tree"));
  EXPECT_THAT(classes, ::testing::IsSupersetOf({"GEMM", "fusion"}));
}

TEST(Report, OneTableIsThatOfTheReport) {
  const std::optional<Table> table = make_table(amp_trace(), "ops_summary");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows(), make_report(amp_trace()).find("ops_summary")->rows());
  EXPECT_FALSE(make_table(amp_trace(), "gpu_timeline_by_device"));  // there is one GPU
  EXPECT_THROW((void)make_table(amp_trace(), "nonsense"), Error);
}

// A report of many tables, each too long for a comment.
Report long_report() {
  const ColumnSpec columns[] = {{"name", Kind::kText, "", ""}};
  Report report;
  for (const std::string name : {"x", "y", "ops_summary", "warnings"}) {
    Table table{name, "", columns};
    for (int i = 0; i < 1000; ++i) table.add_row(name + std::string(90, '.'));
    report.tables.push_back(std::move(table));
  }
  return report;
}

TEST(WriteReport, AShortDocumentBeginsWithWhatIsReadFirst) {
  const io::TemporaryFolder folder;
  write_report(long_report(), folder.path("r.md"));
  const std::string text = folder.read("r.md");
  EXPECT_LT(text.size(), 60'000u);
  EXPECT_LT(text.find("## ops_summary"), text.find("## x"));
  EXPECT_LT(text.find("## warnings"), text.find("## x"));
}

TEST(WriteReport, OnlyOurEditionListsItsFiles) {
  const io::TemporaryFolder folder;
  Report report = long_report();
  report.edition = Edition::kReference;
  write_report(report, folder.path("theirs/"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("theirs/.tracelens-files")));
  report.edition = make_report(amp_trace(), {.tables = {"gpu_timeline"}}).edition;
  write_report(report, folder.path("ours/"));
  EXPECT_TRUE(std::filesystem::exists(folder.path("ours/.tracelens-files")));
}

TEST(Report, ModelsFromCodeComeFirst) {
  ModelSet mine;
  mine.add_pattern("mm$", {.category = "my matrices"},
                   [](const OpCall&) { return Work{.flops = 3e9, .bytes = 2}; });
  ReportOptions options;
  options.models = &mine;
  const std::optional<Table> table = make_table(amp_trace(), "unified_perf_summary", options);
  ASSERT_TRUE(table);
  const auto categories = table->column("op category").texts();
  const auto found = std::ranges::find(categories, "my matrices");
  ASSERT_NE(found, categories.end());
  const auto row = static_cast<std::size_t>(found - categories.begin());
  EXPECT_EQ(table->column("GFLOPS").reals()[row], 3);
}

TEST(Report, ModelsFromCodeAreAskedByOneThreadAtATime) {
  std::atomic<int> asking = 0, most = 0;
  ModelSet mine;
  mine.add_pattern("^aten::", {.category = "mine"}, [&](const OpCall&) {
    const int now = ++asking;
    if (now > most) most = now;
    std::this_thread::sleep_for(std::chrono::microseconds{200});
    --asking;
    return Work{.flops = 1, .bytes = 1};
  });
  ReportOptions options;
  options.models = &mine;
  options.threads = 4;
  (void)make_report(amp_trace(), options);
  EXPECT_EQ(most, 1);
}

// A chain of ops with their kernels in the other order: the lists of all of them find no room.
TEST(Report, WhatFindsNoRoomDoesNotDependOnThreads) {
  TestTrace t;
  constexpr int kDepth = 1'500;
  for (int i = 0; i < kDepth; ++i) {
    t.op("aten::mm", 2 * i, 4 * kDepth - 3 * i, matrices(2, 3, 4));
    t.launch("cudaLaunchKernel", 2 * i + 1, 0.5,
             {.name = "gemm", .ts = 90'000.0 - 3 * i, .dur = 1});
  }
  const Trace trace = t.finish();
  ReportOptions options;
  options.threads = 1;
  const Report one = make_report(trace, options);
  options.threads = 3;
  const Report three = make_report(trace, options);
  EXPECT_EQ(one.warnings, three.warnings);
  EXPECT_THAT(one.warnings, Contains(HasSubstr("nested too deep")));
}

TEST(Report, ACategoryFromCodeComesBeforeAll) {
  ModelSet mine;
  mine.add_category("aten::mm", "my matrices");
  ReportOptions options;
  options.models = &mine;
  options.category_of = [](std::string_view op, std::string_view first_kernel) -> std::string {
    if (op == "aten::mm") return "by name";
    return first_kernel.find("elementwise") != first_kernel.npos ? "by kernel" : "";
  };
  const std::optional<Table> table = make_table(amp_trace(), "ops_summary_by_category", options);
  ASSERT_TRUE(table);
  EXPECT_THAT(table->column("op category").texts(),
              AllOf(Contains("by name"), Contains("by kernel"), Contains("reduce"),
                    Not(Contains("my matrices")), Not(Contains("elementwise"))));
}

}  // namespace
}  // namespace tracelens
