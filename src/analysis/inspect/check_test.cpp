#include <tracelens/check.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <tracelens/read_trace.hpp>

#include "tree/test_trace.hpp"

namespace tracelens {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

// The worst level found under a heading; "" when it is not mentioned.
std::string level(const TraceCheck& check, std::string_view what) {
  std::string worst;
  for (std::size_t row = 0; row < check.findings.rows(); ++row) {
    if (check.findings.column("what").texts()[row] != what) continue;
    const std::string& found = check.findings.column("level").texts()[row];
    if (worst.empty() || found == "fail" || (found == "warn" && worst == "ok")) worst = found;
  }
  return worst;
}

TraceCheck check(TestTrace& t) {
  const Trace trace = t.finish();
  return check_trace(trace, build_tree(trace));
}

TEST(TraceCheck, AFullTraceIsOk) {
  TestTrace t;
  t.event(Category::kUserAnnotation, "ProfilerStep#1", 0, 100);
  t.python("nn.Module: Net_0", 0, 90);
  t.op("aten::mm", 5, 20,
       Signature{.name = {},
                 .dims = Value::tuple({Value::tuple({8, 4})}),
                 .types = {},
                 .strides = {},
                 .concrete = {}});
  t.launch("cudaLaunchKernel", 10, 1, {.ts = 20, .dur = 5});
  const TraceCheck result = check(t);
  EXPECT_EQ(result.verdict, Verdict::kOk);
  for (const char* what : {"events", "GPU events", "launches", "ops", "shapes", "modules", "steps"})
    EXPECT_EQ(level(result, what), "ok") << what;
  EXPECT_THAT(result.findings.column("detail").texts(),
              IsSupersetOf({"1 step", "1 nn.Module call", "7 events"}));
}

TEST(TraceCheck, WhatIsMissingIsNamed) {
  TestTrace t;
  t.op("aten::mm", 0, 20);
  t.launch("cudaLaunchKernel", 10, 1, {.ts = 20, .dur = 5});
  t.launch("cudaGraphLaunch", 30, 1, {.ts = 40, .dur = 5});
  t.gpu({.ts = 50, .dur = 1}, 5);
  t.runtime("hipMemsetAsync", 60, 1, 6);
  t.gpu({.ts = 70, .dur = 1, .category = Category::kGpuMemset}, 6);
  const TraceCheck result = check(t);
  EXPECT_EQ(result.verdict, Verdict::kWarn);
  for (const char* what :
       {"shapes", "Python stacks", "modules", "steps", "launches", "fills", "graphs"})
    EXPECT_EQ(level(result, what), "warn") << what;
}

TEST(TraceCheck, WithoutGpuEventsOrWithoutAnyEventItFails) {
  TestTrace host_only;
  host_only.op("aten::mm", 0, 20);
  const TraceCheck no_gpu = check(host_only);
  EXPECT_EQ(no_gpu.verdict, Verdict::kFail);
  EXPECT_EQ(level(no_gpu, "GPU events"), "fail");
  TestTrace empty;
  EXPECT_EQ(level(check(empty), "events"), "fail");
}

TEST(TraceCheck, OpsLeftOutOfTheTreeAreCounted) {
  TestTrace t;
  t.op("A", 0, 10);
  t.op("B", 5, 10);
  EXPECT_EQ(level(check(t), "nesting"), "warn");
}

// All advice of a check in one text.
std::string advice(const TraceCheck& check) {
  std::string all;
  for (const std::string& fix : check.findings.column("how to fix").texts()) all += fix + "\n";
  return all;
}

TEST(TraceCheck, AdviceIsForTheProfilerThatWroteTheTrace) {
  const Trace rocprof = read_trace_bytes(
      "a.json",
      std::string_view{
          R"({"rocprofiler-sdk-tool": [{"metadata": {}, "agents": [], "strings": {}, "kernel_symbols": [],
          "buffer_records": {"kernel_dispatch": [{"start_timestamp": 5, "end_timestamp": 9}]}}]})"});
  const std::string for_rocprof = advice(check_trace(rocprof, build_tree(rocprof)));
  EXPECT_EQ(for_rocprof.find("PyTorch"), std::string::npos) << for_rocprof;
  EXPECT_NE(for_rocprof.find("rocprofv3 --hip-trace"), std::string::npos) << for_rocprof;

  // A Perfetto trace with one thread and no GPU: packet { track_descriptor { thread { .. } } }.
  const std::string_view bytes{"\x0a\x0b\xe2\x03\x08\x08\x05\x22\x04\x08\x01\x10\x02", 13};
  const Trace generic = read_trace_bytes("a.pftrace", bytes);
  ASSERT_EQ(generic.source().format, "perfetto");
  const std::string for_generic = advice(check_trace(generic, build_tree(generic)));
  EXPECT_EQ(for_generic.find("ProfilerActivity"), std::string::npos) << for_generic;
  EXPECT_EQ(for_generic.find("with_stack"), std::string::npos) << for_generic;
}

TEST(TraceCheck, GpusAreThoseThatDidSomething) {
  TestTrace one;
  one.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 5, .device = 2});
  one.builder().set_device(one.runtime("cudaSetDevice", 2, 1), 0);
  EXPECT_EQ(level(check(one), "GPUs"), "");
  TestTrace two;
  two.launch("cudaLaunchKernel", 0, 1, {.ts = 5, .dur = 5, .device = 2});
  two.launch("cudaLaunchKernel", 2, 1, {.ts = 5, .dur = 5, .device = 0});
  EXPECT_EQ(level(check(two), "GPUs"), "ok");
}

TEST(TraceCheck, AdviceToCountUnlinkedWorkIsForTablesThatLeaveItOut) {
  TestTrace t;
  t.launch("cudaLaunchKernel", 10, 1, {.ts = 20, .dur = 5});
  t.gpu({.ts = 50, .dur = 1}, 5);
  Trace trace = t.finish();
  const auto advice_for = [&](Recorder recorder) {
    TraceBuilder builder{std::move(trace)};
    builder.source().recorder = recorder;
    trace = std::move(builder).finish();
    return advice(check_trace(trace, build_tree(trace)));
  };
  EXPECT_THAT(advice_for(Recorder::kNsight), HasSubstr("the tables count them all the same"));
  EXPECT_THAT(advice_for(Recorder::kNsight), Not(HasSubstr("--include-unlinked")));
  EXPECT_THAT(advice_for(Recorder::kPyTorch), HasSubstr("--include-unlinked"));
}

TEST(TraceCheck, WhatASoundFileLacksIsNoDamage) {
  TestTrace t;
  t.op("aten::mm", 0, 20);
  t.builder().warnings().add("plane /device:TPU:0: only GPUs are read", 0);
  TraceCheck result = check(t);
  EXPECT_EQ(level(result, "notice"), "warn");
  EXPECT_EQ(level(result, "damage"), "");
  EXPECT_EQ(level(result, "file"), "ok");
  TestTrace damaged;
  damaged.op("aten::mm", 0, 20);
  damaged.builder().warnings().add("damaged event", 7);
  result = check(damaged);
  EXPECT_EQ(level(result, "damage"), "warn");
  EXPECT_EQ(level(result, "file"), "");
}

TEST(TraceCheck, ACutFileIsNoticed) {
  constexpr std::string_view kCut =
      R"({"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2},{"ph":)";
  const Trace trace = read_trace_bytes("cut.json", kCut);
  const TraceCheck result = check_trace(trace, build_tree(trace));
  EXPECT_EQ(level(result, "file"), "warn");
}

}  // namespace
}  // namespace tracelens
