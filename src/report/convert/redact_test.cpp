#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tracelens/redact.hpp>
#include <tracelens/trace_builder.hpp>
#include <vector>

namespace tracelens {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> names_of(const Trace& trace) {
  std::vector<std::string> names;
  for (const EventId event : trace.all_events()) names.emplace_back(trace.name(event));
  return names;
}

Trace trace_of(const std::vector<std::pair<Category, std::string>>& events) {
  TraceBuilder builder;
  const TrackId track = builder.intern(Track{1, 2});
  for (std::size_t i = 0; i < events.size(); ++i)
    builder.append({.phase = Phase::kComplete,
                    .category = events[i].first,
                    .name = builder.intern(events[i].second),
                    .track = track,
                    .ts_ns = static_cast<std::int64_t>(i) * 10,
                    .dur_ns = 5});
  return std::move(builder).finish();
}

TEST(Redacted, ModulesFunctionsAndFilesGetNumbers) {
  using enum Category;
  const Trace trace = trace_of({{kPythonFunction, "nn.Module: SecretNet_0"},
                                {kPythonFunction, "nn.Module: SecretBlock_3"},
                                {kPythonFunction, "nn.Module: SecretNet_1"},
                                {kPythonFunction, "/home/ann/train.py(12): secret_step"},
                                {kPythonFunction, "/home/ann/train.py(40): other"}});
  EXPECT_THAT(names_of(redacted(trace)),
              ElementsAre("nn.Module: Module 1_0", "nn.Module: Module 2_3", "nn.Module: Module 1_1",
                          "file 1.py(12): function 1", "file 1.py(40): function 2"));
}

TEST(Redacted, WhatBelongsToTheFrameworkStays) {
  using enum Category;
  const std::vector<std::string> kept = {"aten::mm",
                                         "autograd::engine::evaluate_function: AddmmBackward0",
                                         "ProfilerStep#3",
                                         "torch/nn/modules/linear.py(9): forward",
                                         "void secret_kernel<float>(int)",
                                         "step[DECODE bs=32 toks=32]"};
  const Trace trace = trace_of({{kCpuOp, kept[0]},
                                {kCpuOp, kept[1]},
                                {kUserAnnotation, kept[2]},
                                {kPythonFunction, "/home/ann/lib/" + kept[3]},
                                {kKernel, kept[4]},
                                {kUserAnnotation, kept[5]}});
  EXPECT_EQ(names_of(redacted(trace)), kept);
}

TEST(Redacted, OwnOpsAndRangesAreRenamedAlikeEverywhere) {
  using enum Category;
  const auto names = names_of(redacted(trace_of({{kCpuOp, "secret::op"},
                                                 {kUserAnnotation, "SECRET phase"},
                                                 {kCpuOp, "secret::op"},
                                                 {kCpuOp, "SecretFunctionBackward"}})));
  EXPECT_EQ(names[0], names[2]);
  EXPECT_NE(names[0], names[3]);
  EXPECT_EQ(names[1], "range 1");
  for (const std::string& name : names) EXPECT_THAT(name, Not(::testing::HasSubstr("ecret")));
}

TEST(Redacted, RangesOfTheFrameworkLoseOwnNamesAlone) {
  using enum Category;
  EXPECT_THAT(names_of(redacted(trace_of({{kUserAnnotation, "Optimizer.step#AdamW.step"},
                                          {kUserAnnotation, "Optimizer.step#SecretSgd.step"},
                                          {kUserAnnotation, "FSDP::all_gather (secret.layers.0)"},
                                          {kUserAnnotation, "FSDP::post_backward"}}))),
              ElementsAre("Optimizer.step#AdamW.step", "Optimizer.step#part 1",
                          "FSDP::all_gather (part 2)", "FSDP::post_backward"));
}

TEST(Redacted, TimesTracksAndArgumentsStay) {
  TraceBuilder builder;
  const TrackId host = builder.intern(Track{1, 2}), gpu = builder.intern(Track{0, 7});
  const StringId name = builder.intern("secret::op");
  Signature one_dim;
  one_dim.name = name;
  one_dim.dims = Value::tuple({Value{8}});
  const EventId op = builder.append({.phase = Phase::kComplete,
                                     .category = Category::kCpuOp,
                                     .name = name,
                                     .track = host,
                                     .signature = builder.intern(one_dim),
                                     .ts_ns = 100,
                                     .dur_ns = 50});
  const EventId call = builder.append({.phase = Phase::kComplete,
                                       .category = Category::kCudaRuntime,
                                       .name = builder.intern("cudaLaunchKernel"),
                                       .track = host,
                                       .ts_ns = 110,
                                       .dur_ns = 5});
  const EventId kernel = builder.append({.phase = Phase::kComplete,
                                         .category = Category::kKernel,
                                         .name = builder.intern("k"),
                                         .track = gpu,
                                         .ts_ns = 130,
                                         .dur_ns = 9});
  builder.set_details(kernel,
                      builder.intern(R"({"grid": [1, 2, 3], "kernel_file": "/home/ann/k.py"})"));
  builder.set_call_stack(op, builder.intern("train.py(1): secret"));
  builder.add_launch(call, kernel);
  builder.add_label({Value{1}, Value{0}}, "process_name", Value{"secret_train"});
  builder.add_label({Value{0}, Value{0}}, "process_labels", Value{"GPU 0"});
  builder.add_metadata("host_name", Value{"secret-node"});
  builder.add_metadata("deviceProperties", Value::list({}));
  builder.source().name = "/home/ann/secret.json";
  const Trace trace = std::move(builder).finish();

  const Trace shown = redacted(trace);
  ASSERT_EQ(shown.size(), trace.size());
  for (const EventId event : trace.all_events()) {
    EXPECT_EQ(shown.ts_ns()[event.row], trace.ts_ns()[event.row]);
    EXPECT_EQ(shown.dur_ns()[event.row], trace.dur_ns()[event.row]);
    EXPECT_EQ(shown.correlations()[event.row], trace.correlations()[event.row]);
    EXPECT_EQ(shown.phase(event), trace.phase(event));
  }
  const Signature& signature = shown.signature(shown.signatures()[op.row]);
  EXPECT_EQ(signature.dims, Value::tuple({Value{8}}));
  EXPECT_EQ(shown.text(signature.name), shown.name(op));
  EXPECT_NE(shown.details(kernel).find("grid"), nullptr);
  EXPECT_EQ(shown.details(kernel).find("kernel_file"), nullptr);
  EXPECT_TRUE(shown.call_stacks().empty());
  EXPECT_EQ(shown.label({Value{1}, Value{0}}, "process_name"), Value{"process 1"});
  EXPECT_EQ(shown.label({Value{0}, Value{0}}, "process_labels"), Value{"GPU 0"});
  EXPECT_EQ(shown.metadata("host_name"), nullptr);
  EXPECT_NE(shown.metadata("deviceProperties"), nullptr);
  EXPECT_EQ(shown.source().name, "trace");
}

}  // namespace
}  // namespace tracelens
