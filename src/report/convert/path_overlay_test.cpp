#include <gtest/gtest.h>
#include <simdjson.h>

#include <fstream>
#include <tracelens/critical_path.hpp>
#include <tracelens/error.hpp>
#include <tracelens/read_trace.hpp>

#include "io/temporary_folder.hpp"

namespace tracelens {
namespace {

constexpr std::string_view kTrace = R"({"schemaVersion": 1, "traceEvents": [
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":20},
17,
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":5,"dur":5,"args":{"correlation":9}},
{"ph":"X","cat":"cpu_op","name":"aten::idle","pid":1,"tid":2,"ts":5,"dur":5,"args":{}},
{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":15.5,"dur":100,"args":{"correlation":9,"device":0,"stream":7}}
]})";

struct Written {
  explicit Written(const OverlayOptions& options = {}) {
    const std::string input = folder.path("trace.json"), output = folder.path("overlay.json");
    std::ofstream{input} << kTrace;
    const Trace trace = read_trace(input);
    counts = write_path_overlay(trace, output, options);
    std::ifstream file{output};
    text.assign(std::istreambuf_iterator<char>{file}, {});
    simdjson::dom::parser parser;
    is_json = parser.parse(text).error() == simdjson::SUCCESS;
  }
  [[nodiscard]] bool has(std::string_view part) const {
    return text.find(part) != std::string::npos;
  }
  io::TemporaryFolder folder;
  OverlayCounts counts;
  std::string text;
  bool is_json = false;
};

TEST(PathOverlay, MarksThePathAndDrawsArrows) {
  const Written made;
  EXPECT_TRUE(made.is_json) << made.text;
  EXPECT_EQ(made.counts.critical, 2u);  // aten::mm until the launch, the kernel
  EXPECT_EQ(made.counts.arrows, 1u);
  EXPECT_TRUE(made.has(R"("dur":20, "args": {"critical": 1}})")) << made.text;
  EXPECT_TRUE(made.has(R"("args":{"critical": 1, "correlation":9,"device":0)"));
  EXPECT_TRUE(made.has(R"("ph": "s", "cat": "critical_path")"));
  EXPECT_TRUE(made.has(
      R"("tid": 7, "ts": 15.500, "args": {"weight": 10.500, "bound_by": "launch_latency")"));
  EXPECT_TRUE(made.has("\"schemaVersion\": 1"));
}

TEST(PathOverlay, OthersCanBeLeftOutAndCountersAdded) {
  const Written made{{.only_critical = true, .counters = true}};
  EXPECT_TRUE(made.is_json) << made.text;
  EXPECT_FALSE(made.has("aten::idle"));
  EXPECT_TRUE(made.has("gemm"));
  EXPECT_TRUE(made.has("Queue Length"));
}

}  // namespace
}  // namespace tracelens
