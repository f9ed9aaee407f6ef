// test_graphs.hpp: small captures and replays as trace files, one op per kernel.
//   write_text_file(folder + "/b32.json", capture_text({.ops = {{"aten::mm", "gemm"}}}));
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace tracelens {

struct TestOp {
  std::string op, kernel;
  int rows = 32;  // the first dimension of its argument
};

struct TestCapture {
  std::vector<TestOp> ops;
  bool names_kernels = true;  // as on ROCm
  bool has_end = true;
  std::string annotation = {};  // "capture_32_FULL"
  int graphs = 1;
  std::string frame = "nn.Module: Model_0";  // around all ops of a graph
};

inline std::string event_text(std::string_view category, std::string_view name, int ts, int dur,
                              std::string_view args) {
  return fmt::format(
      R"({{"ph":"X","cat":"{}","name":"{}","pid":1,"tid":1,"ts":{},"dur":{},"args":{{{}}}}},)",
      category, name, ts, dur, args);
}

// A frame around everything; per graph begin, an op with its launch each, end.
inline std::string capture_text(const TestCapture& capture) {
  std::string text = R"({"traceEvents":[)";
  const int ops = static_cast<int>(capture.ops.size());
  text += event_text("python_function", "capture.py(1): run", 0, 1'000'000, "");
  if (!capture.annotation.empty())
    text += event_text("user_annotation", capture.annotation, 5, 900'000, "");
  int ts = 10;
  for (int graph = 0; graph < capture.graphs; ++graph) {
    text += event_text("cuda_runtime", "hipStreamBeginCapture", ts, 1, "");
    text += event_text("python_function", capture.frame, ts + 2, 10 * ops + 5, "");
    for (int i = 0; i < ops; ++i) {
      const TestOp& op = capture.ops[static_cast<std::size_t>(i)];
      const int start = ts + 5 + 10 * i;
      text += event_text("cpu_op", op.op, start, 8,
                         fmt::format(R"("Input Dims":[[{},64]],"Input type":["float"])", op.rows));
      text += event_text("cpu_op", "aten::empty", start + 1, 1, "");  // runs nothing
      text += event_text(
          "cuda_runtime", "hipLaunchKernel", start + 4, 2,
          fmt::format(R"("correlation":{}{})", 90'000 + start,
                      capture.names_kernels ? fmt::format(R"(,"kernel":"{}")", op.kernel) : ""));
    }
    ts += 20 + 10 * ops;
    if (capture.has_end) text += event_text("cuda_runtime", "hipStreamEndCapture", ts, 1, "");
    ts += 10;
  }
  text.back() = ']';
  return text + '}';
}

struct TestLaunch {
  std::vector<std::string> kernels;
  std::string step = {};
  int stream = 7;
};

// A launch per 1000 us; kernels of 10 us each.
inline std::string replay_text(const std::vector<TestLaunch>& launches) {
  std::string text = R"({"traceEvents":[)";
  for (int i = 0; i < static_cast<int>(launches.size()); ++i) {
    const TestLaunch& launch = launches[static_cast<std::size_t>(i)];
    const int ts = 1000 * i;
    if (!launch.step.empty()) text += event_text("user_annotation", launch.step, ts, 900, "");
    text += event_text("cuda_runtime", "hipGraphLaunch", ts + 10, 50,
                       fmt::format(R"("correlation":{})", i + 1));
    for (int k = 0; k < static_cast<int>(launch.kernels.size()); ++k)
      text +=
          fmt::format(R"({{"ph":"X","cat":"kernel","name":"{}","pid":0,"tid":{},"ts":{},"dur":10,)"
                      R"("args":{{"correlation":{},"stream":{},"device":0}}}},)",
                      launch.kernels[static_cast<std::size_t>(k)], launch.stream, ts + 100 + 10 * k,
                      i + 1, launch.stream);
  }
  text.back() = ']';
  return text + '}';
}

}  // namespace tracelens
