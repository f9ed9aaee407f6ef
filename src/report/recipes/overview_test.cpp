#include "report/recipes/overview.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <numeric>
#include <sstream>
#include <string>
#include <tracelens/diagnose.hpp>
#include <tracelens/read_trace.hpp>
#include <tracelens/trace_builder.hpp>
#include <vector>

#include "report/recipes/overview_parts.hpp"
#include "table/utf8.hpp"
#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Overview overview_of(const std::string& file) {
  const Report report = make_report(read_trace("tests/data/" + file));
  EXPECT_TRUE(report.overview.has_value()) << file;
  return report.overview.value_or(Overview{});
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::int64_t sum(const std::vector<Overview::Part>& parts) {
  return std::accumulate(
      parts.begin(), parts.end(), std::int64_t{0},
      [](std::int64_t all, const Overview::Part& part) { return all + part.ns; });
}

constexpr const char* kTraces[] = {"h200_gpt_train_amp.json.gz",
                                   "h200_cuda_graph_decode.json.gz",
                                   "h200_streams_overlap.json.gz",
                                   "jax_transformer_xla.xplane.pb.gz",
                                   "rocprof_results.json.gz",
                                   "rocm_timeline.json.gz",
                                   "serving.json.gz"};

TEST(Overview, FitsOneScreenForEveryKindOfTrace) {
  for (const char* const trace : kTraces) {
    const std::vector<std::string> lines = lines_of(overview_text(overview_of(trace)));
    EXPECT_LE(lines.size(), 22) << trace;
    for (const std::string& line : lines)
      EXPECT_TRUE(display_width(line) <= 80 || line.starts_with("  tracelens")) << line;
  }
}

TEST(Overview, ThePartsAddUp) {
  for (const char* const trace : kTraces) {
    const Overview overview = overview_of(trace);
    double percents = 0;
    for (const Overview::Part& part : overview.split) percents += part.percent;
    EXPECT_NEAR(percents, 100, 0.1) << trace;
    EXPECT_NEAR(static_cast<double>(sum(overview.idle_causes)),
                static_cast<double>(overview.split.back().ns), 2e3)
        << trace;
  }
}

TEST(Overview, ATrainingStepThatWaitsForItsHostSaysSo) {
  const Overview overview = overview_of("h200_gpt_train_amp.json.gz");
  EXPECT_THAT(overview.run, StartsWith("NVIDIA H200 · 2 steps of about "));
  EXPECT_EQ(overview.bound, "host");
  EXPECT_THAT(overview.verdict, StartsWith("Host-bound: the GPU is idle 78.8% of the time"));
  ASSERT_EQ(overview.costs.size(), 5);
  EXPECT_EQ(overview.costs[1].name, "GEMM");
  EXPECT_THAT(overview.costs[1].costliest, StartsWith("aten::mm "));
  EXPECT_TRUE(overview.costs[1].roof_percent.has_value());
  EXPECT_THAT(overview.commands.front(), HasSubstr("tracelens diagnose "));
}

TEST(Overview, OpensWithTheCostliestFindingsAsDiagnoseTellsThem) {
  const Trace trace = read_trace("tests/data/h200_gpt_train_amp.json.gz");
  const Overview overview = make_report(trace).overview.value_or(Overview{});
  const Diagnosis diagnosis = diagnose(trace, {.skip = {"UNM-1"}});
  ASSERT_EQ(overview.causes.size(), 3);
  for (std::size_t i = 0; i < overview.causes.size(); ++i) {
    EXPECT_EQ(overview.causes[i].id, diagnosis.findings[i].id);
    EXPECT_EQ(overview.causes[i].percent, diagnosis.findings[i].saving_percent);
    EXPECT_EQ(overview.causes[i].remedy, diagnosis.findings[i].tries.front());
  }
  EXPECT_THAT(overview.advice, IsEmpty());  // causes say what to try
  EXPECT_THAT(overview.nothing_found, IsEmpty());
  const std::vector<std::string> lines = lines_of(overview_text(overview));
  EXPECT_THAT(lines[3], StartsWith("mend first"));
  EXPECT_THAT(lines[4], StartsWith(overview.causes.front().id));
  EXPECT_FALSE(make_report(trace, {.overview = false}).overview);
}

TEST(Overview, ARunWithNothingToMendSaysWhy) {
  const Overview overview = overview_of("rocm_timeline.json.gz");
  EXPECT_THAT(overview.causes, IsEmpty());
  EXPECT_THAT(overview.nothing_found, StartsWith("Nothing worth changing above 5%: "));
  EXPECT_THAT(overview_text(overview), HasSubstr("\nNothing worth changing above 5%: "));
}

TEST(Overview, AServingRunOpensWithItsPhases) {
  const Overview overview = overview_of("serving.json.gz");
  EXPECT_THAT(overview.run, StartsWith("NVIDIA H200 · 24 serving steps: "));
  EXPECT_THAT(overview.run, HasSubstr(" decode ("));
  EXPECT_THAT(overview.run, HasSubstr(" tokens/s · "));
  EXPECT_THAT(overview.run, HasSubstr(" per output token · decode is "));
}

TEST(Overview, OptionsOfTheTablesDoNotChangeTheFigures) {
  const Trace trace = read_trace("tests/data/h200_gpt_train_amp.json.gz");
  const Overview plain = make_report(trace).overview.value_or(Overview{});
  for (const ReportOptions& options :
       {ReportOptions{.recompute = true}, ReportOptions{.micro_idle_us = 10}}) {
    const Overview other = make_report(trace, options).overview.value_or(Overview{});
    ASSERT_EQ(other.split.size(), plain.split.size());
    for (std::size_t i = 0; i < plain.split.size(); ++i)
      EXPECT_NEAR(other.split[i].percent, plain.split[i].percent, 0.01) << plain.split[i].name;
  }
}

struct OneEvent {
  bool on_gpu;
  const char* name;
  std::int64_t ts_ns, dur_ns;
};
Report report_of(std::initializer_list<OneEvent> events) {
  TraceBuilder builder;
  const TrackId host = builder.intern(Track{1, 1}), gpu = builder.intern(Track{0, 7});
  for (const auto& [on_gpu, name, ts_ns, dur_ns] : events)
    (void)builder.append({.phase = Phase::kComplete,
                          .category = on_gpu ? Category::kKernel : Category::kUserAnnotation,
                          .name = builder.intern(name),
                          .track = on_gpu ? gpu : host,
                          .ts_ns = ts_ns,
                          .dur_ns = dur_ns});
  return make_report(std::move(builder).finish(), {.include_unlinked = true});
}

// On each of two GPUs an op's kernel of 10 µs and, at the same time on both, a collective of 30 µs.
Overview overview_of_two_gpus(Recorder recorder) {
  TestTrace t;
  for (const int device : {1, 2}) {
    t.op("aten::mm", 100 * device, 50);
    t.launch("cudaLaunchKernel", 100 * device + 5, 1,
             {.name = "gemm", .ts = 100.0 * device + 10, .dur = 10, .device = device});
    t.op("nccl:all_reduce", 100 * device + 60, 20);
    t.launch("cudaLaunchKernel", 100 * device + 65, 1,
             {.name = "ncclDevKernel_AllReduce", .ts = 300, .dur = 30, .device = device});
  }
  t.builder().source().recorder = recorder;
  const Report report = make_report(t.finish());
  EXPECT_TRUE(report.overview.has_value());
  return report.overview.value_or(Overview{});
}

TEST(Overview, GpusAreCountedInEveryKindOfTrace) {
  for (const Recorder recorder : {Recorder::kPyTorch, Recorder::kJax, Recorder::kNsight}) {
    const Overview overview = overview_of_two_gpus(recorder);
    EXPECT_THAT(overview.run, StartsWith("2 GPUs taken together"));
    EXPECT_THAT(overview.verdict, HasSubstr("all GPUs are idle at once"));
  }
}

TEST(Overview, CostsAddUpToTheTimeOfAllEventsWithCommunicationOnce) {
  for (const Recorder recorder : {Recorder::kPyTorch, Recorder::kNsight}) {
    std::int64_t all = 0;
    for (const Overview::Cost& cost : overview_of_two_gpus(recorder).costs) {
      all += cost.ns;
      if (cost.name == "communication") {
        EXPECT_EQ(cost.ns, 2 * 30'000);
      }
    }
    EXPECT_EQ(all, 2 * (10'000 + 30'000)) << static_cast<int>(recorder);
  }
}

TEST(Overview, OfMachinesWithoutACommonClockNothingIsSaidOfTheTimeBetween) {
  const auto overview_of_hosts = [](Recorder recorder, const char* first, const char* second) {
    TestTrace t;
    t.launch("hipLaunchKernel", 0, 1, {.name = "gemm", .ts = 5, .dur = 10, .device = 1});
    t.launch("hipLaunchKernel", 1e9, 1, {.name = "gemm", .ts = 1e9 + 5, .dur = 10, .device = 2});
    t.builder().source().recorder = recorder;
    t.builder().add_metadata("processes", Value::tuple({Value::dict({"hostname"}, {first}),
                                                        Value::dict({"hostname"}, {second})}));
    return make_report(t.finish()).overview.value_or(Overview{});
  };
  const Overview apart = overview_of_hosts(Recorder::kRocpd, "a", "b");
  EXPECT_EQ(apart.run, "2 GPUs taken together · 2 machines");
  EXPECT_EQ(apart.verdict,
            "The clocks of the 2 machines tell nothing about each other: no verdict on idle time.");
  EXPECT_THAT(apart.split, IsEmpty());
  EXPECT_THAT(apart.causes, IsEmpty());
  EXPECT_THAT(apart.nothing_found, IsEmpty());
  ASSERT_EQ(apart.costs.size(), 1u);
  EXPECT_EQ(apart.costs.front().ns, 20'000);
  EXPECT_THAT(overview_text(apart), HasSubstr("\n\ncostliest kinds of kernel"));
  EXPECT_THAT(overview_of_hosts(Recorder::kRocpd, "a", "a").verdict, HasSubstr("idle"));
  EXPECT_EQ(overview_of_hosts(Recorder::kNsight, "a", "b").split.size(), 4u);
}

TEST(Overview, AStepLastsUntilTheGpuHasDoneItsWork) {
  const Report report = report_of({{false, "ProfilerStep#1", 0, 1'000'000},
                                   {false, "ProfilerStep#2", 1'000'000, 1'000'000},
                                   {true, "gemm", 500'000, 9'500'000}});
  ASSERT_TRUE(report.overview);
  EXPECT_THAT(report.overview->run, HasSubstr("2 steps of about 4.8 ms"));
}

TEST(Overview, AServingStepThatTheGpuWaitsInIsHostBound) {
  constexpr const char* kStep =
      "execute_2_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk64sqsq2sqsk64)";
  const Report report =
      report_of({{false, kStep, 0, 10'000'000}, {true, "gemm", 4'000'000, 5'000'000}});
  ASSERT_TRUE(report.overview);
  const Overview& overview = *report.overview;
  EXPECT_THAT(overview.run, HasSubstr("decode is host-bound · over 10.0 ms"));
  EXPECT_EQ(overview.bound, "host");
  EXPECT_THAT(
      overview.verdict,
      StartsWith("Host-bound: the GPU is idle 50.0% of the time, mostly for the host before"));
  EXPECT_EQ(overview.split.back().ns, 5'000'000);
  EXPECT_EQ(sum(overview.idle_causes), 5'000'000);
  ASSERT_FALSE(overview.advice.empty());
  EXPECT_THAT(overview.advice.front(), HasSubstr("table serving_steps"));
}

TEST(Overview, TheCostliestKernelOfATimelineIsNamed) {
  for (const Overview::Cost& cost : overview_of("pftrace/rocprofv3_era3.pftrace").costs)
    EXPECT_FALSE(cost.costliest.empty()) << cost.name;
}

TEST(Overview, CommandsCanBePastedIntoAShell) {
  EXPECT_EQ(shell_word("runs/rank0.json.gz"), "runs/rank0.json.gz");
  EXPECT_EQ(shell_word("my trace.json"), "'my trace.json'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$(rm -rf x)"), "'$(rm -rf x)'");
}

TEST(Overview, IsOnlyOfWholeReportsInOurEdition) {
  const Trace trace = read_trace("tests/data/h200_cuda_graph_decode.json.gz");
  EXPECT_FALSE(make_report(trace, {.edition = Edition::kReference}).overview);
  EXPECT_FALSE(make_report(trace, {.tables = {"gpu_timeline"}}).overview);
}

TEST(Overview, WhatBoundsARunIsItsLargestWait) {
  EXPECT_EQ(bound_of({.compute_ns = 60, .comm_ns = 10, .idle_ns = 30, .total_ns = 100}), "host");
  EXPECT_EQ(bound_of({.compute_ns = 40, .comm_ns = 35, .idle_ns = 25, .total_ns = 100}),
            "communication");
  EXPECT_EQ(bound_of({.compute_ns = 60, .copy_ns = 40, .total_ns = 100}), "copy");
  EXPECT_EQ(bound_of({.compute_ns = 90, .idle_ns = 10, .total_ns = 100}), "GPU");
}

TEST(OverviewText, TheBarIsAsWideAsTheScreenAndShowsEveryPart) {
  Overview overview;
  overview.split = {
      {"compute", 990, 99.0}, {"communication", 1, 0.1}, {"copy", 1, 0.1}, {"idle", 8, 0.8}};
  for (const std::size_t width : {40u, 80u, 160u}) {
    const std::string bar = lines_of(overview_text(overview, {.width = width}))[1];
    EXPECT_EQ(display_width(bar), width);
    for (const char* const cell : {"█", "▓", "▒", "░"}) EXPECT_THAT(bar, HasSubstr(cell));
  }
}

TEST(OverviewText, WhatIsSavedIsOfAStepOrOfTheRun) {
  Overview overview = overview_of("h200_gpt_train_amp.json.gz");
  ASSERT_TRUE(overview.causes_per_step);
  EXPECT_THAT(overview_text(overview, {.width = 120}), HasSubstr(" saves/step   share  by"));
  overview.causes_per_step = false;
  EXPECT_THAT(overview_text(overview, {.width = 120}), HasSubstr("      saves   share  by"));
}

TEST(OverviewText, WhatTheFiguresLeaveOutIsSaidOnTheSmallestScreen) {
  Overview overview = overview_of("h200_gpt_train_amp.json.gz");
  overview.advice = {"A part is not counted.", "Use graphs.", "Fuse."};
  overview.caveats = 1;
  for (int i = 0; i < 20; ++i) overview.costs.push_back({"GEMM", 1, 1});
  const std::string text = overview_text(overview, {.width = 80});
  EXPECT_THAT(text, HasSubstr("A part is not counted."));
  EXPECT_THAT(text, Not(HasSubstr("Fuse.")));
}

TEST(OverviewText, NamesOfATraceCannotHarmTheTerminal) {
  Overview overview;
  overview.run = "\x1b[2J\r";
  overview.costs = {{.name = "\x1b]0;x\a", .ns = 5, .percent = 1, .costliest = "\x1b[31m"}};
  overview.commands = {"tracelens report \x1b[31m"};
  EXPECT_EQ(overview_text(overview).find_first_of("\x1b\a\r"), std::string::npos);
}

}  // namespace
}  // namespace tracelens
