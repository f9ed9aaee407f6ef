// load_trace: reads a trace and nothing more, for measuring what loading takes.
//   load_trace big.xplane.pb          # {"events": 8000000, "bytes": 1000000000, "seconds": 3.1}
#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <tracelens/read_trace.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    const auto start = std::chrono::steady_clock::now();
    const tracelens::Trace trace = tracelens::read_trace(argv[1]);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    fmt::print("{{\"events\": {}, \"bytes\": {}, \"seconds\": {}}}\n", trace.size(),
               trace.source().text_bytes, took.count());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "load_trace: {}\n", error.what());
    return 2;
  }
}
