// Any text is SQL or refused with an Error, within its limits; the trace answers afterwards as before.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tracelens/query.hpp>
#include <tracelens/read_trace.hpp>

#include "io/check.hpp"

namespace {

constexpr std::string_view kTrace = R"({"traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 40,
 "args": {"External id": 7, "Input Dims": [[8, 16], [16, 4]]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 2, "dur": 3,
 "args": {"correlation": 11}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 20, "dur": 5,
 "args": {"correlation": 11, "device": 0, "stream": 7}},
{"ph": "s", "id": 11, "pid": 1, "tid": 1, "ts": 2, "cat": "ac2g", "name": "ac2g"},
{"ph": "f", "id": 11, "pid": 0, "tid": 7, "ts": 20, "cat": "ac2g", "name": "ac2g", "bp": "e"}]})";

std::int64_t slices_in(tracelens::QuerySession& session) {
  std::int64_t count = -1;
  session.run("SELECT count(*) FROM main.slice",
              {.on_row = [&](std::span<const tracelens::QueryCell> row) {
                count = std::get<std::int64_t>(row[0]);
                return true;
              }});
  return count;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto trace =
      std::make_shared<const tracelens::Trace>(tracelens::read_trace_bytes("small.json", kTrace));
  tracelens::QuerySession session{{.seconds = 0.2, .memory_bytes = 64 << 20}};
  session.add(trace);
  try {
    session.run({reinterpret_cast<const char*>(data), size}, {});
  } catch (const tracelens::Error&) {  // the usual answer
  }
  session.set_limits({});
  TL_CHECK(slices_in(session) == 3);
  return 0;
}
