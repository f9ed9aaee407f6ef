#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/gpu/timeline.hpp"
#include "analysis/kit/test_ops.hpp"
#include "analysis/serving/context.hpp"
#include "analysis/serving/phases.hpp"

namespace tracelens {
namespace {

using testing::ElementsAre;

struct Batch {
  std::int64_t prompts = 0, prompt_tokens = 0;
  std::int64_t running = 0, keys = 0;  // keys: of all running requests together
};
std::string annotation(const Batch& batch) {
  const auto group = [](std::int64_t queries, std::int64_t keys) {
    return "(sq" + std::to_string(queries) + "sk" + std::to_string(keys) + "sqsq1sqsk1)";
  };
  return "execute_" + std::to_string(batch.prompt_tokens + batch.running) + "_context_" +
         std::to_string(batch.prompts) + group(batch.prompt_tokens, batch.prompt_tokens) +
         "_generation_" + std::to_string(batch.running) + group(batch.running, batch.keys);
}

class Serving {
 public:
  void step(const std::string& name, double ts, double dur) {
    t.event(Category::kUserAnnotation, name, ts, dur);
  }
  void graph(double ts, const std::vector<TestTrace::Gpu>& kernels) {
    t.runtime("cudaGraphLaunch", ts, 3, ++correlation_);
    t.flow_start(correlation_);
    for (const TestTrace::Gpu& kernel : kernels) {
      t.gpu(kernel, correlation_);
      t.flow_end(correlation_);
    }
  }
  TestTrace t;

 private:
  std::int64_t correlation_ = 0;
};

struct Made {
  explicit Made(Trace a_trace) : trace{std::move(a_trace)} {}
  Table phases(const Gpu* gpu = nullptr) {
    return serving_phases(run, modelled_work(input, run), gpu);
  }

  const Trace trace;
  const TraceFacts facts{trace};
  const ServingRun run{facts, false};
  OpInput input{facts, {.edition = Edition::kExtended}};
  const ServedOps ops{input, run};
};

double sum(const Table& table, std::string_view name, std::size_t rows) {
  double total = 0;
  for (std::size_t row = 0; row < rows; ++row)
    total += std::strtod(cell(table, name, row).c_str(), nullptr);
  return total;
}

// A prompt, a mixed step and two of decoding; work of the first runs into the time of the second, a
// second stream overlaps with the third, and something is launched between steps.
Trace small_run() {
  Serving s;
  s.step(annotation({.prompts = 1, .prompt_tokens = 100}), 0, 100);
  s.t.launch("cudaLaunchKernel", 10, 2, {.name = "my_gemm", .ts = 20, .dur = 120});
  s.step(annotation({.prompts = 1, .prompt_tokens = 50, .running = 1, .keys = 101}), 100, 50);
  s.t.launch("cudaLaunchKernel", 110, 4, {.name = "my_gemm", .ts = 130, .dur = 40});
  s.step(annotation({.running = 2, .keys = 153}), 200, 40);
  s.graph(205, {{.name = "attn_fwd", .ts = 210, .dur = 10},
                {.name = "ncclKernel", .ts = 215, .dur = 15, .stream = 9},
                {.name = "my_gemm", .ts = 225, .dur = 2}});
  s.t.launch("cudaLaunchKernel", 245, 1, {.name = "my_topk", .ts = 250, .dur = 5});
  s.step(annotation({.running = 2, .keys = 155}), 260, 30);
  s.graph(262, {{.name = "attn_fwd", .ts = 270, .dur = 10}});
  return s.t.finish();
}

TEST(ServingSteps, WorkBelongsToTheStepThatLaunchedIt) {
  Made made{small_run()};
  const Table table = serving_steps(made.run);
  EXPECT_THAT(column(table, "phase"), ElementsAre("prefill", "mixed", "decode", "decode"));
  EXPECT_THAT(column(table, "requests"), ElementsAre("1", "2", "2", "2"));
  EXPECT_THAT(column(table, "context tokens"), ElementsAre("100", "50", "0", "0"));
  EXPECT_THAT(column(table, "output tokens"), ElementsAre("0", "1", "2", "2"));
  EXPECT_THAT(column(table, "KV tokens"), ElementsAre("100", "151", "153", "155"));
  EXPECT_THAT(column(table, "wall ms"), ElementsAre("0.1", "0.1", "0.06", "0.03"));
  EXPECT_THAT(column(table, "host ms"), ElementsAre("0.1", "0.05", "0.04", "0.03"));
  // [20, 140); [140, 170); [210, 230); [270, 280)
  EXPECT_THAT(column(table, "GPU busy ms"), ElementsAre("0.12", "0.03", "0.02", "0.01"));
  // Before 210 and 270; the wait before 250 ends with what is outside.
  EXPECT_THAT(column(table, "GPU idle ms"), ElementsAre("0.0", "0.0", "0.04", "0.015"));
  // Before the first kernel and after the last, as far as steps are open.
  EXPECT_THAT(column(table, "GPU wait ms"), ElementsAre("0.02", "0.0", "0.0", "0.01"));
  EXPECT_EQ(cell(table, "exposed comm ms", 2), "0.008");  // [220, 225) and [227, 230)
  EXPECT_THAT(column(table, "first kernel ms"), ElementsAre("0.02", "0.03", "0.01", "0.01"));
  EXPECT_THAT(column(table, "launch ms"), ElementsAre("0.002", "0.004", "0.003", "0.003"));
  EXPECT_THAT(column(table, "graph launches"), ElementsAre("0", "0", "1", "1"));
  EXPECT_THAT(column(table, "GPU events"), ElementsAre("1", "1", "3", "1"));
  EXPECT_EQ(cell(table, "tokens/s of GPU", 2), "100000.0");  // 2 in 20 us
}

TEST(ServingPhases, AddUpToTheWholeGpuTime) {
  Made made{small_run()};
  const Table table = made.phases();
  EXPECT_THAT(column(table, "phase"), ElementsAre("prefill", "mixed", "decode", "outside", "all"));
  const GpuTimes whole = gpu_times(made.facts, made.facts.gpu_events(false).events);
  EXPECT_EQ(cell(table, "GPU busy ms", 4), "0.185");
  EXPECT_EQ(whole.busy, 185'000);
  EXPECT_EQ(whole.total, 260'000);
  EXPECT_DOUBLE_EQ(sum(table, "GPU busy ms", 4), 0.185);
  EXPECT_DOUBLE_EQ(sum(table, "GPU busy ms", 4) + sum(table, "GPU idle ms", 4), 0.26);
  EXPECT_DOUBLE_EQ(0.26 + sum(table, "GPU wait ms", 4), sum(table, "wall ms", 3));
  EXPECT_EQ(cell(table, "wall ms", 4), "0.29");
  EXPECT_EQ(cell(table, "GPU wait ms", 4), "0.03");
  EXPECT_DOUBLE_EQ(sum(table, "exposed comm ms", 4) * 1e6, static_cast<double>(whole.exposed_comm));
  EXPECT_DOUBLE_EQ(sum(table, "percent of GPU busy", 4), 100);
  EXPECT_DOUBLE_EQ(sum(table, "percent of wall", 3), 100);
  const Table ops = serving_ops_by_phase(made.run, made.ops);
  EXPECT_DOUBLE_EQ(sum(ops, "all ms", ops.rows()), 0.185);
  EXPECT_DOUBLE_EQ(sum(ops, "decode ms", ops.rows()), 0.03);
  EXPECT_THAT(column(ops, "op category"),
              ElementsAre("GEMM", "attention_fwd", "communication", "Sorting"));
}

TEST(ServingPhases, ARequestWaitsForItsNextTokenAsLongAsAStepLasts) {
  Made made{small_run()};
  const Table table = made.phases();
  EXPECT_THAT(column(table, "time per output token ms mean"),
              ElementsAre("", "0.1", "0.045", "", "0.06333333333333334"));
  EXPECT_EQ(cell(table, "time per output token ms p99", 4), "0.1");
  EXPECT_EQ(cell(table, "output tokens", 2), "4");
  EXPECT_EQ(cell(table, "KV tokens per request", 2), "77.0");
  EXPECT_EQ(cell(table, "bound", 0), "GPU");
  EXPECT_EQ(cell(table, "bound", 2), "host");  // 55 of 85 us
}

// "MIXED" of SGLang's short annotations gives all tokens in one number.
TEST(ServingPhases, TokensThatAreNotDividedAreOutOfTheOutputRate) {
  Serving serving;
  serving.step("step[DECODE bs=4 toks=4]", 0, 1000);
  serving.graph(10, {{"decode", 20, 900}});
  serving.step("step[MIXED bs=3 toks=102]", 1000, 3000);
  serving.graph(1010, {{"mixed", 1020, 2900}});
  Made made{std::move(serving.t).finish()};
  const Table steps = serving_steps(made.run), phases = made.phases();
  EXPECT_THAT(column(steps, "output tokens"), ElementsAre("4", ""));
  EXPECT_THAT(column(steps, "context tokens"), ElementsAre("0", ""));
  EXPECT_THAT(column(steps, "context requests"), ElementsAre("0", ""));
  EXPECT_THAT(column(phases, "phase"), ElementsAre("mixed", "decode", "outside", "all"));
  EXPECT_THAT(column(phases, "output tokens"), ElementsAre("", "4", "", ""));
  EXPECT_THAT(column(phases, "output tokens/s"), ElementsAre("", "4000.0", "", "4000.0"));
  EXPECT_THAT(column(phases, "tokens/s of wall"), ElementsAre("34000.0", "4000.0", "", "26500.0"));
}

// The GPU has no gap between its kernels, but gets the first one late.
TEST(ServingPhases, AStepWhoseFirstKernelComesLateIsBoundByTheHost) {
  Serving s;
  s.step(annotation({.running = 2, .keys = 153}), 0, 60);
  s.graph(30,
          {{.name = "attn_fwd", .ts = 40, .dur = 30}, {.name = "my_gemm", .ts = 70, .dur = 20}});
  Made made{s.t.finish()};
  const Table table = made.phases();
  EXPECT_EQ(cell(table, "wall ms", 0), "0.09");
  EXPECT_EQ(cell(table, "GPU busy ms", 0), "0.05");
  EXPECT_EQ(cell(table, "GPU idle ms", 0), "0.0");
  EXPECT_EQ(cell(table, "GPU wait ms", 0), "0.04");
  EXPECT_EQ(cell(table, "bound", 0), "host");
  const Table ops = serving_ops_by_phase(made.run, made.ops);
  EXPECT_EQ(cell(ops, "prefill ms", 0), "");  // there is none
  EXPECT_EQ(cell(ops, "decode ms", 0), "0.03");
}

// Attention takes 5 us and a nanosecond for each key, a product always the same.
TEST(ContextGrowth, IsTheSlopeOfTimeOverContext) {
  Serving s;
  for (int i = 0; i < 8; ++i) {
    const double ts = 1000 * i;
    const std::int64_t keys = 1000 + 500 * i;
    s.step(annotation({.running = 4, .keys = keys}), ts, 900);
    s.graph(ts + 10,
            {{.name = "my_gemm", .ts = ts + 20, .dur = 50},
             {.name = "attn_fwd", .ts = ts + 100, .dur = 5 + static_cast<double>(keys) / 1000}});
  }
  Made made{s.t.finish()};
  const Table table = context_growth(made.run, made.ops);
  EXPECT_THAT(column(table, "name"), ElementsAre("attn_fwd", "my_gemm"));
  EXPECT_THAT(column(table, "phase"), ElementsAre("decode", "decode"));
  EXPECT_NEAR(std::stod(cell(table, "ns per KV token", 0)), 1, 1e-9);
  EXPECT_NEAR(std::stod(cell(table, "R²", 0)), 1, 1e-9);
  EXPECT_NEAR(std::stod(cell(table, "fixed µs", 0)), 5, 1e-9);
  EXPECT_NEAR(std::stod(cell(table, "growth µs", 0)), 3.5, 1e-9);
  EXPECT_EQ(cell(table, "µs at longest context", 0), "9.5");
  EXPECT_NEAR(std::stod(cell(table, "percent at longest context", 0)), 100 * 9.5 / 59.5, 1e-9);
  EXPECT_EQ(cell(table, "steps", 0), "8");
  EXPECT_EQ(cell(table, "ns per KV token", 1), "0.0");
  EXPECT_EQ(cell(table, "R²", 1), "");

  // 250 to 1125 keys per request: below 256, 512, 1024 and 2048.
  const Table bins = attention_by_context(made.run, made.ops);
  EXPECT_THAT(column(bins, "context below"), ElementsAre("256", "512", "1024", "2048"));
  EXPECT_THAT(column(bins, "steps"), ElementsAre("1", "2", "4", "1"));
  EXPECT_EQ(cell(bins, "attention ms", 0), "0.006");
  EXPECT_EQ(cell(bins, "ns per KV token", 0), "6.0");
}

TEST(ServingSteps, TheLastOneLastsUntilItsWorkIsDone) {
  Serving s;
  s.step("step[DECODE bs=8]", 0, 10);
  s.graph(1, {{.name = "attn_fwd", .ts = 20, .dur = 30}});
  Made made{s.t.finish()};
  EXPECT_EQ(cell(serving_steps(made.run), "wall ms", 0), "0.05");
}

// A product of 6e6 bytes and 2e9 FLOPs in 8 us, in a step of 40.
TEST(ServingPhases, RatesAreOfTheTimeOfModelledOpsAndUtilisationOfAllTime) {
  Serving s;
  s.step(annotation({.running = 2, .keys = 153}), 0, 40);
  s.t.op("aten::mm", 1, 5, matrices(1000, 1000, 1000));
  s.t.launch("cudaLaunchKernel", 2, 1, {.name = "gemm", .ts = 10, .dur = 8});
  s.graph(7, {{.name = "attn_fwd", .ts = 20, .dur = 2}});
  Gpu gpu;
  gpu.memory_gbps = 1000;
  Made made{s.t.finish()};
  const Table table = made.phases(&gpu);
  EXPECT_EQ(cell(table, "percent modelled", 0), "80.0");
  EXPECT_EQ(cell(table, "TFLOP/s", 0), "250.0");
  EXPECT_EQ(cell(table, "TB/s", 0), "0.75");
  EXPECT_EQ(cell(table, "MBU %", 0), "15.0");  // 6 us of [0, 40)
  EXPECT_EQ(cell(made.phases(), "MBU %", 0), "");
}

TEST(ServingSteps, CapturedCallsTakeNoHostTimeButTheLaunchOfTheirGraphDoes) {
  Serving s;
  s.step("step[DECODE bs=8]", 0, 40);
  s.graph(7, {{.name = "attn_fwd", .ts = 20, .dur = 2}, {.name = "gemm", .ts = 22, .dur = 2}});
  Trace replay = s.t.finish();
  EventId launch;
  std::vector<EventId> kernels;
  for (const EventId event : replay.all_events()) {
    if (replay.category(event) == Category::kCudaRuntime) launch = event;
    if (replay.category(event) == Category::kKernel) kernels.push_back(event);
  }
  TraceBuilder builder{std::move(replay)};
  for (const EventId kernel : kernels) {
    const EventId call = builder.append({.phase = Phase::kComplete,
                                         .category = Category::kCudaRuntime,
                                         .name = builder.intern("cudaLaunchKernel"),
                                         .track = builder.intern(Track{4711, 1}),
                                         .signature = {},
                                         .ts_ns = 7'000,
                                         .dur_ns = 0});
    builder.set_parent(call, launch);
    builder.set_parent(kernel, call);
  }
  Made made{std::move(builder).finish()};
  const Table table = serving_steps(made.run);
  EXPECT_EQ(cell(table, "launch ms", 0), "0.003");
  EXPECT_EQ(cell(table, "launches", 0), "1");
}

TEST(ServingPhases, WhatModelsHardlyKnowHasNoRates) {
  Serving s;
  s.step(annotation({.running = 2, .keys = 153}), 0, 40);
  s.t.op("aten::mm", 1, 5, matrices(1000, 1000, 1000));
  s.t.launch("cudaLaunchKernel", 2, 1, {.name = "gemm", .ts = 10, .dur = 2});
  s.graph(7, {{.name = "attn_fwd", .ts = 12, .dur = 8}});
  Gpu gpu;
  gpu.memory_gbps = 1000;
  Made made{s.t.finish()};
  const Table table = made.phases(&gpu);
  EXPECT_EQ(cell(table, "percent modelled", 0), "20.0");
  for (const char* name : {"TFLOP/s", "TB/s", "MBU %", "percent of compute roof"})
    EXPECT_EQ(cell(table, name, 0), "") << name;
}

TEST(ServingPhases, StepsWithoutRequestsAreNoneInEveryTable) {
  Serving s;
  s.step("execute_context_0(0)_generation_0(0)", 0, 10);
  s.graph(1, {{.name = "attn_fwd", .ts = 2, .dur = 3}});
  s.graph(20, {{.name = "attn_fwd", .ts = 22, .dur = 4}});
  Made made{s.t.finish()};
  EXPECT_EQ(cell(serving_steps(made.run), "phase", 0), "none");
  EXPECT_THAT(column(made.phases(), "phase"), ElementsAre("none", "outside", "all"));
  const Table ops = serving_ops_by_phase(made.run, made.ops);
  EXPECT_EQ(cell(ops, "none ms", 0), "0.003");
  EXPECT_EQ(cell(ops, "outside ms", 0), "0.004");
}

TEST(ServingPhases, ADiffusionStepHasNoTokens) {
  Serving s;
  s.step("execute_diffusion_1_256x256", 0, 10);
  s.graph(1, {{.name = "attn_fwd", .ts = 2, .dur = 3}});
  Made made{s.t.finish()};
  EXPECT_FALSE(made.run.has_tokens());
  const Table table = made.phases();
  EXPECT_EQ(cell(table, "phase", 0), "denoise");
  EXPECT_EQ(cell(serving_ops_by_phase(made.run, made.ops), "denoise ms", 0), "0.003");
  EXPECT_EQ(cell(table, "tokens/s of wall", 0), "");
  EXPECT_EQ(cell(table, "time per output token ms mean", 0), "");
}

TEST(ContextGrowth, IsNotKnownWhereAnnotationsDoNotSayTheContext) {
  Serving s;
  for (int i = 0; i < 4; ++i) {
    s.step("step[DECODE bs=8]", 100 * i, 90);
    s.graph(100 * i + 1, {{.name = "attn_fwd", .ts = 100.0 * i + 10, .dur = 20.0 + i}});
  }
  Made made{s.t.finish()};
  EXPECT_FALSE(made.run.has_contexts());
  EXPECT_EQ(context_growth(made.run, made.ops).rows(), 0u);
  EXPECT_EQ(attention_by_context(made.run, made.ops).rows(), 0u);
  const Table table = made.phases();
  EXPECT_EQ(cell(table, "output tokens", 0), "32");
  EXPECT_EQ(cell(table, "KV tokens per request", 0), "");
}

TEST(ServingRun, HostileAnnotationsNeitherOverflowNorLoseTime) {
  Serving s;
  const std::string huge = "9223372036854775807";
  for (int i = 0; i < 5000; ++i)  // all open at once, one of ten without a length
    s.step("execute_1_context_" + huge + "(sq" + huge + "sk" + huge + "sqsq1sqsk1)_generation_" +
               huge + "(sq" + huge + "sk" + huge + "sqsq1sqsk1)",
           i, i % 10 == 0 ? 0 : 10'000);
  for (int i = 0; i < 500; ++i)
    s.t.launch("cudaLaunchKernel", 25 * i, 1, {.name = "k", .ts = 20.0 * i, .dur = 30});
  Made made{s.t.finish()};
  const Table table = made.phases();
  const std::size_t all = table.rows() - 1;
  EXPECT_EQ(cell(table, "phase", all), "all");
  EXPECT_GT(std::stod(cell(table, "output tokens", all)), 1e15);
  const GpuTimes whole = gpu_times(made.facts, made.facts.gpu_events(false).events);
  EXPECT_NEAR(sum(table, "GPU busy ms", all) * 1e6, static_cast<double>(whole.busy), 1);
  EXPECT_EQ(serving_steps(made.run).rows(), 5000u);
  (void)context_growth(made.run, made.ops);
  (void)attention_by_context(made.run, made.ops);
}

TEST(ServingRun, HasNoStepsWithoutAnnotations) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 0, 1, {.name = "k", .ts = 5, .dur = 3});
  Made made{t.finish()};
  EXPECT_TRUE(made.run.steps().empty());
}

TEST(FitLine, NeedsTwoPlaces) {
  const Point points[] = {{1, 2}, {1, 4}};
  EXPECT_FALSE(fit_line(points));
  EXPECT_FALSE(fit_line({}));
  const Point line[] = {{1, 3}, {2, 5}, {3, 7}};
  const LineFit fit = fit_line(line).value();
  EXPECT_DOUBLE_EQ(fit.slope, 2);
  EXPECT_DOUBLE_EQ(fit.intercept, 1);
  EXPECT_DOUBLE_EQ(fit.r2.value_or(0), 1);
}

}  // namespace
}  // namespace tracelens
