#include "facts/trace_kind.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tracelens/read_trace.hpp>

namespace tracelens {
namespace {

TraceKind kind_of(const std::string& events) {
  return trace_kind(read_trace_bytes("t", R"({"traceEvents":[)" + events + "]}"));
}

constexpr auto kHip =
    R"({"ph":"X","cat":"hip_api","name":"hipFree","ts":0,"dur":1,"pid":1,"tid":1})";

TEST(TraceKind, RocmTimelinesAreToldFromFrameworkTraces) {
  EXPECT_EQ(kind_of(kHip), TraceKind::kRocmTimeline);
  EXPECT_EQ(kind_of(R"({"ph":"X","cat":"gpu_activity","name":"k","ts":1,"dur":1,
      "args":{"agent":"g"}})"),
            TraceKind::kRocmTimeline);
  EXPECT_EQ(kind_of(R"({"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1})"), TraceKind::kPyTorch);
  EXPECT_EQ(
      kind_of(std::string{R"({"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":1},)"} + kHip),
      TraceKind::kPyTorch);
}

TEST(TraceKind, ATraceMadeByHandIsReadAsPyTorch) {
  EXPECT_EQ(trace_kind(Trace{}), TraceKind::kPyTorch);
}

}  // namespace
}  // namespace tracelens
